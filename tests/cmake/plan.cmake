tlc_unit_test(plan plan)
tlc_unit_test(plan_errors plan)
tlc_unit_test(plan_mutations plan)
tlc_unit_test(schedule plan)
