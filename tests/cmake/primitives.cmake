tlc_unit_test(x25519 primitives libcrypto)
