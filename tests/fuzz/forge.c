#include "forge.h"

#include <string.h>

#include "base/names.h"

// Offsets in a ClientHello record: headers, legacy_version; one byte of length between.
enum { HELLO_RANDOM = 11, HELLO_SESSION = HELLO_RANDOM + TLC_RANDOM_BYTES + 1 };

static const uint16_t groups[] = {TLC_GROUP_X25519, TLC_GROUP_SECP256R1};
static const uint16_t ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                   TLC_CHACHA20_POLY1305_SHA256};

bool forge_open(struct forge *forge, unsigned verify_every)
{
    static const char *const alpn[] = {"h2", NULL};
    const struct tlc_tls13_options options = {.groups = groups,
                                              .group_count = 2,
                                              .ciphers = ciphers,
                                              .cipher_count = 3,
                                              .share = TLC_SHARE_CHEAP,
                                              .server_name = "localhost",
                                              .alpn = alpn,
                                              .verify_every = verify_every,
                                              .psk_modes = 3};
    struct tlc_error error;
    *forge = (struct forge){.client = tlc_tls13_client_new(), .now_ms = 5000};
    return forge->client != NULL &&
           tlc_tls13_config_new(&options, &forge->config, &error) == TLC_OK;
}

bool forge_start(struct forge *forge, bool with_ticket)
{
    static const struct tlc_tls13_ticket ticket = {.identity = {1, 2, 3, 4},
                                                   .identity_bytes = 100,
                                                   .psk = {9, 9, 9},
                                                   .psk_bytes = 32,
                                                   .cipher = TLC_AES_128_GCM_SHA256,
                                                   .lifetime_s = 100,
                                                   .received_ms = 1000};
    struct tlc_tls13_client *client = forge->client;
    struct tlc_error error;
    if (tlc_tls13_start(client, forge->config, with_ticket ? &ticket : NULL, forge->now_ms,
                        &error) != TLC_OK)
        return false;
    // Nothing random in what the server must repeat, so that an input means the same every time.
    memset(client->now.random, 0x33, TLC_RANDOM_BYTES);
    memset(client->now.session_id, 0x55, TLC_RANDOM_BYTES);
    memset(client->out.bytes + HELLO_RANDOM, 0x33, TLC_RANDOM_BYTES);
    memset(client->out.bytes + HELLO_SESSION, 0x55, TLC_RANDOM_BYTES);
    return true;
}

void forge_close(struct forge *forge)
{
    tlc_aead_engine_free(&forge->engine);
    tlc_tls13_client_free(forge->client);
    tlc_tls13_config_free(forge->config);
}

// Takes the keys that the client reads the next record with.
static bool follow_keys(struct forge *forge)
{
    const struct tlc_tls13_client *client = forge->client;
    const struct tlc_suite *suite = client->now.suite;
    enum tlc_keys wanted =
        client->now.phase == TLC_PHASE_CONNECTED ? TLC_KEYS_APPLICATION : client->now.read_keys;
    struct tlc_key_schedule copy = client->schedule;
    struct tlc_hmac_key secret = copy.server_handshake;
    uint8_t key[32], iv[TLC_AEAD_IV_BYTES];
    if (wanted == TLC_KEYS_NONE)
        return true;
    if (wanted == TLC_KEYS_APPLICATION) {
        if (!client->now.application_secrets)
            tlc_schedule_application(&copy, client->now.finished_digest);
        tlc_hmac_key_init(&secret, suite->hash, copy.server_application,
                          tlc_hash_bytes(suite->hash));
    }
    tlc_traffic_keys(&secret, suite, key, iv);
    if (!tlc_aead_set_key(&forge->seal, &forge->engine, suite, true, key, iv))
        return false;
    // Updated keys begin at zero too, so the client's own counter is the right one.
    forge->seal.sequence = client->now.read_keys == wanted ? client->read.sequence : 0;
    return true;
}

enum tlc_tls13_state forge_send(struct forge *forge, uint8_t type, const uint8_t *bytes,
                                size_t count)
{
    static uint8_t record[5 + 16384 + 1 + 16 + 1024];
    size_t body = count;
    if (count > 16384 + 512 || !follow_keys(forge))
        return tlc_tls13_state(forge->client);
    memcpy(record + 5, bytes, count);
    record[0] = type;
    if (forge->client->now.read_keys != TLC_KEYS_NONE) {
        record[5 + count] = type;
        record[0] = TLC_RECORD_DATA;
        body = count + 1 + TLC_AEAD_TAG_BYTES;
    }
    record[1] = record[2] = 3;
    record[3] = (uint8_t)(body >> 8);
    record[4] = (uint8_t)body;
    if (body != count && !tlc_aead_seal(&forge->seal, record, record + 5, count + 1, record + 5))
        return tlc_tls13_state(forge->client);
    return tlc_tls13_input(forge->client, record, 5 + body, forge->now_ms);
}

static uint8_t *put(uint8_t *at, const uint8_t *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

size_t forge_build_hello(const struct forge *forge, uint16_t cipher, bool share, bool psk,
                         uint8_t message[256])
{
    static const uint8_t share_head[] = {0, 51, 0, 36, 0, 29, 0, 32};
    static const uint8_t psk_extension[] = {0, 41, 0, 2, 0, 0};
    static const uint8_t versions[] = {0, 43, 0, 2, 3, 4};
    uint8_t *at = message + 4;
    *at++ = 3;
    *at++ = 3;
    memset(at, 0x11, 32);
    at += 32;
    *at++ = TLC_RANDOM_BYTES;
    at = put(at, forge->client->now.session_id, TLC_RANDOM_BYTES);
    *at++ = (uint8_t)(cipher >> 8);
    *at++ = (uint8_t)cipher;
    *at++ = 0;
    uint8_t *list = at;
    at = put(at + 2, versions, sizeof(versions));
    if (share) {
        at = put(at, share_head, sizeof(share_head));
        memset(at, 0x42, 32);
        at += 32;
    }
    if (psk)
        at = put(at, psk_extension, sizeof(psk_extension));
    list[0] = 0;
    list[1] = (uint8_t)(at - list - 2);
    message[0] = TLC_MESSAGE_SERVER_HELLO;
    message[1] = message[2] = 0;
    message[3] = (uint8_t)(at - message - 4);
    return (size_t)(at - message);
}

enum tlc_tls13_state forge_server_hello(struct forge *forge, uint16_t cipher, bool share, bool psk)
{
    uint8_t message[256];
    size_t count = forge_build_hello(forge, cipher, share, psk, message);
    return forge_send(forge, TLC_RECORD_HANDSHAKE, message, count);
}

enum tlc_tls13_state forge_finished(struct forge *forge)
{
    const struct tlc_key_schedule *schedule = &forge->client->schedule;
    uint8_t message[4 + TLC_HASH_MAX_BYTES] = {TLC_MESSAGE_FINISHED}, digest[TLC_HASH_MAX_BYTES];
    if (forge->client->now.read_keys != TLC_KEYS_HANDSHAKE)
        return tlc_tls13_state(forge->client);
    size_t bytes = tlc_hash_bytes(schedule->suite->hash);
    message[3] = (uint8_t)bytes;
    tlc_hash_snapshot(&schedule->transcript, digest);
    tlc_finished_mac(&schedule->server_handshake, digest, message + 4);
    return forge_send(forge, TLC_RECORD_HANDSHAKE, message, 4 + bytes);
}
