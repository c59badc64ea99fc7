// What a wrong, hostile or broken server can send: every case ends in FAILED with the right word,
// or waits for more, and never in DONE.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../fuzz/forge.h"
#include "base/names.h"
#include "test_tls13_peer.h"

#define CIPHER TLC_AES_128_GCM_SHA256

static struct forge forge;

static int open_forge(void **state)
{
    (void)state;
    return forge_open(&forge, 1) ? 0 : -1;
}

static int close_forge(void **state)
{
    (void)state;
    forge_close(&forge);
    return 0;
}

static void expect_failed(const char *kind, const char *text)
{
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_FAILED);
    assert_string_equal(tlc_tls13_failure(forge.client), text);
    assert_string_equal(tlc_tls13_failure_kind(forge.client), kind);
}

static void begin(bool ticket)
{
    assert_true(forge_start(&forge, ticket));
}

static void feed(const void *bytes, size_t count)
{
    tlc_tls13_input(forge.client, bytes, count, forge.now_ms);
}

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
    expect_failed("record", "record: this is not TLS");
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

// --- ServerHello and HelloRetryRequest

static uint8_t hello[256];
static size_t hello_bytes;

static void build(bool share, bool psk)
{
    hello_bytes = forge_build_hello(&forge, CIPHER, share, psk, hello);
}

static void send_hello(void)
{
    forge_send(&forge, TLC_RECORD_HANDSHAKE, hello, hello_bytes);
}

// Offsets within the ServerHello message.
enum { VERSION = 4, RANDOM = 6, SESSION = 39, SUITE = 71, LIST = 74, FIRST = 76, SHARE = 82 };

static void change(size_t offset, uint8_t value)
{
    begin(true);
    build(true, false);
    hello[offset] = value;
    send_hello();
}

static void test_server_hello(void **state)
{
    (void)state;
    change(VERSION, 2);
    expect_failed("version", "ServerHello: legacy_version is not 0x0303");
    change(SUITE + 1, 4);
    expect_failed("cipher", "ServerHello: a cipher suite that was not offered");
    change(LIST - 1, 1);
    expect_failed("decode", "ServerHello: compression chosen");
    change(LIST + 1, (uint8_t)(hello_bytes - FIRST + 1));
    expect_failed("decode", "ServerHello: wrong length");
    change(FIRST + 5, 3);
    expect_failed("version", "ServerHello: a version that was not offered");
    change(FIRST + 1, 42); // early_data
    expect_failed("extension", "ServerHello: an extension that was not asked for");
    change(SHARE + 1, 43); // supported_versions again, and the share's length does not fit
    expect_failed("extension", "ServerHello: an extension comes twice");
    change(SHARE + 5, 30);
    expect_failed("group", "ServerHello: a key share of another group than was sent");
    change(SHARE + 7, 31);
    expect_failed("decode", "ServerHello: malformed extension");
}

static void test_server_hello_session(void **state)
{
    (void)state;
    begin(false);
    build(true, false);
    hello[SESSION] ^= 1;
    send_hello();
    expect_failed("decode", "ServerHello: another session id than was sent");
}

static void test_server_hello_without(void **state)
{
    (void)state;
    begin(false);
    forge_server_hello(&forge, CIPHER, false, false);
    expect_failed("group", "ServerHello: it has neither a key share nor a PSK");
    begin(false);
    forge_server_hello(&forge, CIPHER, true, true);
    expect_failed("psk", "ServerHello: a PSK that was not offered");
    begin(true);
    forge_server_hello(&forge, TLC_AES_256_GCM_SHA384, true, true);
    expect_failed("psk", "ServerHello: a suite whose hash is not the PSK's");
    begin(false);
    build(true, false); // as TLS 1.2 servers do: no extensions at all
    hello_bytes = LIST;
    hello[3] = (uint8_t)(hello_bytes - 4);
    send_hello();
    expect_failed("version", "ServerHello: the server does not speak TLS 1.3");
    begin(false);
    build(true, false);
    memset(hello + SHARE + 8, 0, 32);
    send_hello();
    expect_failed("group", "ServerHello: the key share is not valid");
    begin(false);
    build(true, false);
    memcpy(hello + hello_bytes, "\10\0\0\2\0\0", 6);
    hello_bytes += 6;
    send_hello();
    expect_failed("protocol", "ServerHello: more data in its record");
}

// A HelloRetryRequest for a group, with a cookie when asked.
static void send_retry(uint16_t group, bool cookie)
{
    static const uint8_t random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
                                       0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
                                       0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
                                       0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
    const uint8_t share[] = {0, 51, 0, 2, (uint8_t)(group >> 8), (uint8_t)group};
    static const uint8_t cookie_extension[] = {0, 44, 0, 5, 0, 3, 'a', 'b', 'c'};
    build(false, false);
    memcpy(hello + RANDOM, random, sizeof(random));
    if (group != 0) {
        memcpy(hello + hello_bytes, share, sizeof(share));
        hello_bytes += sizeof(share);
    }
    if (cookie) {
        memcpy(hello + hello_bytes, cookie_extension, sizeof(cookie_extension));
        hello_bytes += sizeof(cookie_extension);
    }
    hello[3] = (uint8_t)(hello_bytes - 4);
    hello[LIST + 1] = (uint8_t)(hello_bytes - FIRST);
    send_hello();
}

static void test_retry(void **state)
{
    (void)state;
    begin(false);
    send_retry(0, false);
    expect_failed("protocol", "HelloRetryRequest: it changes nothing");
    begin(false);
    send_retry(TLC_GROUP_X25519, false);
    expect_failed("group", "HelloRetryRequest: the group whose share was sent");
    begin(false);
    send_retry(TLC_GROUP_SECP384R1, false);
    expect_failed("group", "HelloRetryRequest: a group that was not offered");
    begin(false);
    send_retry(TLC_GROUP_SECP256R1, true);
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    send_retry(TLC_GROUP_X25519, false);
    expect_failed("protocol", "HelloRetryRequest: a second one");
    begin(false);
    send_retry(0, true);
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    forge_server_hello(&forge, TLC_AES_256_GCM_SHA384, true, false);
    expect_failed("cipher", "ServerHello: another cipher suite than the HelloRetryRequest's");
    begin(false);
    send_retry(TLC_GROUP_SECP256R1, false);
    forge_server_hello(&forge, CIPHER, true, false);
    expect_failed("group", "ServerHello: a key share of another group than was sent");
}

// --- encrypted messages

static void send_message(const char *bytes, size_t count)
{
    forge_send(&forge, TLC_RECORD_HANDSHAKE, (const uint8_t *)bytes, count);
}
#define SEND(text) send_message(text, sizeof(text) - 1)

static const char empty_extensions[] = "\10\0\0\2\0\0";

static void to_certificate(void)
{
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    send_message(empty_extensions, 6);
}

static void with_extensions(const char *bytes, size_t count)
{
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    send_message(bytes, count);
}
#define EXTENSIONS(text) with_extensions(text, sizeof(text) - 1)

static void test_encrypted_extensions(void **state)
{
    (void)state;
    EXTENSIONS("\10\0\0\13\0\11\0\20\0\5\0\3\2h2");
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    assert_string_equal(tlc_tls13_evidence(forge.client)->alpn, "h2");
    EXTENSIONS("\10\0\0\13\0\11\0\20\0\5\0\3\2h3");
    expect_failed("extension", "EncryptedExtensions: an ALPN protocol that was not offered");
    EXTENSIONS("\10\0\0\13\0\11\0\20\0\5\0\3\3h2");
    expect_failed("decode", "EncryptedExtensions: malformed extension");
    EXTENSIONS("\10\0\0\6\0\4\0\34\0\0");
    expect_failed("extension", "EncryptedExtensions: an extension that was not asked for");
    EXTENSIONS("\10\0\0\12\0\10\0\0\0\0\0\0\0\0");
    expect_failed("extension", "EncryptedExtensions: an extension comes twice");
    EXTENSIONS("\10\0\0\3\0\2\0");
    expect_failed("decode", "EncryptedExtensions: wrong length");
    EXTENSIONS("\10\0\0\5\0\3\0\0\0");
    expect_failed("decode", "EncryptedExtensions: malformed extensions");
    EXTENSIONS("\13\0\0\4\0\0\0\0");
    expect_failed("protocol", "handshake message: not the one that is due");
}

static void test_certificates(void **state)
{
    (void)state;
    to_certificate();
    SEND("\13\0\0\4\0\0\0\0");
    expect_failed("certificate", "Certificate: the server sent none");
    to_certificate();
    SEND("\13\0\0\4\0\0\0\1");
    expect_failed("decode", "Certificate: wrong length");
    to_certificate();
    SEND("\13\0\0\5\1\7\0\0\0");
    expect_failed("certificate", "Certificate: the server's has a request context");
    to_certificate();
    SEND("\13\0\0\12\0\0\0\6\0\0\7\1\0\0");
    expect_failed("decode", "Certificate: malformed entry");
    to_certificate();
    SEND("\13\0\0\16\0\0\0\12\0\0\1\1\0\4\0\5\0\0");
    expect_failed("extension", "Certificate: an extension that was not asked for");
    to_certificate();
    SEND("\13\0\0\12\0\0\0\6\0\0\1\1\0\0");
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    SEND("\17\0\0\5\4\3\0\1x");
    expect_failed("signature", "Certificate: the leaf has no key that libcrypto can read");
    to_certificate();
    SEND("\13\0\0\12\0\0\0\6\0\0\1\1\0\0");
    SEND("\17\0\0\5\4\1\0\1x"); // rsa_pkcs1_sha256
    expect_failed("signature", "CertificateVerify: a scheme that was not offered");
    to_certificate();
    SEND("\13\0\0\12\0\0\0\6\0\0\1\1\0\0");
    SEND("\17\0\0\5\4\3\0\2x");
    expect_failed("decode", "CertificateVerify: wrong length");
}

static void test_certificate_requests(void **state)
{
    (void)state;
    to_certificate();
    SEND("\15\0\0\3\0\0\0");
    expect_failed("extension", "CertificateRequest: signature_algorithms is missing");
    to_certificate();
    SEND("\15\0\0\4\1\1\0\0");
    expect_failed("protocol", "CertificateRequest: a request context within the handshake");
    to_certificate();
    SEND("\15\0\0\13\0\0\10\0\15\0\4\0\2\4\3");
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_WAIT);
    SEND("\15\0\0\13\0\0\10\0\15\0\4\0\2\4\3");
    expect_failed("protocol", "handshake message: not the one that is due");
}

static void test_skipped_certificate(void **state)
{
    (void)state;
    to_certificate();
    forge_finished(&forge);
    expect_failed("protocol", "handshake message: not the one that is due");
}

// --- Finished and behind it; a resumed handshake needs no certificate

static void to_finished(void)
{
    begin(true);
    forge_server_hello(&forge, CIPHER, true, true);
    send_message(empty_extensions, 6);
}

static void to_done(void)
{
    to_finished();
    assert_int_equal(forge_finished(&forge), TLC_TLS13_DONE);
    assert_true(tlc_tls13_evidence(forge.client)->resumed);
}

static void test_finished(void **state)
{
    uint8_t finished[36] = {TLC_MESSAGE_FINISHED, 0, 0, 32};
    (void)state;
    to_finished();
    forge_send(&forge, TLC_RECORD_HANDSHAKE, finished, sizeof(finished));
    expect_failed("finished", "Finished: the server's does not verify");
    to_finished();
    finished[3] = 31;
    forge_send(&forge, TLC_RECORD_HANDSHAKE, finished, 35);
    expect_failed("finished", "Finished: wrong length");
}

static void test_after_handshake(void **state)
{
    (void)state;
    to_done();
    SEND("\15\0\0\3\0\0\0"); // authentication after the handshake was not offered
    expect_failed("protocol", "handshake message: not the one that is due");
    to_done();
    SEND("\30\0\0\1\2");
    expect_failed("decode", "KeyUpdate: unknown request");
    to_done();
    SEND("\30\0\0\2\0\0");
    expect_failed("decode", "KeyUpdate: wrong length");
    to_done();
    SEND("\30\0\0\1\0\30\0\0\1\0");
    expect_failed("protocol", "KeyUpdate: more data in its record");
    to_done();
    for (int i = 0; i < 40 && tlc_tls13_state(forge.client) == TLC_TLS13_DONE; i++)
        SEND("\30\0\0\1\1");
    expect_failed("protocol", "KeyUpdate: too many without data");
    to_done();
    feed("\24\3\3\0\1\1", 6);
    expect_failed("protocol", "record: change_cipher_spec where none may be");
    to_done();
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\2\62", 2);
    expect_failed("alert", "server alert: decode_error");
    to_done();
    forge_send(&forge, TLC_RECORD_ALERT, (const uint8_t *)"\1\0", 2);
    assert_true(tlc_tls13_peer_closed(forge.client));
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_DONE);
    feed("whatever", 8); // RFC 8446, 6.1: what comes behind close_notify is ignored
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_DONE);
}

static void test_tickets(void **state)
{
    struct tlc_tls13_ticket ticket;
    (void)state;
    to_done();
    SEND("\4\0\0\20\0\0\0\12\0\0\0\1\1\0\0\2ab\0\0");
    assert_true(tlc_tls13_take_ticket(forge.client, &ticket));
    assert_int_equal(ticket.identity_bytes, 2);
    assert_memory_equal(ticket.identity, "ab", 2);
    assert_int_equal(ticket.lifetime_s, 10);
    assert_int_equal(ticket.age_add, 1);
    assert_false(tlc_tls13_take_ticket(forge.client, &ticket));
    SEND("\4\0\0\20\0\0\0\0\0\0\0\1\1\0\0\2ab\0\0"); // lifetime 0: to be thrown away
    assert_false(tlc_tls13_take_ticket(forge.client, &ticket));
    assert_int_equal(tlc_tls13_evidence(forge.client)->tickets, 2);
    for (char i = 0; i < 20; i++) {
        char message[] = "\4\0\0\20\377\377\377\377\0\0\0\1\1\0\0\2ab\0\0";
        message[17] = i;
        send_message(message, 20);
    }
    assert_true(tlc_tls13_take_ticket(forge.client, &ticket)); // the oldest were dropped
    assert_int_equal(ticket.identity[1], 4);
    assert_int_equal(ticket.lifetime_s, 7 * 24 * 3600);
    SEND("\4\0\0\16\0\0\0\12\0\0\0\1\1\0\0\0\0\0");
    expect_failed("decode", "NewSessionTicket: wrong length");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_truncated_flight),
        cmocka_unit_test(test_not_tls),
        cmocka_unit_test(test_record_sizes),
        cmocka_unit_test(test_record_types),
        cmocka_unit_test(test_alerts),
        cmocka_unit_test(test_huge_message),
        cmocka_unit_test(test_server_hello),
        cmocka_unit_test(test_server_hello_session),
        cmocka_unit_test(test_server_hello_without),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_encrypted_extensions),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_certificate_requests),
        cmocka_unit_test(test_skipped_certificate),
        cmocka_unit_test(test_finished),
        cmocka_unit_test(test_after_handshake),
        cmocka_unit_test(test_tickets),
    };
    return cmocka_run_group_tests(tests, open_forge, close_forge);
}
