// The server's handshake messages, each malformed or out of place: every case ends in FAILED with
// the right word. A forged server protects them, so that they reach the client's parsers.
#include "test_tls13_forged.h"

static const uint8_t empty_extensions[6] = {TLC_MESSAGE_ENCRYPTED_EXTENSIONS, 0, 0, 2, 0, 0};

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
    change(LIST + 1, 0); // an empty list, and bytes behind it
    expect_failed("decode", "ServerHello: wrong length");
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
    build(true, false); // a key share alone, without supported_versions
    memmove(hello + FIRST, hello + SHARE, hello_bytes - SHARE);
    hello_bytes -= SHARE - FIRST;
    hello[3] = (uint8_t)(hello_bytes - 4);
    hello[LIST + 1] = (uint8_t)(hello_bytes - FIRST);
    send_hello();
    expect_failed("version", "ServerHello: the server does not speak TLS 1.3");
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
    memcpy(hello + hello_bytes, empty_extensions, 6);
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

static void to_certificate(void)
{
    begin(false);
    forge_server_hello(&forge, CIPHER, true, false);
    forge_send(&forge, TLC_RECORD_HANDSHAKE, empty_extensions, 6);
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
    SEND("\15\0\0\4\0\0\0\0");
    expect_failed("decode", "CertificateRequest: wrong length");
    to_certificate();
    SEND("\15\0\0\4\0\0\1\0");
    expect_failed("decode", "CertificateRequest: malformed extensions");
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
    forge_send(&forge, TLC_RECORD_HANDSHAKE, empty_extensions, 6);
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
