tlc_unit_test(result result)

# The schema is checked by a validator of its own (Debian: python3-jsonschema).
file(GLOB fixtures CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fixtures/results/*.json)
set(validate python3 ${PROJECT_SOURCE_DIR}/tests/tools/validate_result.py)
set(schema ${PROJECT_SOURCE_DIR}/docs/result.schema.json)
add_test(NAME result/schema COMMAND ${validate} ${schema} ${fixtures})
add_test(NAME result/schema-refuses-broken-documents
    COMMAND ${validate} --mutants ${schema} ${PROJECT_SOURCE_DIR}/tests/fixtures/results/accepted.json)
