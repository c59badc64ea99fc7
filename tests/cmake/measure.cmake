tlc_unit_test(measure measure)
tlc_unit_test(measure_machine measure)
tlc_unit_test(measure_tree measure)
