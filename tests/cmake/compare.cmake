tlc_unit_test(compare report)
