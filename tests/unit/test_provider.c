// tlscost-x25519.so through the public interface of libcrypto, as a TLS library uses it.
#include "test_x25519_support.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <stdlib.h>

static OSSL_LIB_CTX *library;
static OSSL_PROVIDER *module, *fallback;

static bool load(const char *variant, const char *backend)
{
    OSSL_PARAM settings[3];
    size_t count = 0;
    if (variant)
        settings[count++] =
            OSSL_PARAM_construct_utf8_string("variant", (char *)(uintptr_t)variant, 0);
    if (backend)
        settings[count++] =
            OSSL_PARAM_construct_utf8_string("backend", (char *)(uintptr_t)backend, 0);
    settings[count] = OSSL_PARAM_construct_end();
    library = OSSL_LIB_CTX_new();
    OSSL_PROVIDER_set_default_search_path(library, TLC_PROVIDERS);
    module = OSSL_PROVIDER_load_ex(library, "tlscost-x25519", settings);
    fallback = OSSL_PROVIDER_load(library, "default");
    EVP_set_default_properties(library, "?provider=tlscost-x25519");
    return module;
}

static int unload(void **state)
{
    (void)state;
    OSSL_PROVIDER_unload(module);
    OSSL_PROVIDER_unload(fallback);
    OSSL_LIB_CTX_free(library);
    library = NULL;
    return 0;
}

static int load_variant(void **state)
{
    assert_true(load(*state, NULL));
    return 0;
}

static unsigned long long counted(const char *what)
{
    char text[128] = "";
    OSSL_PARAM asked[] = {OSSL_PARAM_construct_utf8_string("tlscost-operations", text, sizeof text),
                          OSSL_PARAM_END};
    assert_int_equal(OSSL_PROVIDER_get_params(module, asked), 1);
    assert_true(OSSL_PARAM_modified(asked));
    const char *at = strstr(text, what);
    assert_non_null(at);
    return strtoull(at + strlen(what) + 1, NULL, 10);
}

static void is_ours(const EVP_PKEY *key)
{
    assert_non_null(key);
    assert_string_equal(OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(key)), "tlscost-x25519");
}

// What TLS does with a peer's share: an empty key, then its encoding.
static EVP_PKEY *peer_of(const uint8_t *u)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(library, "X25519", NULL);
    assert_int_equal(EVP_PKEY_paramgen_init(ctx), 1);
    assert_int_equal(EVP_PKEY_CTX_set_group_name(ctx, "x25519"), 1);
    assert_int_equal(EVP_PKEY_paramgen(ctx, &key), 1);
    EVP_PKEY_CTX_free(ctx);
    assert_int_equal(EVP_PKEY_set1_encoded_public_key(key, u, BYTES), 1);
    is_ours(key);
    return key;
}

static EVP_PKEY *key_of(const uint8_t *scalar)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key_ex(library, "X25519", NULL, scalar, BYTES);
    is_ours(key);
    return key;
}

static bool derive(EVP_PKEY *own, EVP_PKEY *peer, uint8_t *secret)
{
    size_t bytes = 0;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(library, own, NULL);
    assert_int_equal(EVP_PKEY_derive_init(ctx), 1);
    bool good = EVP_PKEY_derive_set_peer(ctx, peer) == 1 &&
                EVP_PKEY_derive(ctx, NULL, &bytes) == 1 && bytes == BYTES &&
                EVP_PKEY_derive(ctx, secret, &bytes) == 1;
    EVP_PKEY_CTX_free(ctx);
    return good;
}

static EVP_PKEY *generate(void)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(library, NULL, "X25519");
    is_ours(key);
    return key;
}

static void the_vectors_of_rfc7748_come_out(void **state) // section 6.1
{
    (void)state;
    uint8_t scalar[BYTES], u[BYTES], want[BYTES], got[BYTES], own[BYTES];
    size_t bytes = sizeof own;
    from_hex(scalar, "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    from_hex(u, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    from_hex(want, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    EVP_PKEY *key = key_of(scalar), *peer = peer_of(u);
    assert_int_equal(EVP_PKEY_get_raw_public_key(key, own, &bytes), 1);
    assert_bytes(own, want, "public key");
    from_hex(want, "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    assert_true(derive(key, peer, got));
    assert_bytes(got, want, "shared secret");
    EVP_PKEY_free(key);
    EVP_PKEY_free(peer);
}

static void the_vectors_of_wycheproof_come_out(void **state)
{
    (void)state;
    FILE *file = fopen(TLC_TESTS_DIR "/vectors/x25519/wycheproof.txt", "r");
    char line[512], result[16], hex[3][65];
    unsigned number, seen = 0, zero = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        uint8_t scalar[BYTES], u[BYTES], want[BYTES], got[BYTES];
        if (line[0] == '#')
            continue;
        assert_int_equal(
            sscanf(line, "%u %15s %64s %64s %64s", &number, result, hex[0], hex[1], hex[2]), 5);
        from_hex(scalar, hex[0]);
        from_hex(u, hex[1]);
        from_hex(want, hex[2]);
        EVP_PKEY *key = key_of(scalar), *peer = peer_of(u);
        bool good = derive(key, peer, got);
        assert_int_equal(good, strcmp(result, "zero") != 0);
        if (good)
            assert_bytes(got, want, line);
        else
            zero++;
        EVP_PKEY_free(key);
        EVP_PKEY_free(peer);
        seen++;
    }
    fclose(file);
    ERR_clear_error();
    assert_int_equal(seen, 518);
    assert_true(zero > 0);
}

static void keys_agree_with_the_default_provider(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        uint8_t ours[BYTES], theirs[BYTES], share[BYTES];
        size_t bytes = BYTES;
        EVP_PKEY *key = generate();
        EVP_PKEY *other = EVP_PKEY_Q_keygen(library, "provider=default", "X25519");
        assert_int_equal(EVP_PKEY_get_raw_public_key(other, share, &bytes), 1);
        EVP_PKEY *peer = peer_of(share);
        assert_true(derive(key, peer, ours));
        EVP_PKEY_free(peer);
        assert_int_equal(EVP_PKEY_get_raw_public_key(key, share, &bytes), 1);
        peer = EVP_PKEY_new_raw_public_key_ex(library, "X25519", "provider=default", share, bytes);
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(library, other, "provider=default");
        assert_int_equal(EVP_PKEY_derive_init(ctx), 1);
        assert_int_equal(EVP_PKEY_derive_set_peer(ctx, peer), 1);
        assert_int_equal(EVP_PKEY_derive(ctx, theirs, &bytes), 1);
        assert_bytes(ours, theirs, "shared secret");
        EVP_PKEY_CTX_free(ctx);
        EVP_PKEY_free(key);
        EVP_PKEY_free(other);
        EVP_PKEY_free(peer);
    }
}

static void what_it_did_is_counted(void **state)
{
    (void)state;
    unsigned long long keygens = counted("x25519-keygen"), derives = counted("x25519-derive");
    uint8_t secret[BYTES];
    EVP_PKEY *key = generate(), *peer = generate();
    assert_int_equal(counted("x25519-keygen"), keygens + 2);
    assert_true(derive(key, peer, secret));
    assert_int_equal(counted("x25519-derive"), derives + 1);
    EVP_PKEY_free(key);
    EVP_PKEY_free(peer);
}

static void keys_can_be_copied_compared_and_checked(void **state)
{
    (void)state;
    EVP_PKEY *key = generate(), *other = generate(), *copy = EVP_PKEY_dup(key);
    uint8_t *encoded = NULL;
    is_ours(copy);
    assert_int_equal(EVP_PKEY_eq(key, copy), 1);
    assert_int_equal(EVP_PKEY_eq(key, other), 0);
    assert_int_equal(EVP_PKEY_get_bits(key), 253);
    assert_int_equal(EVP_PKEY_get_security_bits(key), 128);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(library, copy, NULL);
    assert_int_equal(EVP_PKEY_check(ctx), 1);
    EVP_PKEY_CTX_free(ctx);
    // A peer's share over a key pair: the private key is gone.
    assert_int_equal(EVP_PKEY_get1_encoded_public_key(other, &encoded), BYTES);
    assert_int_equal(EVP_PKEY_set1_encoded_public_key(copy, encoded, BYTES), 1);
    assert_int_equal(EVP_PKEY_eq(other, copy), 1);
    uint8_t secret[BYTES];
    size_t bytes = sizeof secret;
    assert_int_equal(EVP_PKEY_get_raw_private_key(copy, secret, &bytes), 0);
    assert_int_equal(EVP_PKEY_set1_encoded_public_key(copy, encoded, BYTES - 1), 0);
    OPENSSL_free(encoded);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other);
    EVP_PKEY_free(copy);
    ERR_clear_error();
}

// The default provider's hybrid asks the library for its X25519: one key pair and one derivation on
// each side.
static void the_hybrid_reaches_it(void **state)
{
    (void)state;
    unsigned long long keygens = counted("x25519-keygen"), derives = counted("x25519-derive");
    EVP_PKEY *key = EVP_PKEY_Q_keygen(library, NULL, "X25519MLKEM768");
    assert_non_null(key);
    assert_int_equal(counted("x25519-keygen"), keygens + 1);
    uint8_t text[2048], sent[64], received[64];
    size_t text_bytes = sizeof text, sent_bytes = sizeof sent, received_bytes = sizeof received;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(library, key, NULL);
    assert_int_equal(EVP_PKEY_encapsulate_init(ctx, NULL), 1);
    assert_int_equal(EVP_PKEY_encapsulate(ctx, text, &text_bytes, sent, &sent_bytes), 1);
    assert_int_equal(counted("x25519-keygen"), keygens + 2);
    assert_int_equal(EVP_PKEY_decapsulate_init(ctx, NULL), 1);
    assert_int_equal(EVP_PKEY_decapsulate(ctx, received, &received_bytes, text, text_bytes), 1);
    assert_int_equal(counted("x25519-derive"), derives + 2);
    assert_int_equal(sent_bytes, received_bytes);
    assert_memory_equal(sent, received, sent_bytes);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
}

static void settings_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    assert_false(load("no-base", NULL));
    unload(NULL);
    assert_false(load(NULL, "no-such-backend"));
    unload(NULL);
    assert_false(load(NULL, "ifma8")); // eight keys at once serve nobody here
    unload(NULL);
    assert_true(load("variable-base", "limbs51"));
    ERR_clear_error();
}

#define WITH(test, variant)                                                                        \
    {                                                                                              \
#test " (" #variant ")", test, load_variant, unload, (void *)(uintptr_t)(variant)          \
    }
#define BOTH(test) WITH(test, "variable-base"), WITH(test, "fixed-base")

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(the_vectors_of_rfc7748_come_out),
        BOTH(the_vectors_of_wycheproof_come_out),
        BOTH(keys_agree_with_the_default_provider),
        BOTH(what_it_did_is_counted),
        BOTH(keys_can_be_copied_compared_and_checked),
        BOTH(the_hybrid_reaches_it),
        cmocka_unit_test_teardown(settings_that_mean_nothing_are_refused, unload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
