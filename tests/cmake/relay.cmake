tlc_unit_test(path relay)
