tlc_unit_test(tls13_vectors tls13)

# The lean client against libssl in memory; only the tests link libssl.
foreach(name tls13_handshake tls13_faults tls13_resumption)
    tlc_unit_test(${name} libssl tls13)
    target_sources(test_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_tls13_peer.c)
endforeach()
target_sources(test_tls13_faults PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/forge.c)
