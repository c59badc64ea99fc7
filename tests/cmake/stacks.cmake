tlc_unit_test(stacks stacks)
add_dependencies(test_stacks stack_openssl)
add_dependencies(unit_tests stack_openssl)
set_tests_properties(unit/stacks PROPERTIES ENVIRONMENT "TLSCOST_STACKS=${CMAKE_BINARY_DIR}/stacks")

# Files that only plug-ins are made of.
tlc_unit_test(watch base)
target_sources(test_watch PRIVATE ${PROJECT_SOURCE_DIR}/src/stacks/watch.c
    ${PROJECT_SOURCE_DIR}/src/stacks/transport.c)

tlc_unit_test(plain_operations stacks)
target_sources(test_plain_operations PRIVATE ${PROJECT_SOURCE_DIR}/src/stacks/plain_operations.c
    ${PROJECT_SOURCE_DIR}/src/stacks/plain_certificates.c)

# Plug-ins that misbehave on purpose.
foreach(fault abi empty asked crash)
    string(TOUPPER TLC_BROKEN_${fault} definition)
    add_library(broken-${fault} MODULE ${PROJECT_SOURCE_DIR}/tests/unit/broken_stack.c)
    target_include_directories(broken-${fault} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(broken-${fault} PRIVATE ${definition})
    set_target_properties(broken-${fault} PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/broken)
    add_dependencies(test_stacks broken-${fault})
endforeach()
target_compile_definitions(test_stacks PRIVATE TLC_BROKEN_STACKS="${CMAKE_BINARY_DIR}/tests/broken")

add_test(NAME stacks/one-visible-symbol
    COMMAND ${PROJECT_SOURCE_DIR}/tests/e2e/plugin_symbols.sh ${CMAKE_BINARY_DIR}/stacks)
if(COMMAND tlc_e2e_test)
    tlc_e2e_test(stacks)
    tlc_e2e_test(recipes)
    tlc_e2e_test(stacks-other)
    tlc_e2e_test(stacks-source)
    set_tests_properties(e2e/stacks-source PROPERTIES TIMEOUT 1800)
endif()
