add_test(NAME lint/rooms COMMAND ${PROJECT_SOURCE_DIR}/tests/lint/rooms.sh ${PROJECT_SOURCE_DIR})
