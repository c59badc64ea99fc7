tlc_unit_test(path relay)
tlc_unit_test(connect connect)
