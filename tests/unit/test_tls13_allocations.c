// The hot path allocates nothing: a client that has made one handshake makes the next ones of the
// same kind without a single call to the allocator, libcrypto's included.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/crypto.h>

#include "base/names.h"
#include "test_tls13_peer.h"
#include "tls13/handshake.h"

static unsigned long allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocations++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    allocations++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    allocations++;
    return __real_realloc(old, bytes);
}

// For a libcrypto that is a shared object and does not see the wrapped names.
static void *crypto_malloc(size_t bytes, const char *file, int line)
{
    (void)file, (void)line;
    return __wrap_malloc(bytes);
}

static void *crypto_realloc(void *old, size_t bytes, const char *file, int line)
{
    (void)file, (void)line;
    return __wrap_realloc(old, bytes);
}

static void crypto_free(void *old, const char *file, int line)
{
    (void)file, (void)line;
    free(old);
}

static size_t server_flight(struct peer *peer, struct tlc_tls13_client *client, uint8_t *flight,
                            size_t capacity)
{
    peer_next(peer);
    peer_feed(peer, client);
    return peer_take(peer, flight, capacity);
}

static unsigned long count_handshake(struct peer *peer, struct tlc_tls13_client *client,
                                     const struct tlc_tls13_config *config)
{
    static uint8_t flight[65536];
    struct tlc_error error;
    size_t count;
    unsigned long used, before = allocations;
    assert_int_equal(tlc_tls13_start(client, config, NULL, peer_now_ms, &error), TLC_OK);
    used = allocations - before;
    size_t bytes = server_flight(peer, client, flight, sizeof(flight));
    before = allocations;
    assert_int_equal(tlc_tls13_input(client, flight, bytes, peer_now_ms), TLC_TLS13_DONE);
    tlc_tls13_output(client, &count);
    tlc_tls13_output_sent(client, count);
    assert_true(count > 0);
    return used + allocations - before;
}

static void test_nothing_allocated(void **state)
{
    const uint16_t groups[] = {TLC_GROUP_X25519, TLC_GROUP_SECP256R1, TLC_GROUP_X25519MLKEM768,
                               TLC_GROUP_SECP384R1MLKEM1024};
    const uint16_t ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                TLC_CHACHA20_POLY1305_SHA256};
    struct tlc_error error;
    struct peer peer;
    (void)state;
    peer_open(&peer,
              &(struct peer_options){.key = "ecdsa-p256",
                                     .groups = "X25519:P-256:X25519MLKEM768:SecP384r1MLKEM1024"});
    for (size_t i = 0; i < 12; i++) {
        const struct tlc_tls13_options options = {.groups = &groups[i % 4],
                                                  .group_count = 1,
                                                  .ciphers = &ciphers[i / 4],
                                                  .cipher_count = 1,
                                                  .share = TLC_SHARE_CHEAP,
                                                  .server_name = "localhost"};
        struct tlc_tls13_client *client = tlc_tls13_client_new();
        struct tlc_tls13_config *config;
        assert_int_equal(tlc_tls13_config_new(&options, &config, &error), TLC_OK);
        assert_true(count_handshake(&peer, client, config) > 0); // the counter works
        for (int round = 0; round < 3; round++)
            assert_int_equal(count_handshake(&peer, client, config), 0);
        tlc_tls13_client_free(client);
        tlc_tls13_config_free(config);
    }
    peer_close(&peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_allocated)};
    CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
