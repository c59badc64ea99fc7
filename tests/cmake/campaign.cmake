tlc_unit_test(summary campaign)
