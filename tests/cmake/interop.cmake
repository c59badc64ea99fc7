# Handshakes with other implementations, a CTest test for each peer.
if(BATS)
    foreach(peer openssl)
        tlc_e2e_test(interop-${peer})
    endforeach()
endif()
