tlc_unit_test(certs certs)
