tlc_unit_test(compare report)
tlc_unit_test(history report)
tlc_unit_test(callgrind measure)
