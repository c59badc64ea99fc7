#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include "certs/certs.h"

static X509 *parse_certificate(const char *pem)
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    X509 *certificate = PEM_read_bio_X509(memory, NULL, NULL, NULL);
    BIO_free(memory);
    assert_non_null(certificate);
    return certificate;
}

static void in_memory_pairs_verify(void **state)
{
    (void)state;
    struct tlc_error error;
    for (size_t i = 0; tlc_certs_name_at(i); i++) {
        struct tlc_certs_pair pair;
        assert_int_equal(tlc_certs_in_memory(tlc_certs_name_at(i), &pair, &error), TLC_OK);
        X509 *leaf = parse_certificate(pair.chain_pem), *ca = parse_certificate(pair.ca_pem);
        assert_int_equal(X509_verify(leaf, X509_get0_pubkey(ca)), 1);
        unsigned char *der = NULL;
        int count = i2d_X509(leaf, &der);
        struct tlc_certs_facts facts;
        assert_int_equal(tlc_certs_facts(der, (size_t)count, &facts, &error), TLC_OK);
        assert_string_equal(facts.key_type, tlc_certs_name_at(i));
        OPENSSL_free(der);
        X509_free(leaf);
        X509_free(ca);
        tlc_certs_pair_free(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_memory_pairs_verify)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
