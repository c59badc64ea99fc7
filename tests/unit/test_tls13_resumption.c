// Resumption of the lean client against libssl: both PSK modes, every hash, stateless and stateful
// tickets, after a HelloRetryRequest, with tickets that are too old, foreign or broken.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "test_tls13_peer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
enum { DHE = 1, KE = 2 };

static const uint16_t ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                   TLC_CHACHA20_POLY1305_SHA256};
static const uint16_t groups[] = {TLC_GROUP_X25519, TLC_GROUP_SECP256R1};
static struct tlc_tls13_client *client;

static struct tlc_tls13_config *config_of(unsigned modes, const uint16_t *cipher, size_t count,
                                          enum tlc_share share)
{
    const struct tlc_tls13_options options = {.groups = groups,
                                              .group_count = COUNT(groups),
                                              .ciphers = cipher,
                                              .cipher_count = count,
                                              .share = share,
                                              .server_name = "localhost",
                                              .verify_every = 1,
                                              .psk_modes = modes};
    struct tlc_tls13_config *config;
    struct tlc_error error = {0};
    if (tlc_tls13_config_new(&options, &config, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return config;
}

static void run(struct peer *peer, const struct tlc_tls13_config *config,
                const struct tlc_tls13_ticket *ticket)
{
    struct tlc_error error = {0};
    peer_next(peer);
    if (tlc_tls13_start(client, config, ticket, peer_now_ms, &error) != TLC_OK)
        fail_msg("%s", error.text);
    peer_pump(peer, client, 0);
    if (tlc_tls13_state(client) != TLC_TLS13_DONE)
        fail_msg("%s", tlc_tls13_failure(client));
    assert_true(SSL_is_init_finished(peer->ssl));
    assert_int_equal(tlc_tls13_evidence(client)->resumed, SSL_session_reused(peer->ssl));
}

static struct tlc_tls13_ticket first_ticket(struct peer *peer,
                                            const struct tlc_tls13_config *config)
{
    struct tlc_tls13_ticket ticket;
    run(peer, config, NULL);
    assert_false(tlc_tls13_evidence(client)->resumed);
    assert_int_equal(tlc_tls13_evidence(client)->tickets, 2);
    assert_true(tlc_tls13_take_ticket(client, &ticket));
    return ticket;
}

static void expect_resumed(int mode)
{
    const struct tlc_tls13_evidence *evidence = tlc_tls13_evidence(client);
    assert_true(evidence->resumed);
    assert_int_equal(evidence->psk_mode, mode);
    assert_int_equal(evidence->group, mode == 1 ? TLC_GROUP_X25519 : 0);
    assert_int_equal(evidence->signature, 0);
    assert_int_equal(evidence->chain_count, 0);
}

// Where nobody resumes, tickets are read for their number alone.
static void test_counted_tickets_are_not_kept(void **state)
{
    (void)state;
    const struct tlc_tls13_options options = {.groups = groups,
                                              .group_count = COUNT(groups),
                                              .ciphers = ciphers,
                                              .cipher_count = COUNT(ciphers),
                                              .server_name = "localhost",
                                              .psk_modes = DHE,
                                              .count_tickets_only = true};
    struct tlc_tls13_config *config;
    struct tlc_tls13_ticket ticket;
    struct tlc_error error;
    struct peer peer;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    assert_int_equal(tlc_tls13_config_new(&options, &config, &error), TLC_OK);
    run(&peer, config, NULL);
    assert_int_equal(tlc_tls13_evidence(client)->tickets, 2);
    assert_false(tlc_tls13_take_ticket(client, &ticket));
    tlc_tls13_config_free(config);
    peer_close(&peer);
}

static void resume_all_ciphers(bool no_dhe, bool stateful, unsigned modes)
{
    struct peer peer;
    peer_open(&peer,
              &(struct peer_options){
                  .key = "ecdsa-p256", .tickets = 2, .no_dhe = no_dhe, .stateful = stateful});
    for (size_t i = 0; i < COUNT(ciphers); i++) {
        struct tlc_tls13_config *config = config_of(modes, &ciphers[i], 1, TLC_SHARE_CHEAP);
        struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
        for (int round = 0; round < 3; round++) {
            peer_now_ms += 1234;
            run(&peer, config, &ticket);
            expect_resumed(no_dhe ? 0 : 1);
            assert_true(tlc_tls13_take_ticket(client, &ticket)); // single use
        }
        tlc_tls13_config_free(config);
    }
    peer_close(&peer);
}

static void test_psk_dhe_ke(void **state)
{
    (void)state;
    resume_all_ciphers(false, false, DHE);
    resume_all_ciphers(false, false, DHE | KE);
}

static void test_psk_ke(void **state)
{
    (void)state;
    resume_all_ciphers(true, false, KE);
    resume_all_ciphers(true, false, DHE | KE);
}

static void test_stateful(void **state)
{
    (void)state;
    resume_all_ciphers(false, true, DHE);
}

// A server with psk_dhe_ke only, offered psk_ke only, makes a full handshake.
static void test_mode_not_served(void **state)
{
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    struct tlc_tls13_config *config = config_of(DHE, ciphers, COUNT(ciphers), TLC_SHARE_HONEST);
    struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
    tlc_tls13_config_free(config);
    config = config_of(KE, ciphers, COUNT(ciphers), TLC_SHARE_HONEST);
    run(&peer, config, &ticket);
    assert_false(tlc_tls13_evidence(client)->resumed);
    assert_int_equal(tlc_tls13_evidence(client)->psk_mode, -1);
    assert_true(tlc_tls13_evidence(client)->signature_verified);
    tlc_tls13_config_free(config);
    peer_close(&peer);
}

// The server's group list forces a HelloRetryRequest; its suite decides whether the PSK stays.
static void test_after_retry(void **state)
{
    const uint16_t sha384_first[] = {TLC_AES_256_GCM_SHA384, TLC_CHACHA20_POLY1305_SHA256};
    struct peer peer, other;
    (void)state;
    struct tlc_tls13_config *config = config_of(DHE, sha384_first, 2, TLC_SHARE_HONEST);
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2, .groups = "P-256"});
    struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
    assert_true(tlc_tls13_evidence(client)->hello_retry_request);
    run(&peer, config, &ticket);
    assert_true(tlc_tls13_evidence(client)->hello_retry_request);
    assert_true(tlc_tls13_evidence(client)->resumed);
    assert_int_equal(tlc_tls13_evidence(client)->group, TLC_GROUP_SECP256R1);
    // AES-256-GCM-SHA384's tickets are of no use with a server that speaks SHA-256 suites only.
    assert_int_equal(ticket.cipher, TLC_AES_256_GCM_SHA384);
    peer_open(&other, &(struct peer_options){.key = "ecdsa-p256",
                                             .tickets = 2,
                                             .groups = "P-256",
                                             .ciphers = "TLS_CHACHA20_POLY1305_SHA256"});
    run(&other, config, &ticket);
    assert_true(tlc_tls13_evidence(client)->hello_retry_request);
    assert_false(tlc_tls13_evidence(client)->resumed);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    peer_close(&other);
}

static void test_old_ticket(void **state)
{
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    SSL_CTX_set_timeout(peer.context, 10);
    struct tlc_tls13_config *config = config_of(DHE, ciphers, COUNT(ciphers), TLC_SHARE_CHEAP);
    struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
    assert_int_equal(ticket.lifetime_s, 10);
    assert_true(tlc_tls13_ticket_fresh(&ticket, peer_now_ms + 9999));
    assert_false(tlc_tls13_ticket_fresh(&ticket, peer_now_ms + 10000));
    assert_false(tlc_tls13_ticket_fresh(&ticket, peer_now_ms - 1));
    peer_now_ms += 10000;
    run(&peer, config, &ticket); // not offered
    assert_false(tlc_tls13_evidence(client)->resumed);
    tlc_tls13_config_free(config);
    peer_close(&peer);
}

static void test_foreign_ticket(void **state)
{
    struct peer peer, other;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    peer_open(&other, &(struct peer_options){.key = "ed25519", .tickets = 2});
    struct tlc_tls13_config *config = config_of(DHE, ciphers, COUNT(ciphers), TLC_SHARE_CHEAP);
    struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
    run(&other, config, &ticket); // unknown there: a full handshake, not counted as resumed
    assert_false(tlc_tls13_evidence(client)->resumed);
    assert_int_equal(tlc_tls13_evidence(client)->signature, 0x0807);
    tlc_tls13_config_free(config);
    peer_close(&peer);
    peer_close(&other);
}

// The right identity with a wrong PSK makes a wrong binder, which the server must refuse.
static void test_wrong_psk(void **state)
{
    struct peer peer;
    struct tlc_error error;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256", .tickets = 2});
    struct tlc_tls13_config *config = config_of(DHE, ciphers, COUNT(ciphers), TLC_SHARE_CHEAP);
    struct tlc_tls13_ticket ticket = first_ticket(&peer, config);
    ticket.psk[0] ^= 1;
    peer_next(&peer);
    assert_int_equal(tlc_tls13_start(client, config, &ticket, peer_now_ms, &error), TLC_OK);
    peer_pump(&peer, client, 0);
    assert_int_equal(tlc_tls13_state(client), TLC_TLS13_FAILED);
    assert_string_equal(tlc_tls13_failure(client), "server alert: decrypt_error");
    tlc_tls13_config_free(config);
    peer_close(&peer);
}

static void test_refused_tickets(void **state)
{
    const struct tlc_tls13_ticket empty = {.cipher = TLC_AES_128_GCM_SHA256, .lifetime_s = 1};
    struct tlc_tls13_ticket ticket = empty;
    struct tlc_error error = {0};
    (void)state;
    struct tlc_tls13_config *config = config_of(0, ciphers, COUNT(ciphers), TLC_SHARE_CHEAP);
    assert_int_equal(tlc_tls13_start(client, config, &ticket, 0, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "psk_modes"));
    tlc_tls13_config_free(config);
    config = config_of(DHE, ciphers, COUNT(ciphers), TLC_SHARE_CHEAP);
    assert_int_equal(tlc_tls13_start(client, config, &ticket, 0, &error), TLC_USAGE);
    ticket.identity_bytes = 1;
    ticket.psk_bytes = 48; // not SHA-256's size
    assert_int_equal(tlc_tls13_start(client, config, &ticket, 0, &error), TLC_USAGE);
    ticket.psk_bytes = 32;
    ticket.identity_bytes = sizeof(ticket.identity);
    assert_int_equal(tlc_tls13_start(client, config, &ticket, 0, &error), TLC_OK);
    ticket.cipher = 0x1304;
    assert_int_equal(tlc_tls13_start(client, config, &ticket, 0, &error), TLC_USAGE);
    tlc_tls13_config_free(config);
}

static int open_client(void **state)
{
    (void)state;
    client = tlc_tls13_client_new();
    return client != NULL ? 0 : -1;
}

static int close_client(void **state)
{
    (void)state;
    tlc_tls13_client_free(client);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted_tickets_are_not_kept),
        cmocka_unit_test(test_psk_dhe_ke),
        cmocka_unit_test(test_psk_ke),
        cmocka_unit_test(test_stateful),
        cmocka_unit_test(test_mode_not_served),
        cmocka_unit_test(test_after_retry),
        cmocka_unit_test(test_old_ticket),
        cmocka_unit_test(test_foreign_ticket),
        cmocka_unit_test(test_wrong_psk),
        cmocka_unit_test(test_refused_tickets),
    };
    return cmocka_run_group_tests(tests, open_client, close_client);
}
