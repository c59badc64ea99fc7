# A room is a folder under src/ built as one static library. DEPENDS names the rooms below it:
# the link then fails on an arrow that was not declared, and tests/lint checks the includes.
# tlc_room(NAME SOURCES a.c b.c [DEPENDS room ...] [LIBRARIES target ...])
function(tlc_room name)
    cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
    add_library(tlc_${name} STATIC ${ROOM_SOURCES})
    target_include_directories(tlc_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    foreach(below ${ROOM_DEPENDS})
        target_link_libraries(tlc_${name} PUBLIC tlc_${below})
    endforeach()
    target_link_libraries(tlc_${name} PUBLIC ${ROOM_LIBRARIES})
endfunction()

# tlc_unit_test(NAME room ...): tests/unit/test_NAME.c as a CTest test of its own process.
function(tlc_unit_test name)
    add_executable(test_${name} ${PROJECT_SOURCE_DIR}/tests/unit/test_${name}.c)
    set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    foreach(room ${ARGN})
        target_link_libraries(test_${name} PRIVATE tlc_${room})
    endforeach()
    target_link_libraries(test_${name} PRIVATE PkgConfig::CMOCKA)
    target_compile_definitions(test_${name} PRIVATE TLC_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
    add_test(NAME unit/${name} COMMAND test_${name})
endfunction()
