# Handshakes with other implementations, a CTest test for each peer.
if(COMMAND tlc_e2e_test)
    foreach(peer curl openssl go nginx)
        tlc_e2e_test(interop-${peer})
    endforeach()
    # The first run may fetch Go and build its library.
    set_tests_properties(e2e/interop-go PROPERTIES TIMEOUT 1200)
endif()
if(COMMAND tlc_e2e_test)
    tlc_e2e_test(servers)
    tlc_e2e_test(pre-authentication)
    set_tests_properties(e2e/servers PROPERTIES TIMEOUT 1200)
endif()
