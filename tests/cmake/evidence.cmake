tlc_unit_test(checks evidence)
tlc_unit_test(evidence evidence)
