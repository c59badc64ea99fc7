tlc_unit_test(generator_parts generator)
tlc_unit_test(generator_connection generator)
tlc_unit_test(generator_target generator)
tlc_unit_test(generator_engine generator)
add_dependencies(test_generator_engine stack_openssl)
set_tests_properties(unit/generator_engine PROPERTIES ENVIRONMENT
    "TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks")
find_program(BATS bats)
if(BATS)
    add_test(NAME e2e/load COMMAND ${BATS} ${PROJECT_SOURCE_DIR}/tests/e2e/load.bats)
    set_tests_properties(e2e/load PROPERTIES TIMEOUT 900 RUN_SERIAL TRUE ENVIRONMENT
        "TLSCOST=${CMAKE_BINARY_DIR}/tlscost;TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks")
endif()
