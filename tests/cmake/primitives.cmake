tlc_unit_test(x25519 primitives libcrypto)
tlc_unit_test(x25519_field primitives)

# The lane code of AVX-512 on lanes in plain C, for machines and tools without the instructions.
set(primitives ${PROJECT_SOURCE_DIR}/src/primitives)
add_library(x25519_portable_lanes OBJECT ${primitives}/ifma8.c ${primitives}/ifma.c
    ${primitives}/ladder4.c ${primitives}/split.c)
target_include_directories(x25519_portable_lanes PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(x25519_portable_lanes PRIVATE TLC_X25519_PORTABLE)
tlc_unit_test(x25519_lanes primitives)
target_link_libraries(test_x25519_lanes PRIVATE x25519_portable_lanes)

# No branch and no address may depend on a scalar; and valgrind has to see one that does.
find_program(TLC_VALGRIND NAMES valgrind)
find_path(TLC_VALGRIND_HEADERS valgrind/memcheck.h)
if(TLC_VALGRIND AND TLC_VALGRIND_HEADERS AND NOT TLC_SANITIZE)
    add_executable(test_x25519_secrets ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_x25519_secrets.c)
    set_target_properties(test_x25519_secrets PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(test_x25519_secrets PRIVATE tlc_primitives x25519_portable_lanes)
    set(watched ${TLC_VALGRIND} --quiet --error-exitcode=9 $<TARGET_FILE:test_x25519_secrets>)
    add_test(NAME unit/x25519_secrets COMMAND ${watched})
    add_test(NAME unit/x25519_secrets_leak COMMAND ${watched} --leak)
    set_tests_properties(unit/x25519_secrets_leak PROPERTIES
        PASS_REGULAR_EXPRESSION "Use of uninitialised value")
endif()
