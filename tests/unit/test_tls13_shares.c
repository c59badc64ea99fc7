// Key shares against libcrypto as the other side: the cheap secret must be what the server computes
// by a real exchange or encapsulation, and shares that are not valid are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>

#include "base/names.h"
#include "tls13/cheap.h"
#include "tls13/random.h"
#include "tls13/suite.h"

#define ROUNDS 50

static const uint16_t codes[] = {
    TLC_GROUP_X25519,    TLC_GROUP_SECP256R1,          TLC_GROUP_SECP384R1,
    TLC_GROUP_SECP521R1, TLC_GROUP_X25519MLKEM768,     TLC_GROUP_SECP256R1MLKEM768,
    TLC_GROUP_MLKEM768,  TLC_GROUP_SECP384R1MLKEM1024, TLC_GROUP_MLKEM1024};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// The server's half: its share for the client's, and its secret.
struct server {
    uint8_t curve[133], ciphertext[1568];
    uint8_t curve_secret[66], kem_secret[TLC_KEM_SECRET_BYTES];
};

static void serve_curve(const struct tlc_group *group, const uint8_t *share, struct server *server)
{
    const struct tlc_curve_sizes *sizes = tlc_curve_sizes(group->curve);
    EVP_PKEY *own = sizes->group != NULL ? EVP_EC_gen(sizes->group)
                                         : EVP_PKEY_Q_keygen(NULL, NULL, sizes->algorithm);
    EVP_PKEY *peer = EVP_PKEY_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    size_t count = 0, secret = sizes->secret_bytes;
    assert_int_equal(EVP_PKEY_get_octet_string_param(own, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY,
                                                     server->curve, sizeof(server->curve), &count),
                     1);
    assert_int_equal(count, sizes->share_bytes);
    assert_int_equal(EVP_PKEY_copy_parameters(peer, own), 1);
    assert_int_equal(EVP_PKEY_set1_encoded_public_key(peer, share, sizes->share_bytes), 1);
    assert_int_equal(EVP_PKEY_derive_init(context), 1);
    assert_int_equal(EVP_PKEY_derive_set_peer(context, peer), 1);
    assert_int_equal(EVP_PKEY_derive(context, server->curve_secret, &secret), 1);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(own);
}

static void serve_kem(const struct tlc_group *group, const uint8_t *share, struct server *server)
{
    const struct tlc_kem_sizes *sizes = tlc_kem_sizes(group->kem);
    EVP_PKEY *peer =
        EVP_PKEY_new_raw_public_key_ex(NULL, sizes->algorithm, NULL, share, sizes->key_bytes);
    assert_non_null(peer); // a key with t = 0 passes libcrypto's checks of FIPS 203, 7.2
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, peer, NULL);
    size_t count = sizes->ciphertext_bytes, secret = TLC_KEM_SECRET_BYTES;
    assert_int_equal(EVP_PKEY_encapsulate_init(context, NULL), 1);
    assert_int_equal(
        EVP_PKEY_encapsulate(context, server->ciphertext, &count, server->kem_secret, &secret), 1);
    assert_int_equal(count, sizes->ciphertext_bytes);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
}

static void serve(const struct tlc_group *group, const uint8_t *share, struct server *server,
                  struct tlc_server_share *parts)
{
    if (group->curve != TLC_CURVE_NONE)
        serve_curve(group, share + tlc_share_curve_offset(group), server);
    if (group->kem != TLC_KEM_NONE)
        serve_kem(group, share + tlc_share_kem_offset(group), server);
    *parts = (struct tlc_server_share){server->curve, server->ciphertext};
}

static void expect_secret(const struct tlc_group *group, const struct server *server,
                          const uint8_t *secret)
{
    if (group->curve != TLC_CURVE_NONE)
        assert_memory_equal(secret + tlc_secret_curve_offset(group), server->curve_secret,
                            tlc_curve_sizes(group->curve)->secret_bytes);
    if (group->kem != TLC_KEM_NONE)
        assert_memory_equal(secret + tlc_secret_kem_offset(group), server->kem_secret,
                            TLC_KEM_SECRET_BYTES);
}

static void test_cheap(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const struct tlc_group *group = tlc_group_find(codes[i]);
        struct tlc_cheap cheap = {0};
        struct tlc_server_share parts;
        struct server server;
        uint8_t secret[TLC_SECRET_MAX_BYTES];
        assert_true(tlc_cheap_make(group, &cheap));
        for (int round = 0; round < ROUNDS; round++) {
            serve(group, cheap.share, &server, &parts);
            assert_true(tlc_cheap_secret(&cheap, group, &parts, secret));
            expect_secret(group, &server, secret);
        }
        tlc_cheap_free(&cheap);
    }
}

static void test_key_pairs(void **state)
{
    struct tlc_key_maker maker = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const struct tlc_group *group = tlc_group_find(codes[i]);
        struct tlc_key_pair pair = {0};
        struct tlc_server_share parts;
        struct server server;
        uint8_t share[TLC_SHARE_MAX_BYTES], before[TLC_SHARE_MAX_BYTES];
        uint8_t secret[TLC_SECRET_MAX_BYTES];
        memset(before, 0, sizeof(before));
        for (int round = 0; round < 3; round++) {
            assert_true(tlc_key_pair_make(&maker, group, &pair, share));
            assert_memory_not_equal(share, before, tlc_group_client_bytes(group));
            memcpy(before, share, tlc_group_client_bytes(group));
            serve(group, share, &server, &parts);
            assert_true(tlc_key_pair_secret(&pair, group, &parts, secret));
            expect_secret(group, &server, secret);
        }
        tlc_key_pair_free(&pair);
    }
    tlc_key_maker_free(&maker);
}

// The sizes of draft-ietf-tls-ecdhe-mlkem, 4, and RFC 8446, 4.2.8.
static void test_sizes(void **state)
{
    static const struct {
        uint16_t code;
        size_t client, server, secret;
    } sizes[] = {
        {TLC_GROUP_X25519, 32, 32, 32},
        {TLC_GROUP_SECP521R1, 133, 133, 66},
        {TLC_GROUP_X25519MLKEM768, 1216, 1120, 64},
        {TLC_GROUP_SECP256R1MLKEM768, 1249, 1153, 64},
        {TLC_GROUP_SECP384R1MLKEM1024, 1665, 1665, 80},
    };
    static const uint8_t share[2048];
    struct tlc_server_share parts;
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct tlc_group *group = tlc_group_find(sizes[i].code);
        assert_int_equal(tlc_group_client_bytes(group), sizes[i].client);
        assert_int_equal(tlc_secret_bytes(group), sizes[i].secret);
        assert_true(tlc_server_share_split(group, share, sizes[i].server, &parts));
        assert_false(tlc_server_share_split(group, share, sizes[i].server - 1, &parts));
        assert_false(tlc_server_share_split(group, share, sizes[i].server + 1, &parts));
        assert_false(tlc_server_share_split(group, share, 0, &parts));
    }
    assert_null(tlc_group_find(TLC_GROUP_X448));
}

static void test_refused_shares(void **state)
{
    const struct tlc_group *p256 = tlc_group_find(TLC_GROUP_SECP256R1);
    const struct tlc_group *x25519 = tlc_group_find(TLC_GROUP_X25519);
    struct tlc_key_maker maker = {0};
    struct tlc_key_pair pair = {0};
    struct tlc_cheap cheap = {0};
    uint8_t share[TLC_SHARE_MAX_BYTES], secret[TLC_SECRET_MAX_BYTES], point[65] = {4, 1};
    const struct tlc_server_share parts = {point, NULL};
    (void)state;
    assert_true(tlc_cheap_make(p256, &cheap));
    assert_true(tlc_key_pair_make(&maker, p256, &pair, share));
    assert_false(tlc_key_pair_secret(&pair, p256, &parts, secret)); // not on the curve
    memcpy(point, share, sizeof(point));
    assert_true(tlc_cheap_secret(&cheap, p256, &parts, secret));
    point[0] = 2; // compressed
    assert_false(tlc_cheap_secret(&cheap, p256, &parts, secret));
    assert_false(tlc_key_pair_secret(&pair, p256, &parts, secret));
    memset(point, 0, sizeof(point)); // X25519: small order, the secret would be zero
    assert_true(tlc_key_pair_make(&maker, x25519, &pair, share));
    assert_false(tlc_key_pair_secret(&pair, x25519, &parts, secret));
    assert_false(tlc_cheap_secret(&cheap, x25519, &parts, secret));
    tlc_key_pair_free(&pair);
    tlc_key_maker_free(&maker);
}

static void test_random_after_fork(void **state)
{
    uint8_t first[32], own[32], childs[32];
    int pipes[2], how;
    (void)state;
    assert_true(tlc_random(first, sizeof(first)));
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        bool good = tlc_random(own, sizeof(own)) && write(pipes[1], own, sizeof(own)) == 32;
        _exit(good ? 0 : 1);
    }
    assert_true(tlc_random(own, sizeof(own)));
    assert_int_equal(read(pipes[0], childs, sizeof(childs)), 32);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_memory_not_equal(own, childs, sizeof(own));
    assert_memory_not_equal(own, first, sizeof(own));
    close(pipes[0]);
    close(pipes[1]);
}

static int fetch(void **state)
{
    struct tlc_error error;
    (void)state;
    return tlc_algorithms_fetch(&error) == TLC_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheap),
        cmocka_unit_test(test_key_pairs),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused_shares),
        cmocka_unit_test(test_random_after_fork),
    };
    return cmocka_run_group_tests(tests, fetch, NULL);
}
