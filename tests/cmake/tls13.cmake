# The lean client against libssl in memory; only the tests link libssl.
foreach(name tls13_handshake)
    tlc_unit_test(${name} libssl tls13)
    target_sources(test_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_tls13_peer.c)
endforeach()
