// What plug-ins share of their raw operations, over a library that does what it is told: OpenSSL
// reads the certificates that are written, known answers are right by OpenSSL's account, and a
// library that gives a wrong result is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include "stacks/plain_operations.h"

struct tlc_stack_operation {
    struct tlc_plain_operation plain;
    EVP_PKEY *keys[2];
    X509 *leaf;
    STACK_OF(X509) * intermediates;
    X509_STORE *trust;
    EVP_MD_CTX *running;
};

static enum { NOTHING, VERIFIES_ALL, PARSES_ANOTHER, FORGETS_A_MESSAGE } fault;

static const EVP_MD *digest_of(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->size == 48 ? EVP_sha384() : EVP_sha256();
}

// ---- certificates

static bool point_of_key(EVP_PKEY *key, uint8_t *point)
{
    unsigned char *bytes = NULL;
    size_t count = EVP_PKEY_get1_encoded_public_key(key, &bytes);
    if (count == TLC_PLAIN_POINT)
        memcpy(point, bytes, count);
    OPENSSL_free(bytes);
    return count == TLC_PLAIN_POINT;
}

static bool make_key(struct tlc_stack_operation *operation, size_t slot, uint8_t *point)
{
    EVP_PKEY_free(operation->keys[slot]);
    operation->keys[slot] = EVP_EC_gen("P-256");
    return operation->keys[slot] && point_of_key(operation->keys[slot], point);
}

static bool sign(struct tlc_stack_operation *operation, size_t slot, const uint8_t *content,
                 size_t bytes, uint8_t *signature, size_t *count)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, operation->keys[slot]) == 1 &&
                EVP_DigestSign(ctx, signature, count, content, bytes) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

static X509 *certificate_at(struct tlc_stack_operation *operation, size_t level)
{
    const unsigned char *at = operation->plain.chain[level].bytes;
    return d2i_X509(NULL, &at, (long)operation->plain.chain[level].count);
}

static bool parse(struct tlc_stack_operation *operation)
{
    X509_free(operation->leaf);
    operation->leaf = certificate_at(operation, fault == PARSES_ANOTHER ? 1 : 0);
    return operation->leaf != NULL;
}

static bool point_of(struct tlc_stack_operation *operation, uint8_t *point)
{
    return point_of_key(X509_get0_pubkey(operation->leaf), point);
}

static bool load(struct tlc_stack_operation *operation, size_t depth)
{
    X509 *root = certificate_at(operation, depth);
    operation->trust = X509_STORE_new();
    operation->intermediates = sk_X509_new_null();
    operation->leaf = certificate_at(operation, 0);
    bool good = root && operation->leaf && X509_STORE_add_cert(operation->trust, root) == 1;
    X509_free(root);
    for (size_t level = 1; level < depth; level++)
        good = sk_X509_push(operation->intermediates, certificate_at(operation, level)) > 0 && good;
    return good;
}

static bool verify(struct tlc_stack_operation *operation)
{
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    bool good = X509_STORE_CTX_init(ctx, operation->trust, operation->leaf,
                                    operation->intermediates) == 1 &&
                X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER) == 1 &&
                X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(ctx), "localhost", 0) == 1 &&
                X509_verify_cert(ctx) == 1;
    X509_STORE_CTX_free(ctx);
    return good || fault == VERIFIES_ALL;
}

static void unload(struct tlc_stack_operation *operation)
{
    X509_free(operation->leaf);
    sk_X509_pop_free(operation->intermediates, X509_free);
    X509_STORE_free(operation->trust);
    operation->leaf = NULL;
    operation->intermediates = NULL;
    operation->trust = NULL;
}

static void free_keys(struct tlc_stack_operation *operation)
{
    EVP_PKEY_free(operation->keys[0]);
    EVP_PKEY_free(operation->keys[1]);
}

static const struct tlc_plain_certificates certificates = {.make_key = make_key,
                                                           .sign = sign,
                                                           .parse = parse,
                                                           .point_of = point_of,
                                                           .load = load,
                                                           .verify = verify,
                                                           .unload = unload,
                                                           .free = free_keys};

// ---- the transcript

static bool begin(struct tlc_stack_operation *operation)
{
    operation->running = EVP_MD_CTX_new();
    return EVP_DigestInit_ex(operation->running, digest_of(operation), NULL) == 1;
}

static bool add(struct tlc_stack_operation *operation, const uint8_t *bytes, size_t count)
{
    return (fault == FORGETS_A_MESSAGE && count == 10) ||
           EVP_DigestUpdate(operation->running, bytes, count) == 1;
}

static bool so_far(struct tlc_stack_operation *operation, uint8_t *out)
{
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    bool good = EVP_MD_CTX_copy_ex(copy, operation->running) == 1 &&
                EVP_DigestFinal_ex(copy, out, NULL) == 1;
    EVP_MD_CTX_free(copy);
    return good;
}

static void end(struct tlc_stack_operation *operation)
{
    EVP_MD_CTX_free(operation->running);
}

static const struct tlc_plain_hash hash = {begin, add, so_far, end};

// ---- the library

static const struct tlc_plain_row rows[] = {
    {"certificate-parse", &tlc_plain_certificate_parse, 0, 0},
    {"chain-verify-1", &tlc_plain_chain_verify, 0, 1},
    {"chain-verify-2", &tlc_plain_chain_verify, 0, 2},
    {"chain-verify-3", &tlc_plain_chain_verify, 0, 3},
    {"transcript-sha256", &tlc_plain_transcript, 0, 32},
    {"transcript-sha384", &tlc_plain_transcript, 0, 48},
};

static const char *lacks(const char *operation)
{
    return tlc_plain_begins(operation, "mldsa-") ? "has no ML-DSA; others have" : NULL;
}

const struct tlc_plain_library tlc_plain_library = {.name = "Test",
                                                    .rows = rows,
                                                    .row_count = sizeof rows / sizeof *rows,
                                                    .bytes = sizeof(struct tlc_stack_operation),
                                                    .hash = &hash,
                                                    .certificates = &certificates,
                                                    .lacks = lacks};

static struct tlc_stack_operation *make(const char *name)
{
    struct tlc_stack_error why = {{0}};
    struct tlc_stack_operation *operation = tlc_plain_operations.operation_new(name, NULL, &why);
    if (!operation)
        fail_msg("%s: %s", name, why.text);
    return operation;
}

static int none_at_fault(void **state)
{
    (void)state;
    fault = NOTHING;
    return 0;
}

static void every_operation_gives_right_results(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = tlc_plain_operations.name_at(i)); i++) {
        struct tlc_stack_error why = {{0}};
        struct tlc_stack_operation *operation = make(name);
        for (int round = 0; round < 2; round++)
            if (!tlc_plain_operations.run(operation, 2, &why) ||
                !tlc_plain_operations.check(operation, &why))
                fail_msg("%s: %s", name, why.text);
        tlc_plain_operations.operation_free(operation);
    }
}

// OpenSSL encodes what it read of a certificate as it was written, and finds in it what should be
// there.
static void certificates_are_der(void **state)
{
    (void)state;
    struct tlc_stack_operation *operation = make("chain-verify-3");
    for (size_t level = 0; level <= 3; level++) {
        const struct tlc_plain_der *written = &operation->plain.chain[level];
        X509 *read = certificate_at(operation, level);
        unsigned char *again = NULL;
        X509_set_version(read, X509_get_version(read)); // so that its content is written anew
        i2d_re_X509_tbs(read, NULL);
        int count = i2d_X509(read, &again);
        assert_int_equal((size_t)count, written->count);
        assert_memory_equal(again, written->bytes, written->count);
        assert_int_equal(X509_get_version(read), X509_VERSION_3);
        assert_int_equal(ASN1_INTEGER_get(X509_get0_serialNumber(read)), 1000 + (long)level);
        assert_int_equal(X509_check_ca(read), level ? 1 : 0);
        assert_int_equal(X509_cmp_current_time(X509_get0_notBefore(read)), -1);
        assert_int_equal(X509_cmp_current_time(X509_get0_notAfter(read)), 1);
        OPENSSL_free(again);
        X509_free(read);
    }
    tlc_plain_operations.operation_free(operation);
}

static void is_found_wrong(const char *name, int how, const char *why)
{
    struct tlc_stack_error error = {{0}};
    struct tlc_stack_operation *operation = make(name);
    fault = how;
    assert_true(tlc_plain_operations.run(operation, 1, &error));
    assert_false(tlc_plain_operations.check(operation, &error));
    assert_string_equal(error.text, why);
    tlc_plain_operations.operation_free(operation);
}

static void a_wrong_result_is_refused(void **state)
{
    (void)state;
    is_found_wrong("chain-verify-3", VERIFIES_ALL, "a damaged chain is verified");
    is_found_wrong("certificate-parse", PARSES_ANOTHER, "the parsed certificate has another key");
    is_found_wrong("transcript-sha256", FORGETS_A_MESSAGE, "the transcript's hash is wrong");
}

static void says_why(const char *name, const char *provider, const char *why)
{
    struct tlc_stack_error error = {{0}};
    assert_null(tlc_plain_operations.operation_new(name, provider, &error));
    assert_string_equal(error.text, why);
}

static void what_is_not_there_is_refused_with_the_reason(void **state)
{
    (void)state;
    says_why("mldsa-65-sign", NULL, "operation 'mldsa-65-sign': Test has no ML-DSA; others have");
    says_why("nonsense", NULL,
             "operation 'nonsense': Test has none that is called so; OpenSSL and tlscost list "
             "theirs");
    says_why("transcript-sha256", "legacy", "provider 'legacy': Test has none; OpenSSL has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_operation_gives_right_results, none_at_fault),
        cmocka_unit_test_setup(certificates_are_der, none_at_fault),
        cmocka_unit_test_setup(a_wrong_result_is_refused, none_at_fault),
        cmocka_unit_test_setup(what_is_not_there_is_refused_with_the_reason, none_at_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
