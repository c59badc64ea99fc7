// What the certificates say, checked with libcrypto's own verification.
#include "certs_support.h"

#include <openssl/core_names.h>

#include "base/process.h"

static struct tlc_certs_facts facts_of(const char *pem)
{
    struct tlc_certs_facts facts;
    struct tlc_error error = {0};
    if (tlc_certs_facts_pem(pem, &facts, NULL, NULL, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return facts;
}

static void in_memory_pairs_verify(void **state)
{
    (void)state;
    struct tlc_error error;
    size_t count = 0;
    for (; tlc_certs_name_at(count); count++) {
        const char *name = tlc_certs_name_at(count);
        char subject[64];
        struct tlc_certs_pair pair;
        assert_int_equal(tlc_certs_in_memory(name, &pair, &error), TLC_OK);
        assert_int_equal(verify(&pair, X509_PURPOSE_SSL_SERVER), X509_V_OK);
        struct tlc_certs_facts facts = facts_of(pair.chain_pem);
        snprintf(subject, sizeof subject, "tlscost %s", name);
        assert_string_equal(facts.key_type, name);
        assert_string_equal(facts.subject, subject);
        assert_string_equal(facts.issuer, "tlscost test CA");
        assert_string_equal(facts.signature_algorithm, "sha256WithRSAEncryption");
        tlc_certs_pair_free(&pair);
    }
    assert_int_equal(count, 9);
    struct tlc_certs_pair pair;
    assert_int_equal(tlc_certs_in_memory("dsa-1024", &pair, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "mldsa-65"));
}

static void names_are_known_exactly(void **state)
{
    (void)state;
    assert_true(tlc_certs_name_known("mldsa-87"));
    assert_false(tlc_certs_name_known("MLDSA-87"));
    assert_false(tlc_certs_name_known("rsa-1024"));
    assert_false(tlc_certs_name_known(""));
}

static void numbered_leaves_differ_and_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"ecdsa-p256", NULL};
    struct tlc_certs_options options = {
        .names = names, .intermediates = 1, .numbered = "ecdsa-p256", .numbered_count = 3};
    struct tlc_certs_numbered before, after;
    struct tlc_error error;
    make(options);
    assert_int_equal(tlc_certs_numbered_read(folder, "ecdsa-p256", 3, &before, &error), TLC_OK);
    options.numbered_count = 5;
    assert_int_equal(make(options), 2);
    assert_int_equal(make(options), 0);
    assert_int_equal(tlc_certs_numbered_read(folder, "ecdsa-p256", 5, &after, &error), TLC_OK);
    for (size_t i = 0; i < 5; i++) {
        char subject[64];
        unsigned char sha256[32];
        size_t chain = 0;
        struct tlc_certs_facts facts;
        tlc_certs_numbered_subject("ecdsa-p256", i, subject, sizeof subject);
        assert_int_equal(tlc_certs_facts_pem(after.chains[i], &facts, &chain, NULL, &error),
                         TLC_OK);
        assert_string_equal(facts.subject, subject);
        assert_int_equal(chain, 2);
        assert_true(tlc_certs_pem_sha256(after.chains[i], sha256));
        assert_memory_equal(facts.sha256, sha256, sizeof sha256);
        if (i < 3)
            assert_string_equal(after.chains[i], before.chains[i]);
    }
    tlc_certs_numbered_free(&before);
    tlc_certs_numbered_free(&after);
    assert_int_equal(tlc_certs_numbered_read(folder, "ecdsa-p256", 6, &after, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "5 chains, asked 6"));
    options.force = true; // another CA: what is there fits no more
    options.numbered_count = 2;
    make(options);
    assert_int_equal(tlc_certs_numbered_read(folder, "ecdsa-p256", 3, &after, &error),
                     TLC_ENVIRONMENT);
}

static void leaves_differ_only_in_their_key(void **state)
{
    (void)state;
    assert_int_equal(make((struct tlc_certs_options){0}), 10);
    X509 *first = read_leaf("ecdsa-p256");
    for (size_t i = 0; tlc_certs_name_at(i); i++) {
        const char *name = tlc_certs_name_at(i);
        assert_int_equal(verify_named(name, X509_PURPOSE_SSL_SERVER), X509_V_OK);
        X509 *leaf = read_leaf(name);
        assert_int_equal(ASN1_TIME_compare(X509_get0_notBefore(leaf), X509_get0_notBefore(first)),
                         0);
        assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(leaf), X509_get0_notAfter(first)), 0);
        assert_int_equal(ASN1_STRING_length(X509_get0_serialNumber(leaf)), 20);
        if (i > 0) {
            expect_equal_extensions(first, leaf);
            assert_int_not_equal(
                ASN1_INTEGER_cmp(X509_get0_serialNumber(first), X509_get0_serialNumber(leaf)), 0);
            assert_int_not_equal(
                X509_NAME_cmp(X509_get_subject_name(first), X509_get_subject_name(leaf)), 0);
        }
        X509_free(leaf);
    }
    X509_free(first);
    X509 *rsa = read_leaf("rsa-3072");
    BIGNUM *exponent = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(X509_get0_pubkey(rsa), OSSL_PKEY_PARAM_RSA_E, &exponent),
                     1);
    assert_true(BN_is_word(exponent, 65537));
    BN_free(exponent);
    X509_free(rsa);
}

// RFC 9881, section 6: [0] IMPLICIT OCTET STRING of 32 bytes, which crypto/x509 of Go reads too;
// read again it gives the key of the certificate.
static void ml_dsa_keys_are_seeds(void **state)
{
    (void)state;
    static const char *const names[] = {"mldsa-44", "mldsa-65", "mldsa-87"};
    for (size_t i = 0; i < 3; i++) {
        struct tlc_certs_pair pair;
        struct tlc_error error;
        if (!tlc_certs_name_known(names[i]))
            continue;
        assert_int_equal(tlc_certs_in_memory(names[i], &pair, &error), TLC_OK);
        BIO *memory = BIO_new_mem_buf(pair.key_pem, -1);
        PKCS8_PRIV_KEY_INFO *info = PEM_read_bio_PKCS8_PRIV_KEY_INFO(memory, NULL, NULL, NULL);
        const unsigned char *value;
        int count;
        assert_non_null(info);
        assert_int_equal(PKCS8_pkey_get0(NULL, &value, &count, NULL, info), 1);
        assert_int_equal(count, 34);
        assert_int_equal(value[0], 0x80);
        assert_int_equal(value[1], 32);
        EVP_PKEY *key = EVP_PKCS82PKEY(info);
        BIO *chain = BIO_new_mem_buf(pair.chain_pem, -1);
        X509 *leaf = PEM_read_bio_X509(chain, NULL, NULL, NULL);
        assert_int_equal(EVP_PKEY_eq(X509_get0_pubkey(leaf), key), 1);
        X509_free(leaf);
        EVP_PKEY_free(key);
        PKCS8_PRIV_KEY_INFO_free(info);
        BIO_free(chain);
        BIO_free(memory);
        tlc_certs_pair_free(&pair);
    }
}

static void hosts_are_in_every_leaf(void **state)
{
    (void)state;
    static const char *const hosts[] = {"www.test.example", "192.0.2.7", "2001:db8::1", NULL};
    static const char *const turned[] = {"2001:db8::1", "192.0.2.7", "www.test.example",
                                         "192.0.2.7", NULL};
    make_two();
    assert_int_equal(make((struct tlc_certs_options){.names = two, .extra_hosts = hosts}), 3);
    X509 *leaf = read_leaf("ed25519");
    assert_int_equal(X509_check_host(leaf, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf, "www.test.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf, "other.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(leaf, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "192.0.2.7", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "2001:db8::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "192.0.2.8", 0), 0);
    X509_free(leaf);
    // Neither their order nor a repeat makes them others.
    assert_int_equal(make((struct tlc_certs_options){.names = two, .extra_hosts = turned}), 0);
}

static void intermediates_are_sent(void **state)
{
    (void)state;
    struct tlc_certs_options options = {.names = two, .intermediates = 6};
    assert_int_equal(make(options), 9);
    STACK_OF(X509) *chain = read_chain("ecdsa-p256");
    assert_int_equal(sk_X509_num(chain), 7);
    for (int i = 0; i + 1 < sk_X509_num(chain); i++)
        assert_int_equal(X509_check_issued(sk_X509_value(chain, i + 1), sk_X509_value(chain, i)),
                         X509_V_OK);
    sk_X509_pop_free(chain, X509_free);
    assert_int_equal(verify_named("ecdsa-p256", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(make(options), 0);
    assert_true(has("intermediate-6.key"));
    options.intermediates = 1;
    assert_int_equal(make(options), 4);
    assert_true(has("intermediate-1.pem"));
    assert_false(has("intermediate-2.pem"));
    assert_false(has("intermediate-6.key"));
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

// CAs of another key type than RSA: what a chain weighs that is of one type throughout.
static void authorities_have_the_key_type_asked_for(void **state)
{
    (void)state;
    struct tlc_certs_options options = {.names = two, .intermediates = 1, .authority = "mldsa-44"};
    assert_int_equal(make(options), 4);
    STACK_OF(X509) *chain = read_chain("ecdsa-p256");
    assert_int_equal(sk_X509_num(chain), 2);
    for (int i = 0; i < sk_X509_num(chain); i++) // FIPS 204, table 2: 2420 bytes a signature
        assert_true(i2d_X509(sk_X509_value(chain, i), NULL) > 2420);
    sk_X509_pop_free(chain, X509_free);
    assert_int_equal(verify_named("ecdsa-p256", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(make(options), 0);
    options.authority = NULL; // of another authority, so all is made again
    assert_int_equal(make(options), 4);
}

static void client_certificates_are_for_clients(void **state)
{
    (void)state;
    assert_int_equal(make((struct tlc_certs_options){.names = two, .client = "ed25519"}), 4);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_SERVER),
                     X509_V_ERR_INVALID_PURPOSE);
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_ERR_INVALID_PURPOSE);
    // A folder that is remade keeps its client certificates.
    assert_int_equal(make((struct tlc_certs_options){.names = two, .days = 7}), 4);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_OK);
}

static void facts_survive_any_bytes(void **state)
{
    (void)state;
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    struct tlc_error error;
    assert_int_equal(tlc_certs_in_memory("ecdsa-p384", &pair, &error), TLC_OK);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    unsigned char *der = NULL;
    int count = i2d_X509(sk_X509_value(chain, 0), &der);
    assert_int_equal(tlc_certs_facts(der, (size_t)count, &facts, &error), TLC_OK);
    assert_int_equal(facts.key_bits, 384);
    assert_int_equal(facts.not_after[4], '-');
    assert_int_equal(facts.not_after[19], 'Z');
    for (int length = 0; length < count; length++)
        assert_int_equal(tlc_certs_facts(der, (size_t)length, &facts, &error), TLC_ENVIRONMENT);
    for (int at = 0; at < count; at++) { // any answer, but no crash and always one line of text
        der[at] ^= 0x55;
        if (tlc_certs_facts(der, (size_t)count, &facts, &error) == TLC_OK)
            assert_null(strpbrk(facts.subject, "\n\r\x1b"));
        der[at] ^= 0x55;
    }
    unsigned char *longer = calloc(1, (size_t)count + 1);
    memcpy(longer, der, (size_t)count);
    assert_int_equal(tlc_certs_facts(longer, (size_t)count + 1, &facts, &error), TLC_ENVIRONMENT);
    free(longer);
    assert_int_equal(tlc_certs_facts_pem("no PEM", &facts, NULL, NULL, &error), TLC_ENVIRONMENT);
    OPENSSL_free(der);
    sk_X509_pop_free(chain, X509_free);
    tlc_certs_pair_free(&pair);
}

static void facts_of_a_chain_count_its_bytes(void **state)
{
    (void)state;
    make((struct tlc_certs_options){.names = two, .intermediates = 2});
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    struct tlc_error error;
    size_t count, bytes, expected = 0;
    assert_int_equal(tlc_certs_read(folder, "ed25519", &pair, &error), TLC_OK);
    assert_int_equal(tlc_certs_facts_pem(pair.chain_pem, &facts, &count, &bytes, &error), TLC_OK);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    for (int i = 0; i < sk_X509_num(chain); i++)
        expected += (size_t)i2d_X509(sk_X509_value(chain, i), NULL);
    assert_int_equal(count, 3);
    assert_int_equal(bytes, expected);
    assert_string_equal(facts.key_type, "ed25519");
    assert_string_equal(facts.issuer, "tlscost intermediate 2");
    sk_X509_pop_free(chain, X509_free);
    tlc_certs_pair_free(&pair);
}

static bool openssl_program_exists(void)
{
    static const char *const arguments[] = {"openssl", "version", NULL};
    char *text;
    int code;
    if (tlc_process_output(arguments, 10000, &text, &code, NULL) != TLC_OK)
        return false;
    free(text);
    return code == 0;
}

// A second opinion, without the key types that an older openssl does not know.
static void the_openssl_program_agrees(void **state)
{
    (void)state;
    static const char *const names[] = {"ecdsa-p256", "ed25519", "rsa-2048", NULL};
    char ca[PATH_MAX], leaf[PATH_MAX], *text;
    int code;
    struct tlc_error error;
    if (!openssl_program_exists())
        skip();
    make((struct tlc_certs_options){.names = names, .intermediates = 2});
    snprintf(ca, sizeof ca, "%s", path_of("ca.pem"));
    for (size_t i = 0; names[i]; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s.pem", names[i]);
        snprintf(leaf, sizeof leaf, "%s", path_of(file));
        const char *const arguments[] = {
            "openssl", "verify",     "-x509_strict", "-purpose", "sslserver", "-CAfile",
            ca,        "-untrusted", leaf,           leaf,       NULL};
        assert_int_equal(tlc_process_output(arguments, 10000, &text, &code, &error), TLC_OK);
        if (code != 0)
            fail_msg("%s", text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory_pairs_verify),
        cmocka_unit_test(names_are_known_exactly),
        in_folder(leaves_differ_only_in_their_key),
        in_folder(numbered_leaves_differ_and_stay),
        cmocka_unit_test(ml_dsa_keys_are_seeds),
        in_folder(hosts_are_in_every_leaf),
        in_folder(authorities_have_the_key_type_asked_for),
        in_folder(intermediates_are_sent),
        in_folder(client_certificates_are_for_clients),
        cmocka_unit_test(facts_survive_any_bytes),
        in_folder(facts_of_a_chain_count_its_bytes),
        in_folder(the_openssl_program_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
