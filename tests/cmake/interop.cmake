# Handshakes with other implementations, a CTest test for each peer.
if(BATS)
    foreach(peer curl openssl go nginx)
        tlc_e2e_test(interop-${peer})
    endforeach()
endif()
