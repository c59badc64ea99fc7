# Cheap key shares cost the server what honest ones do. Valgrind cannot run what sanitizers built.
if(NOT TLC_SANITIZE)
    add_test(NAME e2e/fairness COMMAND ${PROJECT_SOURCE_DIR}/tests/e2e/fairness.sh)
    set_tests_properties(e2e/fairness PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT
        "TLSCOST=${CMAKE_BINARY_DIR}/tlscost;TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks")
endif()

find_program(BATS bats)
if(BATS)
    add_test(NAME e2e/fairness-bench COMMAND ${BATS} ${PROJECT_SOURCE_DIR}/tests/e2e/fairness-bench.bats)
    set_tests_properties(e2e/fairness-bench PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE ENVIRONMENT
        "BENCH=${CMAKE_BINARY_DIR}/bench/generator;TLSCOST=${CMAKE_BINARY_DIR}/tlscost;TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks")
endif()
