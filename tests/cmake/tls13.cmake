tlc_unit_test(tls13_vectors tls13)
tlc_unit_test(tls13_shares tls13)

# The lean client against libssl in memory; only the tests link libssl.
foreach(name tls13_handshake tls13_faults tls13_resumption tls13_allocations)
    tlc_unit_test(${name} libssl tls13)
    target_sources(test_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_tls13_peer.c)
endforeach()
target_link_options(test_tls13_allocations PRIVATE
    -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
target_sources(test_tls13_faults PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/forge.c)

tlc_unit_test(tls13_messages tls13)
target_sources(test_tls13_messages PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/forge.c)

# The fuzz target over a fixed corpus, built like everything else.
set(fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
add_executable(replay_tls13 ${fuzz}/fuzz_tls13.c ${fuzz}/forge.c ${fuzz}/replay.c)
set_target_properties(replay_tls13 PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(replay_tls13 PRIVATE tlc_tls13)
add_test(NAME fuzz/tls13-corpus COMMAND replay_tls13 ${fuzz}/corpus)

# And under libFuzzer with sanitizers where clang has them, whatever compiler builds the rest.
find_program(TLC_CLANG NAMES clang)
set(fuzz_flags -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
if(TLC_CLANG AND NOT DEFINED TLC_HAS_LIBFUZZER)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/fuzz/probe.c
        "#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n)\n{\n    return n > 0 && d[0] == 255 ? 0 : 0;\n}\n")
    execute_process(COMMAND ${TLC_CLANG} ${fuzz_flags} probe.c -o probe
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz RESULT_VARIABLE probed OUTPUT_QUIET ERROR_QUIET)
    if(probed EQUAL 0)
        set(TLC_HAS_LIBFUZZER ON CACHE BOOL "clang links libFuzzer")
    else()
        set(TLC_HAS_LIBFUZZER OFF CACHE BOOL "clang links libFuzzer")
    endif()
endif()
if(TLC_CLANG AND TLC_HAS_LIBFUZZER)
    set(fuzz_libraries ${tlc_libcrypto_files} $<TARGET_FILE:tlc_isoc23> -ldl -lpthread)
    set(fuzz_includes ${tlc_libcrypto_includes})
    file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tls13/*.c)
    file(GLOB fuzz_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tls13/*.h ${fuzz}/*.h)
    list(APPEND fuzz_sources ${PROJECT_SOURCE_DIR}/src/base/error.c ${PROJECT_SOURCE_DIR}/src/base/names.c
        ${fuzz}/fuzz_tls13.c ${fuzz}/forge.c)
    list(TRANSFORM fuzz_includes PREPEND -isystem OUTPUT_VARIABLE fuzz_include_flags)
    set(fuzz_program ${CMAKE_CURRENT_BINARY_DIR}/fuzz/fuzz_tls13)
    add_custom_command(OUTPUT ${fuzz_program}
        COMMAND ${TLC_CLANG} -std=gnu17 -g -O1 ${fuzz_flags} -D_GNU_SOURCE -DOPENSSL_SUPPRESS_DEPRECATED
            -I${PROJECT_SOURCE_DIR}/src ${fuzz_include_flags} ${fuzz_sources} ${fuzz_libraries} -o ${fuzz_program}
        DEPENDS ${fuzz_sources} ${fuzz_headers} VERBATIM COMMENT "Building the fuzz target of tls13")
    add_custom_target(build_fuzz_tls13 ALL DEPENDS ${fuzz_program})
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz/found)
    add_test(NAME fuzz/tls13 COMMAND ${fuzz_program} -runs=20000 -seed=1 -max_len=4096 -print_final_stats=1
        -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/fuzz/ ${CMAKE_CURRENT_BINARY_DIR}/fuzz/found ${fuzz}/corpus)
endif()
