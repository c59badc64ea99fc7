tlc_unit_test(server_parts server)
foreach(part server server_control)
    tlc_unit_test(${part} server)
    target_sources(test_${part} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/fake_stack.c
        ${PROJECT_SOURCE_DIR}/tests/unit/server_rig.c)
endforeach()
if(COMMAND tlc_e2e_test)
    tlc_e2e_test(serve)
endif()
