// The client's side of the handshake (RFC 8446, 2 and A.1), one function for each message.
#include "tls13/handshake.h"

#include <openssl/err.h>
#include <string.h>

#include "base/names.h"

// The keys that the server expects an alert under (RFC 8446, 6); it may have failed because of
// them.
static bool alert_keys(struct tlc_tls13_client *client)
{
    if (client->now.phase == TLC_PHASE_CONNECTED && client->now.write_keys != TLC_KEYS_NONE)
        return client->now.write_keys == TLC_KEYS_APPLICATION ||
               (tlc_application_secrets(client) &&
                tlc_write_keys_set(client, TLC_KEYS_APPLICATION));
    return client->now.read_keys == TLC_KEYS_NONE || client->now.write_keys != TLC_KEYS_NONE ||
           tlc_write_keys_set(client, TLC_KEYS_HANDSHAKE);
}

bool tlc_client_fault(struct tlc_tls13_client *client, enum tlc_alert alert, const char *kind,
                      const char *text)
{
    const uint8_t bytes[2] = {2, (uint8_t)alert}; // fatal
    const struct tlc_fault fault = {alert, kind, text};
    if (client->now.state == TLC_TLS13_FAILED) // the first reason stands
        return false;
    client->now.state = TLC_TLS13_FAILED;
    client->now.fault = fault;
    ERR_clear_error(); // what libcrypto left must not meet another user of the thread's queue
    if (client->sent == client->out.count)
        client->sent = client->out.count = 0;
    return alert_keys(client) && tlc_record_put(client, TLC_RECORD_ALERT, bytes, sizeof(bytes)) &&
           false;
}

bool tlc_client_out_of_memory(struct tlc_tls13_client *client)
{
    return tlc_client_fault(client, TLC_ALERT_INTERNAL_ERROR, "internal", "client: out of memory");
}

bool tlc_client_crypto_failed(struct tlc_tls13_client *client)
{
    return tlc_client_fault(client, TLC_ALERT_INTERNAL_ERROR, "internal",
                            "client: libcrypto failed");
}

static bool parsed_badly(struct tlc_tls13_client *client, const struct tlc_fault *fault)
{
    return tlc_client_fault(client, fault->alert, fault->kind, fault->text);
}

static bool illegal(struct tlc_tls13_client *client, const char *kind, const char *text)
{
    return tlc_client_fault(client, TLC_ALERT_ILLEGAL_PARAMETER, kind, text);
}

bool tlc_handshake_choose_group(struct tlc_tls13_client *client, size_t index)
{
    client->now.group_index = index;
    client->now.group = tlc_group_find(client->config->groups[index]);
    return client->now.group != NULL;
}

// What ServerHello and HelloRetryRequest have in common (RFC 8446, 4.1.3).
static bool check_hello(struct tlc_tls13_client *client, const struct tlc_server_hello *hello)
{
    const struct tlc_suite *before = client->now.suite;
    if (hello->version == 0)
        return tlc_client_fault(client, TLC_ALERT_PROTOCOL_VERSION, "version",
                                "ServerHello: the server does not speak TLS 1.3");
    if (hello->version != TLC_TLS13)
        return illegal(client, "version", "ServerHello: a version that was not offered");
    if (hello->session_id.left != TLC_RANDOM_BYTES ||
        memcmp(hello->session_id.at, client->now.session_id, TLC_RANDOM_BYTES) != 0)
        return illegal(client, "decode", "ServerHello: another session id than was sent");
    if (!tlc_config_has_cipher(client->config, hello->cipher))
        return illegal(client, "cipher", "ServerHello: a cipher suite that was not offered");
    if (before != NULL && before->code != hello->cipher)
        return illegal(client, "cipher",
                       "ServerHello: another cipher suite than the HelloRetryRequest's");
    client->evidence.version = hello->version;
    client->evidence.cipher = hello->cipher;
    return true;
}

// Begins the transcript with the first ClientHello, whose hash is known only now.
static void begin_transcript(struct tlc_tls13_client *client, uint16_t cipher, const uint8_t *psk)
{
    client->now.suite = tlc_suite_find(cipher);
    tlc_schedule_start(&client->schedule, client->now.suite, psk);
    tlc_schedule_absorb(&client->schedule, client->out.bytes + TLC_RECORD_HEADER_BYTES,
                        client->now.hello_bytes);
}

static bool choose_other_group(struct tlc_tls13_client *client,
                               const struct tlc_server_hello *retry)
{
    int index = tlc_config_group_index(client->config, retry->group);
    if (index < 0)
        return illegal(client, "group", "HelloRetryRequest: a group that was not offered");
    if ((size_t)index == client->now.group_index)
        return illegal(client, "group", "HelloRetryRequest: the group whose share was sent");
    return tlc_handshake_choose_group(client, (size_t)index) || tlc_client_crypto_failed(client);
}

// RFC 8446, 4.1.4 and 4.4.1
static bool take_retry(struct tlc_tls13_client *client, const struct tlc_server_hello *retry,
                       const uint8_t *message, size_t count)
{
    struct tlc_ticket_offer *offer = &client->offer;
    if (client->evidence.hello_retry_request)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "HelloRetryRequest: a second one");
    if (!retry->has_group && retry->cookie.left == 0)
        return illegal(client, "protocol", "HelloRetryRequest: it changes nothing");
    if (retry->has_group && !choose_other_group(client, retry))
        return false;
    client->evidence.hello_retry_request = true;
    begin_transcript(client, retry->cipher, NULL);
    tlc_schedule_message_hash(&client->schedule);
    tlc_schedule_absorb(&client->schedule, message, count);
    // A PSK of another hash cannot be used with the suite that is fixed now (RFC 8446, 4.1.4).
    offer->present = offer->present && offer->hash == client->now.suite->hash;
    if (client->sent == client->out.count)
        client->sent = client->out.count = 0;
    size_t at = client->out.count;
    if (!tlc_client_hello_put(client, retry->cookie))
        return false;
    tlc_schedule_absorb(&client->schedule, client->out.bytes + at + TLC_RECORD_HEADER_BYTES,
                        client->now.hello_bytes);
    return true;
}

// The server's use of our PSK and key share (RFC 8446, 4.2.8, 4.2.9 and 4.2.11).
static bool check_exchange(struct tlc_tls13_client *client, const struct tlc_server_hello *hello)
{
    unsigned modes = client->config->psk_modes;
    if (hello->has_psk && (!client->offer.present || hello->psk_index != 0))
        return illegal(client, "psk", "ServerHello: a PSK that was not offered");
    if (hello->has_psk && tlc_suite_find(hello->cipher)->hash != client->offer.hash)
        return illegal(client, "psk", "ServerHello: a suite whose hash is not the PSK's");
    if (hello->has_psk && (modes & (hello->has_group ? 1u : 2u)) == 0)
        return illegal(client, "psk", "ServerHello: a PSK mode that was not offered");
    if (!hello->has_psk && !hello->has_group)
        return tlc_client_fault(client, TLC_ALERT_MISSING_EXTENSION, "group",
                                "ServerHello: it has neither a key share nor a PSK");
    if (hello->has_group && hello->group != client->now.group->code)
        return illegal(client, "group", "ServerHello: a key share of another group than was sent");
    client->evidence.resumed = hello->has_psk;
    client->evidence.psk_mode = !hello->has_psk ? -1 : hello->has_group ? 1 : 0;
    client->evidence.group = hello->has_group ? hello->group : 0;
    return true;
}

static bool compute_secret(struct tlc_tls13_client *client, const struct tlc_server_hello *hello,
                           uint8_t *secret)
{
    const struct tlc_group *group = client->now.group;
    const struct tlc_standing_share *standing =
        &client->config->runtime->shares[client->now.group_index];
    struct tlc_server_share parts;
    bool good = tlc_server_share_split(group, hello->share.at, hello->share.left, &parts);
    if (good && client->config->share == TLC_SHARE_CHEAP)
        good = tlc_cheap_secret(&standing->cheap, group, &parts, secret);
    else if (good)
        good = tlc_key_pair_secret(client->config->share == TLC_SHARE_REUSED ? &standing->pair
                                                                             : &client->pair,
                                   group, &parts, secret);
    return good || illegal(client, "group", "ServerHello: the key share is not valid");
}

// Whether the handshake ends on purpose at this message: nothing is computed of it then.
static bool stops_at(struct tlc_tls13_client *client, const struct tlc_server_hello *hello)
{
    enum tlc_tls13_stop stop = client->config->stop;
    if (stop != TLC_STOP_AFTER_HELLO_RETRY && (stop != TLC_STOP_AFTER_CLIENT_HELLO || hello->retry))
        return false;
    client->evidence.hello_retry_request = client->evidence.hello_retry_request || hello->retry;
    client->now.state = TLC_TLS13_STOPPED;
    return true;
}

static bool take_server_hello(struct tlc_tls13_client *client, const uint8_t *message, size_t count,
                              bool last)
{
    struct tlc_server_hello hello;
    struct tlc_fault fault;
    uint8_t secret[TLC_SECRET_MAX_BYTES];
    if (!tlc_parse_server_hello((struct tlc_reader){message + 4, count - 4}, &hello, &fault))
        return parsed_badly(client, &fault);
    if (!check_hello(client, &hello))
        return false;
    if (!last) // keys change behind it (RFC 8446, 5.1)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "ServerHello: more data in its record");
    client->evidence.cookie = client->evidence.cookie || hello.cookie.left > 0;
    if (hello.retry)
        return stops_at(client, &hello) || take_retry(client, &hello, message, count);
    if (!check_exchange(client, &hello))
        return false;
    if (stops_at(client, &hello))
        return true;
    if (hello.has_group && !compute_secret(client, &hello, secret))
        return false;
    const uint8_t *psk = hello.has_psk ? client->offer.psk : NULL;
    if (client->now.suite == NULL) {
        begin_transcript(client, hello.cipher, psk);
    } else {
        struct tlc_hash transcript = client->schedule.transcript;
        tlc_schedule_start(&client->schedule, client->now.suite, psk);
        client->schedule.transcript = transcript;
    }
    tlc_schedule_absorb(&client->schedule, message, count);
    tlc_schedule_handshake(&client->schedule, hello.has_group ? secret : NULL,
                           hello.has_group ? tlc_secret_bytes(client->now.group) : 0);
    client->now.phase = TLC_PHASE_ENCRYPTED_EXTENSIONS;
    client->now.verify_signature = !hello.has_psk && tlc_config_verify_next(client->config);
    return tlc_read_keys_set(client, TLC_KEYS_HANDSHAKE);
}

static bool take_encrypted_extensions(struct tlc_tls13_client *client, struct tlc_reader body)
{
    struct tlc_encrypted_extensions extensions;
    struct tlc_fault fault;
    if (!tlc_parse_encrypted_extensions(body, &extensions, &fault))
        return parsed_badly(client, &fault);
    if (extensions.server_name && !client->config->server_name && client->name == NULL)
        return tlc_client_fault(client, TLC_ALERT_UNSUPPORTED_EXTENSION, "extension",
                                "EncryptedExtensions: server_name was not sent");
    if (extensions.alpn.at != NULL && client->config->alpn.count == 0)
        return tlc_client_fault(client, TLC_ALERT_UNSUPPORTED_EXTENSION, "extension",
                                "EncryptedExtensions: ALPN was not offered");
    if (extensions.alpn.at != NULL) {
        if (!tlc_config_has_alpn(client->config, extensions.alpn.at, extensions.alpn.left))
            return illegal(client, "extension",
                           "EncryptedExtensions: an ALPN protocol that was not offered");
        memcpy(client->evidence.alpn, extensions.alpn.at, extensions.alpn.left);
        client->evidence.alpn[extensions.alpn.left] = '\0';
    }
    client->now.phase =
        client->evidence.resumed ? TLC_PHASE_FINISHED : TLC_PHASE_CERTIFICATE_OR_REQUEST;
    return true;
}

static bool take_certificate_request(struct tlc_tls13_client *client, struct tlc_reader body)
{
    struct tlc_reader context;
    struct tlc_fault fault;
    if (!tlc_parse_certificate_request(body, &context, &fault))
        return parsed_badly(client, &fault);
    client->now.certificate_requested = true;
    client->now.phase = TLC_PHASE_CERTIFICATE;
    return true;
}

static bool take_certificate(struct tlc_tls13_client *client, struct tlc_reader body)
{
    const struct tlc_tls13_config *config = client->config;
    struct tlc_leaf_cache *leaf = &config->runtime->leaf;
    struct tlc_certificate_message certificate;
    struct tlc_fault fault;
    if (!tlc_parse_certificate(body, &certificate, &fault))
        return parsed_badly(client, &fault);
    if (!tlc_leaf_cache_take(leaf, certificate.leaf.at, certificate.leaf.left))
        return tlc_client_out_of_memory(client);
    client->evidence.chain_count = certificate.count;
    memcpy(client->evidence.certificate_sha256, leaf->sha256, sizeof(leaf->sha256));
    const uint8_t *expected = client->name != NULL        ? client->name->certificate_sha256
                              : config->certificate_known ? config->certificate_sha256
                                                          : NULL;
    if (expected != NULL && memcmp(expected, leaf->sha256, sizeof(leaf->sha256)) != 0)
        return tlc_client_fault(client, TLC_ALERT_BAD_CERTIFICATE, "certificate",
                                "certificate: not the expected one");
    client->now.phase = TLC_PHASE_CERTIFICATE_VERIFY;
    return true;
}

// The leaf may have left the cache since its Certificate was read, when another client of the
// configuration saw another leaf in between.
static bool leaf_is_cached(const struct tlc_tls13_client *client)
{
    return memcmp(client->config->runtime->leaf.sha256, client->evidence.certificate_sha256, 32) ==
           0;
}

static bool take_certificate_verify(struct tlc_tls13_client *client, struct tlc_reader body)
{
    struct tlc_certificate_verify verify;
    struct tlc_fault fault;
    uint8_t digest[TLC_HASH_MAX_BYTES];
    if (!tlc_parse_certificate_verify(body, &verify, &fault))
        return parsed_badly(client, &fault);
    if (!tlc_signature_allowed(verify.scheme))
        return illegal(client, "signature", "CertificateVerify: a scheme that was not offered");
    client->evidence.signature = verify.scheme;
    if (client->now.verify_signature && leaf_is_cached(client)) {
        tlc_hash_snapshot(&client->schedule.transcript, digest);
        const char *wrong = tlc_signature_verify(&client->config->runtime->leaf, verify.scheme,
                                                 digest, tlc_hash_bytes(client->now.suite->hash),
                                                 verify.signature.at, verify.signature.left);
        if (wrong != NULL)
            return tlc_client_fault(client, TLC_ALERT_DECRYPT_ERROR, "signature", wrong);
        client->evidence.signature_verified = true;
    }
    client->now.phase = TLC_PHASE_FINISHED;
    return true;
}

// Our second flight: an empty Certificate where one was asked for (RFC 8446, 4.4.2), Finished.
static bool put_client_flight(struct tlc_tls13_client *client)
{
    static const uint8_t no_certificate[] = {TLC_MESSAGE_CERTIFICATE, 0, 0, 4, 0, 0, 0, 0};
    size_t bytes = tlc_hash_bytes(client->now.suite->hash);
    uint8_t finished[4 + TLC_HASH_MAX_BYTES] = {TLC_MESSAGE_FINISHED, 0, 0, (uint8_t)bytes};
    uint8_t digest[TLC_HASH_MAX_BYTES];
    if (client->sent == client->out.count)
        client->sent = client->out.count = 0;
    if (!tlc_write_keys_set(client, TLC_KEYS_HANDSHAKE))
        return false;
    memcpy(digest, client->now.finished_digest, bytes);
    if (client->now.certificate_requested) {
        if (!tlc_record_put(client, TLC_RECORD_HANDSHAKE, no_certificate, sizeof(no_certificate)))
            return false;
        tlc_schedule_absorb(&client->schedule, no_certificate, sizeof(no_certificate));
        tlc_hash_snapshot(&client->schedule.transcript, digest);
    }
    tlc_finished_mac(&client->schedule.client_handshake, digest, finished + 4);
    tlc_schedule_absorb(&client->schedule, finished, 4 + bytes);
    return tlc_record_put(client, TLC_RECORD_HANDSHAKE, finished, 4 + bytes);
}

static bool take_finished(struct tlc_tls13_client *client, struct tlc_reader body,
                          const uint8_t *message, size_t count, bool last)
{
    size_t bytes = tlc_hash_bytes(client->now.suite->hash);
    uint8_t digest[TLC_HASH_MAX_BYTES], expected[TLC_HASH_MAX_BYTES];
    if (body.left != bytes)
        return tlc_client_fault(client, TLC_ALERT_DECODE_ERROR, "finished",
                                "Finished: wrong length");
    tlc_hash_snapshot(&client->schedule.transcript, digest);
    tlc_finished_mac(&client->schedule.server_handshake, digest, expected);
    if (memcmp(expected, body.at, bytes) != 0)
        return tlc_client_fault(client, TLC_ALERT_DECRYPT_ERROR, "finished",
                                "Finished: the server's does not verify");
    if (!last)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "Finished: more data in its record");
    tlc_schedule_absorb(&client->schedule, message, count);
    tlc_hash_snapshot(&client->schedule.transcript, client->now.finished_digest);
    client->now.phase = TLC_PHASE_CONNECTED;
    if (client->config->stop == TLC_STOP_AFTER_SERVER_FLIGHT) {
        client->now.state = TLC_TLS13_STOPPED;
        return true;
    }
    if (!put_client_flight(client))
        return false;
    client->now.state = TLC_TLS13_DONE;
    return true;
}

static bool expected_type(enum tlc_phase phase, uint8_t type)
{
    switch (phase) {
    case TLC_PHASE_SERVER_HELLO:
        return type == TLC_MESSAGE_SERVER_HELLO;
    case TLC_PHASE_ENCRYPTED_EXTENSIONS:
        return type == TLC_MESSAGE_ENCRYPTED_EXTENSIONS;
    case TLC_PHASE_CERTIFICATE_OR_REQUEST:
        return type == TLC_MESSAGE_CERTIFICATE || type == TLC_MESSAGE_CERTIFICATE_REQUEST;
    case TLC_PHASE_CERTIFICATE:
        return type == TLC_MESSAGE_CERTIFICATE;
    case TLC_PHASE_CERTIFICATE_VERIFY:
        return type == TLC_MESSAGE_CERTIFICATE_VERIFY;
    case TLC_PHASE_FINISHED:
        return type == TLC_MESSAGE_FINISHED;
    case TLC_PHASE_CONNECTED:
        return type == TLC_MESSAGE_NEW_SESSION_TICKET || type == TLC_MESSAGE_KEY_UPDATE;
    }
    return false;
}

static bool take_encrypted(struct tlc_tls13_client *client, uint8_t type, struct tlc_reader body)
{
    switch (type) {
    case TLC_MESSAGE_ENCRYPTED_EXTENSIONS:
        return take_encrypted_extensions(client, body);
    case TLC_MESSAGE_CERTIFICATE_REQUEST:
        return take_certificate_request(client, body);
    case TLC_MESSAGE_CERTIFICATE:
        return take_certificate(client, body);
    default:
        return take_certificate_verify(client, body);
    }
}

bool tlc_handshake_message(struct tlc_tls13_client *client, const uint8_t *message, size_t count,
                           bool last)
{
    struct tlc_reader body = {message + 4, count - 4};
    uint8_t type = message[0];
    if (!expected_type(client->now.phase, type))
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "handshake message: not the one that is due");
    if (client->now.phase == TLC_PHASE_CONNECTED)
        return tlc_post_handshake_message(client, type, body, last);
    if (type == TLC_MESSAGE_SERVER_HELLO)
        return take_server_hello(client, message, count, last);
    if (type == TLC_MESSAGE_FINISHED)
        return take_finished(client, body, message, count, last);
    if (!take_encrypted(client, type, body))
        return false;
    tlc_schedule_absorb(&client->schedule, message, count);
    return true;
}
