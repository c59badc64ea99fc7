add_test(NAME lint/rooms COMMAND ${PROJECT_SOURCE_DIR}/tests/lint/rooms.sh ${PROJECT_SOURCE_DIR})
if(TARGET tlscost)
    add_test(NAME lint/manual
        COMMAND ${PROJECT_SOURCE_DIR}/tests/lint/manual.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE:tlscost>)
endif()
add_test(NAME lint/pages COMMAND ${PROJECT_SOURCE_DIR}/tests/lint/pages.sh ${PROJECT_SOURCE_DIR})
