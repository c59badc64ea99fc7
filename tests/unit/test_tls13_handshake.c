// Whole handshakes of the lean client against libssl, in memory: every group, suite, key type and
// kind of share, HelloRetryRequest, application data, closing, input in any split.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>

#include "base/names.h"
#include "test_tls13_peer.h"

static const uint16_t all_ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                       TLC_CHACHA20_POLY1305_SHA256};
static const uint16_t all_groups[] = {
    TLC_GROUP_X25519,    TLC_GROUP_SECP256R1,          TLC_GROUP_SECP384R1,
    TLC_GROUP_SECP521R1, TLC_GROUP_X25519MLKEM768,     TLC_GROUP_SECP256R1MLKEM768,
    TLC_GROUP_MLKEM768,  TLC_GROUP_SECP384R1MLKEM1024, TLC_GROUP_MLKEM1024};
static const char *const keys[] = {"ecdsa-p256", "ecdsa-p384", "rsa-2048", "ed25519",
                                   "mldsa44",    "mldsa65",    "mldsa87"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tlc_tls13_options options_of(const uint16_t *group)
{
    return (struct tlc_tls13_options){.groups = group,
                                      .group_count = 1,
                                      .ciphers = all_ciphers,
                                      .cipher_count = COUNT(all_ciphers),
                                      .server_name = "localhost",
                                      .verify_every = 1,
                                      .psk_modes = 1};
}

static struct tlc_tls13_config *config_of(const struct tlc_tls13_options *options)
{
    struct tlc_tls13_config *config;
    struct tlc_error error = {0};
    if (tlc_tls13_config_new(options, &config, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return config;
}

static void start(struct tlc_tls13_client *client, const struct tlc_tls13_config *config)
{
    struct tlc_error error = {0};
    if (tlc_tls13_start(client, config, NULL, peer_now_ms, &error) != TLC_OK)
        fail_msg("%s", error.text);
}

static void expect_done(struct peer *peer, struct tlc_tls13_client *client, uint16_t group)
{
    const struct tlc_tls13_evidence *evidence = tlc_tls13_evidence(client);
    if (tlc_tls13_state(client) != TLC_TLS13_DONE)
        fail_msg("%s: %s", tlc_name(TLC_NAME_GROUP, group), tlc_tls13_failure(client));
    assert_true(SSL_is_init_finished(peer->ssl)); // the server accepted our Finished
    assert_int_equal(evidence->version, TLC_TLS13);
    assert_int_equal(evidence->group, group);
    assert_int_equal(evidence->cipher,
                     SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(peer->ssl)));
    assert_false(evidence->resumed);
    assert_int_equal(evidence->psk_mode, -1);
    assert_int_equal(evidence->chain_count, 1);
    assert_string_equal(tlc_tls13_failure(client), "");
}

static void run(struct peer *peer, struct tlc_tls13_client *client,
                const struct tlc_tls13_config *config)
{
    peer_next(peer);
    start(client, config);
    peer_pump(peer, client, 0);
}

static void test_groups_and_shares(void **state)
{
    const enum tlc_share shares[] = {TLC_SHARE_HONEST, TLC_SHARE_REUSED, TLC_SHARE_CHEAP};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    (void)state;
    for (size_t g = 0; g < COUNT(all_groups); g++) {
        struct peer peer;
        peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256",
                                                .groups = tlc_name(TLC_NAME_GROUP, all_groups[g])});
        for (size_t s = 0; s < COUNT(shares); s++) {
            struct tlc_tls13_options options = options_of(&all_groups[g]);
            options.share = shares[s];
            struct tlc_tls13_config *config = config_of(&options);
            for (int round = 0; round < 3; round++) {
                run(&peer, client, config);
                expect_done(&peer, client, all_groups[g]);
                assert_true(tlc_tls13_evidence(client)->signature_verified);
                assert_false(tlc_tls13_evidence(client)->hello_retry_request);
            }
            tlc_tls13_config_free(config);
        }
        peer_close(&peer);
    }
    tlc_tls13_client_free(client);
}

static void test_ciphers_and_keys(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    uint8_t leaf[32];
    (void)state;
    for (size_t k = 0; k < COUNT(keys); k++) {
        struct peer peer;
        peer_open(&peer, &(struct peer_options){.key = keys[k], .groups = "X25519"});
        peer_leaf_sha256(&peer, leaf);
        for (size_t c = 0; c < COUNT(all_ciphers); c++) {
            struct tlc_tls13_options options = options_of(all_groups);
            options.ciphers = &all_ciphers[c];
            options.cipher_count = 1;
            options.certificate_sha256 = leaf;
            struct tlc_tls13_config *config = config_of(&options);
            run(&peer, client, config);
            expect_done(&peer, client, TLC_GROUP_X25519);
            assert_int_equal(tlc_tls13_evidence(client)->cipher, all_ciphers[c]);
            assert_true(tlc_tls13_evidence(client)->signature_verified);
            assert_memory_equal(tlc_tls13_evidence(client)->certificate_sha256, leaf, 32);
            tlc_tls13_config_free(config);
        }
        peer_close(&peer);
    }
    tlc_tls13_client_free(client);
}

static void test_wrong_certificate(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    uint8_t other[32] = {1};
    struct peer peer;
    (void)state;
    options.certificate_sha256 = other;
    struct tlc_tls13_config *config = config_of(&options);
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    run(&peer, client, config);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_FAILED);
    assert_string_equal(tlc_tls13_failure(client), "certificate: not the expected one");
    assert_string_equal(tlc_tls13_failure_kind(client), "certificate");
    assert_false(SSL_is_init_finished(peer.ssl));
    // The server could read our alert, so it was protected with the right keys.
    unsigned long reason = ERR_peek_last_error();
    assert_int_equal(ERR_GET_REASON(reason), SSL_R_SSLV3_ALERT_BAD_CERTIFICATE);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_verify_one_in_three(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct peer peer;
    (void)state;
    options.verify_every = 3;
    struct tlc_tls13_config *config = config_of(&options);
    peer_open(&peer, &(struct peer_options){.key = "ed25519"});
    for (int i = 0; i < 7; i++) {
        run(&peer, client, config);
        expect_done(&peer, client, TLC_GROUP_X25519);
        assert_int_equal(tlc_tls13_evidence(client)->signature_verified, i % 3 == 0);
        assert_int_equal(tlc_tls13_evidence(client)->signature, 0x0807);
    }
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

// With the wrong share first the server wants our first group, otherwise our last.
static void retry_with(enum tlc_share share, bool wrong_first, const uint16_t *cipher)
{
    const uint16_t groups[] = {TLC_GROUP_SECP384R1MLKEM1024, TLC_GROUP_X25519MLKEM768,
                               TLC_GROUP_SECP256R1};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(groups);
    struct peer peer;
    options.group_count = 3;
    options.share = share;
    options.ciphers = cipher;
    options.cipher_count = 1;
    options.wrong_share_first = wrong_first;
    struct tlc_tls13_config *config = config_of(&options);
    peer_open(&peer,
              &(struct peer_options){.key = "ecdsa-p256",
                                     .groups = wrong_first ? "SecP384r1MLKEM1024" : "P-256"});
    for (int round = 0; round < 2; round++) {
        run(&peer, client, config);
        expect_done(&peer, client, groups[wrong_first ? 0 : 2]);
        assert_true(tlc_tls13_evidence(client)->hello_retry_request);
    }
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_hello_retry_request(void **state)
{
    const enum tlc_share shares[] = {TLC_SHARE_HONEST, TLC_SHARE_REUSED, TLC_SHARE_CHEAP};
    (void)state;
    for (size_t i = 0; i < COUNT(shares); i++) {
        retry_with(shares[i], false, &all_ciphers[i]);
        retry_with(shares[i], true, &all_ciphers[i]);
    }
}

static void test_cookie(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct peer peer;
    (void)state;
    options.padding_bytes = 300;
    struct tlc_tls13_config *config = config_of(&options);
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .cookie = true});
    run(&peer, client, config);
    expect_done(&peer, client, TLC_GROUP_X25519);
    assert_true(tlc_tls13_evidence(client)->hello_retry_request);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_splits(void **state)
{
    const size_t chunks[] = {1, 2, 3, 5, 7, 64, 1000};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(&all_groups[4]);
    struct tlc_tls13_config *config = config_of(&options);
    struct peer peer;
    (void)state;
    peer_open(&peer,
              &(struct peer_options){.key = "rsa-2048", .groups = "X25519MLKEM768", .tickets = 2});
    for (size_t i = 0; i < COUNT(chunks); i++) {
        peer_next(&peer);
        start(client, config);
        peer_pump(&peer, client, chunks[i]);
        expect_done(&peer, client, TLC_GROUP_X25519MLKEM768);
        assert_int_equal(tlc_tls13_evidence(client)->tickets, 2);
    }
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_names(void **state)
{
    const char *const alpn[] = {"h2", "http/1.1", NULL};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct peer peer;
    (void)state;
    options.alpn = alpn;
    options.server_name = "www.example.test";
    struct tlc_tls13_config *config = config_of(&options);
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .alpn = "http/1.1"});
    run(&peer, client, config);
    expect_done(&peer, client, TLC_GROUP_X25519);
    assert_string_equal(tlc_tls13_evidence(client)->alpn, "http/1.1");
    assert_string_equal(SSL_get_servername(peer.ssl, TLSEXT_NAMETYPE_host_name),
                        "www.example.test");
    tlc_tls13_config_free(config);

    options.server_name = "127.0.0.1";
    options.alpn = NULL;
    config = config_of(&options);
    run(&peer, client, config);
    expect_done(&peer, client, TLC_GROUP_X25519);
    assert_string_equal(tlc_tls13_evidence(client)->alpn, "");
    assert_null(SSL_get_servername(peer.ssl, TLSEXT_NAMETYPE_host_name));
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_certificate_request(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct tlc_tls13_config *config = config_of(&options);
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){
                         .key = "ecdsa-p256", .request_certificate = true, .tickets = 1});
    run(&peer, client, config);
    expect_done(&peer, client, TLC_GROUP_X25519);
    assert_int_equal(tlc_tls13_evidence(client)->tickets, 1);
    assert_null(SSL_get0_peer_certificate(peer.ssl));
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void send_to_server(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    struct tlc_error error = {0};
    if (tlc_tls13_write(client, bytes, count, &error) != TLC_OK)
        fail_msg("%s", error.text);
}

static void test_application_data(void **state)
{
    static uint8_t sent[100000], got[100000];
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct tlc_tls13_config *config = config_of(&options);
    struct tlc_error error = {0};
    struct peer peer;
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof(sent); i++)
        sent[i] = (uint8_t)(i * 7 + i / 256);
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    run(&peer, client, config);
    expect_done(&peer, client, TLC_GROUP_X25519);
    send_to_server(client, sent, sizeof(sent));
    peer_feed(&peer, client);
    for (size_t at = 0; at < sizeof(got);) {
        int part = SSL_read(peer.ssl, got + at, (int)(sizeof(got) - at));
        assert_true(part > 0);
        at += (size_t)part;
    }
    assert_memory_equal(got, sent, sizeof(sent));
    assert_int_equal(SSL_write(peer.ssl, got, sizeof(got)), sizeof(got));
    peer_pump(&peer, client, 999);
    const uint8_t *kept = tlc_tls13_application_data(client, &count);
    assert_int_equal(tlc_tls13_application_bytes(client), sizeof(sent));
    assert_int_equal(count, 65536);
    assert_memory_equal(kept, sent + sizeof(sent) - count, count);

    assert_int_equal(tlc_tls13_close(client, &error), TLC_OK);
    assert_int_equal(tlc_tls13_write(client, sent, 1, &error), TLC_USAGE);
    peer_feed(&peer, client);
    assert_int_equal(SSL_read(peer.ssl, got, 1), 0);
    assert_int_equal(SSL_get_shutdown(peer.ssl), SSL_RECEIVED_SHUTDOWN);
    assert_false(tlc_tls13_peer_closed(client));
    SSL_shutdown(peer.ssl);
    peer_pump(&peer, client, 0);
    assert_true(tlc_tls13_peer_closed(client));
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_DONE);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_key_update(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct tlc_tls13_config *config = config_of(&options);
    struct peer peer;
    uint8_t byte;
    size_t count;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    run(&peer, client, config);
    for (int i = 0; i < 3; i++) {
        SSL_key_update(peer.ssl, i == 1 ? SSL_KEY_UPDATE_NOT_REQUESTED : SSL_KEY_UPDATE_REQUESTED);
        assert_int_equal(SSL_write(peer.ssl, "server", 6), 6);
        peer_pump(&peer, client, 0);
        assert_int_equal(tlc_tls13_state(client), TLC_TLS13_DONE);
        send_to_server(client, (const uint8_t *)"c", 1);
        peer_feed(&peer, client);
        assert_int_equal(SSL_read(peer.ssl, &byte, 1), 1);
        assert_int_equal(byte, 'c');
    }
    assert_memory_equal(tlc_tls13_application_data(client, &count), "serverserverserver", 18);
    assert_int_equal(count, 18);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_stop_points(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct peer peer;
    size_t count;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    options.stop = TLC_STOP_AFTER_SERVER_FLIGHT;
    struct tlc_tls13_config *config = config_of(&options);
    run(&peer, client, config);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_STOPPED);
    tlc_tls13_output(client, &count);
    assert_int_equal(count, 0);
    assert_false(SSL_is_init_finished(peer.ssl));
    tlc_tls13_config_free(config);

    options.stop = TLC_STOP_AFTER_CLIENT_HELLO;
    config = config_of(&options);
    peer_next(&peer);
    start(client, config);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_WAIT);
    tlc_tls13_output(client, &count);
    assert_true(count > 100);
    peer_pump(&peer, client, 0);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_STOPPED);
    assert_true(tlc_tls13_server_hello_seen(client));
    // What the ServerHello said is the evidence that the server has done its work.
    assert_int_equal(tlc_tls13_evidence(client)->version, TLC_TLS13);
    assert_int_equal(tlc_tls13_evidence(client)->group, all_groups[0]);
    assert_int_equal(tlc_tls13_evidence(client)->chain_count, 0);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_stop_at_a_retry(void **state)
{
    const uint16_t groups[] = {TLC_GROUP_X25519, TLC_GROUP_SECP384R1};
    const enum tlc_tls13_stop stops[] = {TLC_STOP_AFTER_HELLO_RETRY, TLC_STOP_AFTER_CLIENT_HELLO};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(groups);
    struct peer peer;
    size_t count;
    (void)state;
    options.group_count = COUNT(groups);
    options.wrong_share_first = true;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .groups = "X25519"});
    for (size_t i = 0; i < COUNT(stops); i++) {
        options.stop = stops[i];
        struct tlc_tls13_config *config = config_of(&options);
        run(&peer, client, config);
        assert_int_equal(tlc_tls13_state(client), TLC_TLS13_STOPPED);
        assert_true(tlc_tls13_evidence(client)->hello_retry_request);
        assert_false(tlc_tls13_evidence(client)->cookie);
        // The second ClientHello is sent only where the stop point lies behind its answer.
        bool second = stops[i] == TLC_STOP_AFTER_CLIENT_HELLO;
        assert_int_equal(tlc_tls13_evidence(client)->group, second ? TLC_GROUP_X25519 : 0);
        tlc_tls13_output(client, &count);
        assert_int_equal(count, 0);
        tlc_tls13_config_free(config);
    }
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_invalid_shares_are_refused(void **state)
{
    static const struct {
        uint16_t group;
        enum tlc_share share;
        bool possible;
    } cases[] = {{TLC_GROUP_X25519MLKEM768, TLC_SHARE_UNREDUCED, true},
                 {TLC_GROUP_SECP256R1MLKEM768, TLC_SHARE_UNREDUCED, true},
                 {TLC_GROUP_SECP384R1MLKEM1024, TLC_SHARE_UNREDUCED, true},
                 {TLC_GROUP_MLKEM768, TLC_SHARE_UNREDUCED, true},
                 {TLC_GROUP_X25519, TLC_SHARE_UNREDUCED, false},
                 {TLC_GROUP_X25519, TLC_SHARE_LOW_ORDER, true},
                 {TLC_GROUP_X25519MLKEM768, TLC_SHARE_LOW_ORDER, true},
                 {TLC_GROUP_SECP256R1, TLC_SHARE_LOW_ORDER, false}};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tlc_tls13_options options = options_of(&cases[i].group);
        struct tlc_tls13_config *config;
        struct tlc_error error = {0};
        struct peer peer;
        options.share = cases[i].share;
        // Such a share gets no further than the server's answer.
        assert_int_equal(tlc_tls13_config_new(&options, &config, &error), TLC_USAGE);
        options.stop = TLC_STOP_AFTER_CLIENT_HELLO;
        enum tlc_status status = tlc_tls13_config_new(&options, &config, &error);
        assert_int_equal(status, cases[i].possible ? TLC_OK : TLC_USAGE);
        if (!cases[i].possible)
            continue;
        peer_open(&peer,
                  &(struct peer_options){.key = "ecdsa-p256",
                                         .groups = tlc_name(TLC_NAME_GROUP, cases[i].group)});
        run(&peer, client, config);
        assert_int_equal(tlc_tls13_state(client), TLC_TLS13_FAILED);
        assert_string_equal(tlc_tls13_failure(client), "server alert: illegal_parameter");
        tlc_tls13_config_free(config);
        peer_close(&peer);
    }
    tlc_tls13_client_free(client);
}

static void test_server_alert(void **state)
{
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct tlc_tls13_config *config = config_of(&options);
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .groups = "secp384r1"});
    run(&peer, client, config);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_FAILED);
    assert_string_equal(tlc_tls13_failure_kind(client), "alert");
    assert_string_equal(tlc_tls13_failure(client), "server alert: handshake_failure");
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void test_flight_size(void **state)
{
    static uint8_t bytes[65536];
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    struct tlc_tls13_options options = options_of(all_groups);
    struct tlc_tls13_config *config = config_of(&options);
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    peer_next(&peer);
    start(client, config);
    assert_false(tlc_tls13_server_hello_seen(client));
    peer_feed(&peer, client);
    size_t count = peer_take(&peer, bytes, sizeof(bytes));
    assert_int_equal(tlc_tls13_input(client, bytes, count, peer_now_ms), TLC_TLS13_DONE);
    assert_int_equal(tlc_tls13_evidence(client)->server_flight_bytes, count);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    tlc_tls13_client_free(client);
}

static void expect_refused(struct tlc_tls13_options *options, const char *text)
{
    struct tlc_tls13_config *config;
    struct tlc_error error = {0};
    assert_int_equal(tlc_tls13_config_new(options, &config, &error), TLC_USAGE);
    assert_null(config);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}

static void test_refused_options(void **state)
{
    const uint16_t x448 = TLC_GROUP_X448, old_cipher = 0xc02b;
    struct tlc_tls13_options options = options_of(&x448);
    (void)state;
    expect_refused(&options, "X448");
    options = options_of(all_groups);
    options.group_count = 0;
    expect_refused(&options, "groups");
    options = options_of(all_groups);
    options.ciphers = &old_cipher;
    options.cipher_count = 1;
    expect_refused(&options, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
    options = options_of(all_groups);
    options.wrong_share_first = true;
    expect_refused(&options, "second group");
    options = options_of(all_groups);
    options.padding_bytes = 60000;
    expect_refused(&options, "padding");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_and_shares),
        cmocka_unit_test(test_ciphers_and_keys),
        cmocka_unit_test(test_wrong_certificate),
        cmocka_unit_test(test_verify_one_in_three),
        cmocka_unit_test(test_hello_retry_request),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_certificate_request),
        cmocka_unit_test(test_application_data),
        cmocka_unit_test(test_key_update),
        cmocka_unit_test(test_stop_points),
        cmocka_unit_test(test_stop_at_a_retry),
        cmocka_unit_test(test_invalid_shares_are_refused),
        cmocka_unit_test(test_server_alert),
        cmocka_unit_test(test_flight_size),
        cmocka_unit_test(test_refused_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
