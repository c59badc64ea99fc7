tlc_unit_test(tickets evidence server)
tlc_unit_test(curves campaign)
