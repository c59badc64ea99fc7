# End-to-end tests drive the built program; bats gives one CTest test a file.
find_program(BATS bats)
if(BATS)
    function(tlc_e2e_test name)
        add_test(NAME e2e/${name} COMMAND ${BATS} ${PROJECT_SOURCE_DIR}/tests/e2e/${name}.bats)
        set_tests_properties(e2e/${name} PROPERTIES TIMEOUT 600 RUN_SERIAL TRUE ENVIRONMENT
            "TLSCOST=${CMAKE_BINARY_DIR}/tlscost;TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks;TLSCOST_PLANS=${PROJECT_SOURCE_DIR}/plans")
    endfunction()
    tlc_e2e_test(run)
else()
    message(WARNING "bats: not found; the end-to-end tests are left out (apt-get install bats)")
endif()
