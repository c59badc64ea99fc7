tlc_unit_test(summary campaign)
tlc_unit_test(calibrate campaign report)
