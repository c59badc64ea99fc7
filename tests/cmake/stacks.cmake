tlc_unit_test(stacks stacks)
add_dependencies(test_stacks stack_openssl)
