tlc_unit_test(attribute attribute)
tlc_unit_test(budget report attribute)

# The fuzz target over a fixed corpus, and under libFuzzer with sanitizers where clang has them.
set(fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
add_executable(replay_attribute ${fuzz}/fuzz_attribute.c ${fuzz}/replay.c)
set_target_properties(replay_attribute PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(replay_attribute PRIVATE tlc_attribute)
add_test(NAME fuzz/attribute-corpus COMMAND replay_attribute ${fuzz}/attribute-corpus)
