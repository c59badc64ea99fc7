tlc_unit_test(certs certs)
tlc_unit_test(certs_folder certs)
