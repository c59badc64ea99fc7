// The key schedule, record protection, parsers and signature check against the traces of RFC 8448.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "tls13/handshake.h"

struct bytes {
    uint8_t at[1024];
    size_t count;
};

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

// The value of "section/name" in the vector file.
static struct bytes value(const char *section, const char *name)
{
    struct bytes bytes = {.count = 0};
    char line[256], head[64], key[64];
    bool in_section = false, in_value = false;
    FILE *file = fopen(TLC_TESTS_DIR "/vectors/rfc8448.txt", "r");
    assert_non_null(file);
    snprintf(head, sizeof(head), "[%s]", section);
    snprintf(key, sizeof(key), "%s =", name);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '[')
            in_section = strcmp(line, head) == 0;
        if (strchr(line, '=') != NULL || line[0] == '[' || line[0] == '#' || line[0] == '\0') {
            in_value = in_section && strcmp(line, key) == 0;
            continue;
        }
        for (const char *at = line; in_value && at[0] != '\0' && at[1] != '\0'; at += 2) {
            assert_true(bytes.count < sizeof(bytes.at));
            bytes.at[bytes.count++] = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
        }
    }
    fclose(file);
    if (bytes.count == 0)
        fail_msg("%s/%s is not in the vectors", section, name);
    return bytes;
}

static void expect_vector(const char *section, const char *name, const uint8_t *bytes, size_t count)
{
    struct bytes want = value(section, name);
    if (want.count != count || memcmp(want.at, bytes, count) != 0)
        fail_msg("%s/%s differs", section, name);
}

static void absorb(struct tlc_key_schedule *schedule, const char *section, const char *name)
{
    struct bytes message = value(section, name);
    tlc_schedule_absorb(schedule, message.at, message.count);
}

static void expect_traffic(const char *section, const char *name, const struct tlc_hmac_key *secret)
{
    struct bytes want = value(section, name);
    struct tlc_hmac_key key;
    uint8_t mac[32], expected[32];
    tlc_hmac_key_init(&key, TLC_HASH_SHA256, want.at, want.count);
    tlc_hmac(&key, (const uint8_t *)"x", 1, expected);
    tlc_hmac(secret, (const uint8_t *)"x", 1, mac);
    if (memcmp(mac, expected, sizeof(mac)) != 0)
        fail_msg("%s/%s differs", section, name);
}

// The shared secret from the trace's private key and the server's share, by our own parser.
static struct bytes shared_secret(const char *section, uint16_t group_code, const char *algorithm)
{
    struct bytes private = value(section, "client_private"), hello = value(section, "server_hello");
    const struct tlc_group *group = tlc_group_find(group_code);
    struct tlc_server_hello parsed;
    struct tlc_server_share parts;
    struct tlc_fault fault;
    struct tlc_key_pair pair = {0};
    struct bytes secret = {.count = tlc_secret_bytes(group)};
    assert_true(tlc_parse_server_hello((struct tlc_reader){hello.at + 4, hello.count - 4}, &parsed,
                                       &fault));
    assert_int_equal(parsed.group, group_code);
    assert_int_equal(parsed.cipher, TLC_AES_128_GCM_SHA256);
    assert_int_equal(parsed.version, TLC_TLS13);
    pair.curve = EVP_PKEY_new_raw_private_key_ex(NULL, algorithm, NULL, private.at, private.count);
    assert_non_null(pair.curve);
    assert_true(tlc_server_share_split(group, parsed.share.at, parsed.share.left, &parts));
    assert_true(tlc_key_pair_secret(&pair, group, &parts, secret.at));
    tlc_key_pair_free(&pair);
    return secret;
}

// A client whose keys are those of the trace, so that its own record functions can be replayed.
static struct tlc_tls13_client *client_of(const struct tlc_key_schedule *schedule)
{
    static struct tlc_tls13_runtime runtime;
    static const struct tlc_tls13_config config = {.runtime = &runtime};
    struct tlc_tls13_client *client = tlc_tls13_client_new();
    assert_non_null(client);
    client->config = &config;
    client->schedule = *schedule;
    client->now.suite = schedule->suite;
    return client;
}

static void expect_sealed(struct tlc_tls13_client *client, enum tlc_record_type type,
                          const char *section, const char *plain, const char *record)
{
    struct bytes text = {.at = {1, 0}, .count = 2}; // close_notify
    size_t count;
    if (plain != NULL)
        text = value(section, plain);
    assert_true(tlc_record_put(client, type, text.at, text.count));
    const uint8_t *bytes = tlc_tls13_output(client, &count);
    expect_vector(section, record, bytes, count);
    client->out.count = 0;
}

// Opens a record; returns its content with the type behind it.
static struct bytes open_record(struct tlc_tls13_client *client, const char *section,
                                const char *name)
{
    struct bytes record = value(section, name), text;
    assert_true(tlc_aead_open(&client->read, record.at, record.at + 5, record.count - 5, text.at));
    text.count = record.count - 5 - TLC_AEAD_TAG_BYTES;
    return text;
}

static void expect_finished(struct tlc_key_schedule *schedule, const struct tlc_hmac_key *secret,
                            const char *section, const char *name)
{
    uint8_t digest[32], message[36] = {TLC_MESSAGE_FINISHED, 0, 0, 32};
    tlc_hash_snapshot(&schedule->transcript, digest);
    tlc_finished_mac(secret, digest, message + 4);
    expect_vector(section, name, message, sizeof(message));
    tlc_schedule_absorb(schedule, message, sizeof(message));
}

static void expect_flight(struct tlc_tls13_client *client, const char *section, bool certificate)
{
    const char *const names[] = {"encrypted_extensions", "certificate", "certificate_verify",
                                 "server_finished"};
    struct bytes flight = open_record(client, section, "server_flight_record");
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        if (!certificate && (i == 1 || i == 2))
            continue;
        struct bytes message = value(section, names[i]);
        assert_memory_equal(flight.at + at, message.at, message.count);
        at += message.count;
    }
    assert_int_equal(flight.at[at], TLC_RECORD_HANDSHAKE);
    assert_int_equal(flight.count, at + 1);
}

static void expect_signature(const struct tlc_key_schedule *schedule, const char *section)
{
    struct bytes certificate = value(section, "certificate");
    struct bytes verify = value(section, "certificate_verify");
    struct tlc_certificate_message chain;
    struct tlc_certificate_verify parsed;
    struct tlc_leaf_cache cache = {0};
    struct tlc_fault fault;
    uint8_t digest[32];
    assert_true(tlc_parse_certificate(
        (struct tlc_reader){certificate.at + 4, certificate.count - 4}, &chain, &fault));
    assert_int_equal(chain.count, 1);
    assert_true(tlc_parse_certificate_verify((struct tlc_reader){verify.at + 4, verify.count - 4},
                                             &parsed, &fault));
    assert_int_equal(parsed.scheme, 0x0804);
    assert_true(tlc_leaf_cache_take(&cache, chain.leaf.at, chain.leaf.left));
    tlc_hash_snapshot(&schedule->transcript, digest);
    assert_null(tlc_signature_verify(&cache, parsed.scheme, digest, 32, parsed.signature.at,
                                     parsed.signature.left));
    digest[0] ^= 1;
    assert_string_equal(tlc_signature_verify(&cache, parsed.scheme, digest, 32, parsed.signature.at,
                                             parsed.signature.left),
                        "CertificateVerify: the signature does not verify");
    assert_string_equal(tlc_signature_verify(&cache, 0x0403, digest, 32, parsed.signature.at,
                                             parsed.signature.left),
                        "CertificateVerify: the scheme does not fit the leaf's key");
    tlc_leaf_cache_free(&cache);
}

// Sections 3 and 5 from the server's flight to the client's Finished.
static void replay_certificate_flight(struct tlc_key_schedule *schedule, const char *section,
                                      struct tlc_tls13_client *client)
{
    expect_traffic(section, "client_handshake_traffic", &schedule->client_handshake);
    expect_traffic(section, "server_handshake_traffic", &schedule->server_handshake);
    assert_true(tlc_read_keys_set(client, TLC_KEYS_HANDSHAKE));
    expect_flight(client, section, true);
    absorb(schedule, section, "encrypted_extensions");
    absorb(schedule, section, "certificate");
    expect_signature(schedule, section);
    absorb(schedule, section, "certificate_verify");
    expect_finished(schedule, &schedule->server_handshake, section, "server_finished");
    assert_true(tlc_write_keys_set(client, TLC_KEYS_HANDSHAKE));
    expect_sealed(client, TLC_RECORD_HANDSHAKE, section, "client_finished",
                  "client_finished_record");
}

static void start_simple(struct tlc_key_schedule *schedule)
{
    struct bytes secret = shared_secret("simple", TLC_GROUP_X25519, "X25519");
    expect_vector("simple", "shared_secret", secret.at, secret.count);
    tlc_schedule_start(schedule, tlc_suite_find(TLC_AES_128_GCM_SHA256), NULL);
    expect_vector("simple", "early_secret", schedule->secret, 32);
    absorb(schedule, "simple", "client_hello");
    absorb(schedule, "simple", "server_hello");
    tlc_schedule_handshake(schedule, secret.at, secret.count);
    expect_vector("simple", "handshake_secret", schedule->secret, 32);
}

static void expect_ticket(struct tlc_tls13_client *client, const uint8_t *resumption)
{
    struct bytes text = open_record(client, "simple", "ticket_record");
    struct tlc_new_session_ticket ticket;
    struct tlc_fault fault;
    uint8_t psk[32];
    assert_int_equal(text.at[0], TLC_MESSAGE_NEW_SESSION_TICKET);
    assert_true(tlc_parse_new_session_ticket((struct tlc_reader){text.at + 4, text.count - 5},
                                             &ticket, &fault));
    expect_vector("simple", "ticket_identity", ticket.identity.at, ticket.identity.left);
    assert_int_equal(ticket.lifetime_s, 30);
    assert_int_equal(ticket.age_add, 0xfad6aac5);
    tlc_ticket_psk(TLC_HASH_SHA256, resumption, ticket.nonce.at, ticket.nonce.left, psk);
    expect_vector("simple", "psk", psk, sizeof(psk));
}

static void test_simple_handshake(void **state)
{
    struct tlc_key_schedule schedule;
    uint8_t digest[32], secret[32];
    (void)state;
    start_simple(&schedule);
    struct tlc_tls13_client *client = client_of(&schedule);
    replay_certificate_flight(&schedule, "simple", client);
    tlc_hash_snapshot(&schedule.transcript, digest);
    tlc_schedule_application(&schedule, digest);
    expect_vector("simple", "master_secret", schedule.secret, 32);
    expect_vector("simple", "client_application_traffic", schedule.client_application, 32);
    expect_vector("simple", "server_application_traffic", schedule.server_application, 32);
    expect_finished(&schedule, &schedule.client_handshake, "simple", "client_finished");
    tlc_hash_snapshot(&schedule.transcript, digest);
    tlc_schedule_resumption(&schedule, digest, secret);
    expect_vector("simple", "resumption_master_secret", secret, 32);

    client->schedule = schedule;
    assert_true(tlc_read_keys_set(client, TLC_KEYS_APPLICATION));
    assert_true(tlc_write_keys_set(client, TLC_KEYS_APPLICATION));
    expect_ticket(client, secret);
    expect_sealed(client, TLC_RECORD_DATA, "simple", "data", "client_data_record");
    struct bytes data = open_record(client, "simple", "server_data_record");
    assert_int_equal(data.at[data.count - 1], TLC_RECORD_DATA);
    expect_vector("simple", "data", data.at, data.count - 1);
    expect_sealed(client, TLC_RECORD_ALERT, "simple", NULL, "client_close_record");
    struct bytes close = open_record(client, "simple", "server_close_record");
    assert_memory_equal(close.at, ((const uint8_t[]){1, 0, TLC_RECORD_ALERT}), 3);
    tlc_tls13_client_free(client);
}

static void test_binder(void **state)
{
    struct bytes psk = value("simple", "psk"), hello = value("resumed", "client_hello");
    struct tlc_hash hash;
    uint8_t digest[32], binder[32];
    (void)state;
    tlc_hash_init(&hash, TLC_HASH_SHA256);
    // Without the binders list: two bytes of its length, one of the binder's, 32 of the binder.
    tlc_hash_update(&hash, hello.at, hello.count - 35);
    tlc_hash_snapshot(&hash, digest);
    tlc_psk_binder(TLC_HASH_SHA256, psk.at, digest, binder);
    expect_vector("resumed", "binder", binder, sizeof(binder));
    assert_memory_equal(hello.at + hello.count - 32, binder, 32);
}

static void test_resumed_handshake(void **state)
{
    struct tlc_key_schedule schedule;
    struct bytes psk = value("simple", "psk");
    uint8_t digest[32];
    (void)state;
    struct bytes secret = shared_secret("resumed", TLC_GROUP_X25519, "X25519");
    tlc_schedule_start(&schedule, tlc_suite_find(TLC_AES_128_GCM_SHA256), psk.at);
    expect_vector("resumed", "early_secret", schedule.secret, 32);
    absorb(&schedule, "resumed", "client_hello");
    absorb(&schedule, "resumed", "server_hello");
    tlc_schedule_handshake(&schedule, secret.at, secret.count);
    expect_vector("resumed", "handshake_secret", schedule.secret, 32);
    expect_traffic("resumed", "client_handshake_traffic", &schedule.client_handshake);
    struct tlc_tls13_client *client = client_of(&schedule);
    assert_true(tlc_read_keys_set(client, TLC_KEYS_HANDSHAKE));
    expect_flight(client, "resumed", false);
    absorb(&schedule, "resumed", "encrypted_extensions");
    expect_finished(&schedule, &schedule.server_handshake, "resumed", "server_finished");
    tlc_hash_snapshot(&schedule.transcript, digest);
    absorb(&schedule, "resumed", "end_of_early_data");
    expect_finished(&schedule, &schedule.client_handshake, "resumed", "client_finished");
    assert_true(tlc_write_keys_set(client, TLC_KEYS_HANDSHAKE));
    expect_sealed(client, TLC_RECORD_HANDSHAKE, "resumed", "client_finished",
                  "client_finished_record");
    tlc_schedule_application(&schedule, digest);
    client->schedule = schedule;
    assert_true(tlc_read_keys_set(client, TLC_KEYS_APPLICATION));
    struct bytes data = open_record(client, "resumed", "server_data_record");
    expect_vector("resumed", "data", data.at, data.count - 1);
    tlc_tls13_client_free(client);
}

static void expect_retry(void)
{
    struct bytes retry = value("retry", "hello_retry_request");
    struct tlc_server_hello parsed;
    struct tlc_fault fault;
    assert_true(tlc_parse_server_hello((struct tlc_reader){retry.at + 4, retry.count - 4}, &parsed,
                                       &fault));
    assert_true(parsed.retry);
    assert_int_equal(parsed.group, TLC_GROUP_SECP256R1);
    expect_vector("retry", "cookie", parsed.cookie.at, parsed.cookie.left);
}

// libcrypto takes a bare private scalar only together with its public point, so the shared secret
// of the trace is used as published.
static void test_hello_retry_request(void **state)
{
    struct tlc_key_schedule schedule;
    struct bytes secret = value("retry", "shared_secret");
    (void)state;
    expect_retry();
    tlc_schedule_start(&schedule, tlc_suite_find(TLC_AES_128_GCM_SHA256), NULL);
    absorb(&schedule, "retry", "client_hello_1");
    tlc_schedule_message_hash(&schedule);
    absorb(&schedule, "retry", "hello_retry_request");
    absorb(&schedule, "retry", "client_hello_2");
    absorb(&schedule, "retry", "server_hello");
    tlc_schedule_handshake(&schedule, secret.at, secret.count);
    expect_vector("retry", "handshake_secret", schedule.secret, 32);
    struct tlc_tls13_client *client = client_of(&schedule);
    replay_certificate_flight(&schedule, "retry", client);
    expect_finished(&schedule, &schedule.client_handshake, "retry", "client_finished");
    tlc_tls13_client_free(client);
}

// RFC 4231, 4.2 (HMAC-SHA-384) and 4.7 (a key longer than a block).
static void test_hmac_sha384(void **state)
{
    static const uint8_t first[48] = {0xaf, 0xd0, 0x39, 0x44, 0xd8, 0x48, 0x95, 0x62, 0x6b, 0x08,
                                      0x25, 0xf4, 0xab, 0x46, 0x90, 0x7f, 0x15, 0xf9, 0xda, 0xdb,
                                      0xe4, 0x10, 0x1e, 0xc6, 0x82, 0xaa, 0x03, 0x4c, 0x7c, 0xeb,
                                      0xc5, 0x9c, 0xfa, 0xea, 0x9e, 0xa9, 0x07, 0x6e, 0xde, 0x7f,
                                      0x4a, 0xf1, 0x52, 0xe8, 0xb2, 0xfa, 0x9c, 0xb6};
    static const uint8_t second[48] = {0x4e, 0xce, 0x08, 0x44, 0x85, 0x81, 0x3e, 0x90, 0x88, 0xd2,
                                       0xc6, 0x3a, 0x04, 0x1b, 0xc5, 0xb4, 0x4f, 0x9e, 0xf1, 0x01,
                                       0x2a, 0x2b, 0x58, 0x8f, 0x3c, 0xd1, 0x1f, 0x05, 0x03, 0x3a,
                                       0xc4, 0xc6, 0x0c, 0x2e, 0xf6, 0xab, 0x40, 0x30, 0xfe, 0x82,
                                       0x96, 0x24, 0x8d, 0xf1, 0x63, 0xf4, 0x49, 0x52};
    static const char text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t secret[131], mac[48];
    struct tlc_hmac_key key;
    (void)state;
    memset(secret, 0x0b, 20);
    tlc_hmac_key_init(&key, TLC_HASH_SHA384, secret, 20);
    tlc_hmac(&key, (const uint8_t *)"Hi There", 8, mac);
    assert_memory_equal(mac, first, 48);
    memset(secret, 0xaa, sizeof(secret));
    tlc_hmac_key_init(&key, TLC_HASH_SHA384, secret, sizeof(secret));
    tlc_hmac(&key, (const uint8_t *)text, strlen(text), mac);
    assert_memory_equal(mac, second, 48);
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
        cmocka_unit_test(test_simple_handshake),  cmocka_unit_test(test_binder),
        cmocka_unit_test(test_resumed_handshake), cmocka_unit_test(test_hello_retry_request),
        cmocka_unit_test(test_hmac_sha384),
    };
    return cmocka_run_group_tests(tests, fetch, NULL);
}
