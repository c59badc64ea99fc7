tlc_unit_test(provider primitives libcrypto)
target_compile_definitions(test_provider PRIVATE TLC_PROVIDERS="${CMAKE_BINARY_DIR}/providers")
add_dependencies(test_provider tlscost-x25519)

# A provider that serves nothing, for the check that refuses it.
add_library(idle-provider MODULE ${CMAKE_CURRENT_SOURCE_DIR}/unit/idle_provider.c)
target_include_directories(idle-provider SYSTEM PRIVATE
    $<TARGET_PROPERTY:tlc_libcrypto,INTERFACE_INCLUDE_DIRECTORIES>
    $<TARGET_PROPERTY:tlc_libcrypto,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
set_target_properties(idle-provider PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/providers)
add_dependencies(unit_tests idle-provider tlscost-x25519 tlscost-trace)
if(COMMAND tlc_e2e_test)
    tlc_e2e_test(provider)
    tlc_e2e_test(trace)
endif()
