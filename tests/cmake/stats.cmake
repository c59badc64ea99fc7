tlc_unit_test(stats stats)
tlc_unit_test(stats_coverage stats)
tlc_unit_test(stats_line stats)
tlc_unit_test(rank_sum stats)
