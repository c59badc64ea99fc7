tlc_unit_test(result result)
