// What a wrong, hostile or broken server can send: every case ends in FAILED with the right word,
// or waits for more, and never in DONE.
#include "test_tls13_forged.h"
#include "test_tls13_peer.h"

// --- a real server's flight, changed

struct recording {
    uint8_t hello[1024], flight[8192];
    size_t hello_bytes, flight_bytes;
    struct tlc_tls13_config *config;
    struct tlc_tls13_client *client;
};

static void record_flight(struct recording *recording, struct peer *peer)
{
    const uint16_t group = TLC_GROUP_X25519, cipher = CIPHER;
    const struct tlc_tls13_options options = {.groups = &group,
                                              .group_count = 1,
                                              .ciphers = &cipher,
                                              .cipher_count = 1,
                                              .share = TLC_SHARE_CHEAP,
                                              .verify_every = 1};
    struct tlc_error error;
    assert_int_equal(tlc_tls13_config_new(&options, &recording->config, &error), TLC_OK);
    recording->client = tlc_tls13_client_new();
    assert_int_equal(
        tlc_tls13_start(recording->client, recording->config, NULL, peer_now_ms, &error), TLC_OK);
    const uint8_t *hello = tlc_tls13_output(recording->client, &recording->hello_bytes);
    memcpy(recording->hello, hello, recording->hello_bytes);
    peer_feed(peer, recording->client);
    recording->flight_bytes = peer_take(peer, recording->flight, sizeof(recording->flight));
}

// Begins the recorded handshake again: the cheap share makes the ClientHello all that matters.
static void replay_start(struct recording *recording)
{
    struct tlc_tls13_client *client = recording->client;
    struct tlc_error error;
    assert_int_equal(tlc_tls13_start(client, recording->config, NULL, peer_now_ms, &error), TLC_OK);
    assert_int_equal(client->out.count, recording->hello_bytes);
    memcpy(client->out.bytes, recording->hello, recording->hello_bytes);
    memcpy(client->now.random, recording->hello + 11, TLC_RANDOM_BYTES);
    memcpy(client->now.session_id, recording->hello + 44, TLC_RANDOM_BYTES);
}

// Low bytes of legacy_record_version in unprotected records are to be ignored (RFC 8446, 5.1).
static bool ignored_position(const struct recording *recording, size_t position)
{
    size_t at = 0;
    while (at < recording->flight_bytes) {
        const uint8_t *record = recording->flight + at;
        if (position == at + 2)
            return record[0] != TLC_RECORD_DATA;
        at += 5 + ((size_t)record[3] << 8 | record[4]);
    }
    return false;
}

static void expect_flip_fails(struct recording *recording, size_t position, uint8_t mask)
{
    static const uint8_t more[20000];
    replay_start(recording);
    recording->flight[position] ^= mask;
    enum tlc_tls13_state state =
        tlc_tls13_input(recording->client, recording->flight, recording->flight_bytes, peer_now_ms);
    recording->flight[position] ^= mask;
    if (ignored_position(recording, position)) {
        assert_int_equal(state, TLC_TLS13_DONE);
        return;
    }
    if (state == TLC_TLS13_WAIT) // a length that promises more than there is
        state = tlc_tls13_input(recording->client, more, sizeof(more), peer_now_ms);
    if (state != TLC_TLS13_FAILED)
        fail_msg("byte %zu flipped by %02x: state %d", position, mask, state);
    assert_true(strlen(tlc_tls13_failure(recording->client)) > 0);
    assert_true(strlen(tlc_tls13_failure_kind(recording->client)) > 0);
}

static void test_flipped_bytes(void **state)
{
    static struct recording recording;
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    record_flight(&recording, &peer);
    replay_start(&recording);
    assert_int_equal(
        tlc_tls13_input(recording.client, recording.flight, recording.flight_bytes, peer_now_ms),
        TLC_TLS13_DONE);
    for (size_t i = 0; i < recording.flight_bytes; i++) {
        expect_flip_fails(&recording, i, 0x01);
        expect_flip_fails(&recording, i, 0x80);
        expect_flip_fails(&recording, i, 0xff);
    }
    tlc_tls13_client_free(recording.client);
    tlc_tls13_config_free(recording.config);
    peer_close(&peer);
}

static void test_truncated_flight(void **state)
{
    static struct recording recording;
    struct peer peer;
    (void)state;
    peer_open(&peer, &(struct peer_options){.key = "ecdsa-p256"});
    record_flight(&recording, &peer);
    for (size_t i = 0; i < recording.flight_bytes; i++) {
        replay_start(&recording);
        assert_int_equal(tlc_tls13_input(recording.client, recording.flight, i, peer_now_ms),
                         TLC_TLS13_WAIT);
        assert_int_equal(tlc_tls13_input(recording.client, recording.flight + i,
                                         recording.flight_bytes - i, peer_now_ms),
                         TLC_TLS13_DONE);
    }
    tlc_tls13_client_free(recording.client);
    tlc_tls13_config_free(recording.config);
    peer_close(&peer);
}

// --- records

static void test_not_tls(void **state)
{
    (void)state;
    begin(false);
    feed("HTTP/1.1 400 Bad Request\r\n", 26);
    expect_failed("not-tls", "record: this is not TLS");
}

static void test_record_sizes(void **state)
{
    const uint8_t long_plain[] = {22, 3, 3, 0x40, 0x01}, long_sealed[] = {23, 3, 3, 0x41, 0x01};
    const uint8_t empty[] = {22, 3, 3, 0, 0};
    static uint8_t inner[16385];
    (void)state;
    begin(false);
    feed(long_plain, 5);
    expect_failed("record", "record: longer than the protocol allows");
    begin(false);
    feed(long_sealed, 5);
    expect_failed("record", "record: longer than the protocol allows");
    begin(false);
    feed(empty, 5);
    expect_failed("record", "record: empty");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_HANDSHAKE, inner, sizeof(inner));
    expect_failed("record", "record: plaintext longer than 2^14 bytes");
}

static void test_record_types(void **state)
{
    const uint8_t ccs[] = {20, 3, 3, 0, 1, 1}, bad_ccs[] = {20, 3, 3, 0, 1, 2};
    const uint8_t data[] = {23, 3, 3, 0, 1, 1}, plain[] = {22, 3, 3, 0, 1, 1};
    (void)state;
    begin(false);
    feed(ccs, 6);
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    feed(bad_ccs, 6);
    expect_failed("protocol", "record: change_cipher_spec where none may be");
    begin(false);
    feed(data, 6);
    expect_failed("protocol", "record: protected before ServerHello");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    feed(plain, 6);
    expect_failed("protocol", "record: not protected after ServerHello");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_CCS, (const uint8_t *)"\1", 1);
    expect_failed("record", "record: unknown type");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, 0, (const uint8_t *)"\0\0", 2);
    expect_failed("record", "record: nothing but padding");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_DATA, (const uint8_t *)"early", 5);
    expect_failed("protocol", "record: application data within the handshake");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_HANDSHAKE, (const uint8_t *)"\10\0", 2);
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\2\50", 2);
    expect_failed("protocol", "record: another type between parts of a handshake message");
}

static void test_alerts(void **state)
{
    (void)state;
    begin(false);
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\2\50", 2);
    expect_failed("alert", "server alert: handshake_failure");
    begin(false);
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\1\0", 2);
    expect_failed("alert", "server alert: close_notify");
    begin(false);
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\2", 1);
    expect_failed("decode", "alert: wrong length");
    begin(false);
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\1\132", 2); // user_canceled
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
}

static void test_huge_message(void **state)
{
    const uint8_t header[] = {TLC_MESSAGE_CERTIFICATE, 0x02, 0, 1};
    (void)state;
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_HANDSHAKE, header, sizeof(header));
    expect_failed("decode", "handshake message: longer than 128 KiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_bytes), cmocka_unit_test(test_truncated_flight),
        cmocka_unit_test(test_not_tls),       cmocka_unit_test(test_record_sizes),
        cmocka_unit_test(test_record_types),  cmocka_unit_test(test_alerts),
        cmocka_unit_test(test_huge_message),

    };
    return cmocka_run_group_tests(tests, open_forge, close_forge);
}
