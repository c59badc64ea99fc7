tlc_unit_test(base base)
