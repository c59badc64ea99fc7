// The record layer (RFC 8446, 5).
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "tls13/handshake.h"

bool tlc_read_keys_set(struct tlc_tls13_client *client, enum tlc_keys keys)
{
    const struct tlc_suite *suite = client->now.suite;
    uint8_t key[32], iv[TLC_AEAD_IV_BYTES];
    struct tlc_hmac_key secret;
    if (keys == TLC_KEYS_APPLICATION)
        tlc_hmac_key_init(&secret, suite->hash, client->schedule.server_application,
                          tlc_hash_bytes(suite->hash));
    tlc_traffic_keys(keys == TLC_KEYS_APPLICATION ? &secret : &client->schedule.server_handshake,
                     suite, key, iv);
    if (!tlc_aead_set_key(&client->read, &client->config->runtime->opener, suite, false, key, iv))
        return tlc_client_crypto_failed(client);
    client->now.read_keys = keys;
    return true;
}

bool tlc_write_keys_set(struct tlc_tls13_client *client, enum tlc_keys keys)
{
    const struct tlc_suite *suite = client->now.suite;
    uint8_t key[32], iv[TLC_AEAD_IV_BYTES];
    struct tlc_hmac_key secret;
    if (keys == TLC_KEYS_APPLICATION)
        tlc_hmac_key_init(&secret, suite->hash, client->schedule.client_application,
                          tlc_hash_bytes(suite->hash));
    tlc_traffic_keys(keys == TLC_KEYS_APPLICATION ? &secret : &client->schedule.client_handshake,
                     suite, key, iv);
    if (!tlc_aead_set_key(&client->write, &client->config->runtime->sealer, suite, true, key, iv))
        return tlc_client_crypto_failed(client);
    client->now.write_keys = keys;
    return true;
}

static void write_header(uint8_t *header, uint8_t type, size_t count)
{
    header[0] = type;
    header[1] = TLC_TLS12 >> 8;
    header[2] = TLC_TLS12 & 0xff;
    header[3] = (uint8_t)(count >> 8);
    header[4] = (uint8_t)count;
}

static bool put_one(struct tlc_tls13_client *client, enum tlc_record_type type,
                    const uint8_t *bytes, size_t count)
{
    size_t most = TLC_RECORD_HEADER_BYTES + count + 1 + TLC_AEAD_TAG_BYTES;
    if (!tlc_buffer_reserve(&client->out, most))
        return tlc_client_out_of_memory(client);
    uint8_t *header = client->out.bytes + client->out.count;
    uint8_t *body = header + TLC_RECORD_HEADER_BYTES;
    memcpy(body, bytes, count);
    if (client->now.write_keys == TLC_KEYS_NONE) {
        write_header(header, (uint8_t)type, count);
        client->out.count += TLC_RECORD_HEADER_BYTES + count;
        return true;
    }
    body[count] = (uint8_t)type; // TLSInnerPlaintext (RFC 8446, 5.2), without padding
    write_header(header, TLC_RECORD_DATA, count + 1 + TLC_AEAD_TAG_BYTES);
    if (!tlc_aead_seal(&client->write, header, body, count + 1, body))
        return tlc_client_crypto_failed(client);
    client->out.count += most;
    return true;
}

bool tlc_record_put(struct tlc_tls13_client *client, enum tlc_record_type type,
                    const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        size_t part = count < TLC_MAX_PLAINTEXT ? count : TLC_MAX_PLAINTEXT;
        if (!put_one(client, type, bytes, part))
            return false;
        bytes += part;
        count -= part;
    }
    return true;
}

// RFC 8446, 5: a change_cipher_spec of one byte 1, before the handshake ends, is dropped.
static bool take_ccs(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    if (count != 1 || bytes[0] != 1 || client->now.phase == TLC_PHASE_CONNECTED)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "record: change_cipher_spec where none may be");
    return true;
}

static bool take_alert(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    if (count != 2)
        return tlc_client_fault(client, TLC_ALERT_DECODE_ERROR, "decode", "alert: wrong length");
    if (bytes[1] == TLC_ALERT_USER_CANCELED) // RFC 8446, 6.1: close_notify follows
        return true;
    if (bytes[1] == TLC_ALERT_CLOSE_NOTIFY && client->now.phase == TLC_PHASE_CONNECTED) {
        client->now.peer_closed = true;
        return true;
    }
    client->now.fault.kind = "alert";
    client->now.state = TLC_TLS13_FAILED;
    snprintf(client->now.failure, sizeof(client->now.failure), "server alert: %s",
             bytes[1] == TLC_ALERT_CLOSE_NOTIFY ? "close_notify"
                                                : tlc_name(TLC_NAME_ALERT, bytes[1]));
    return false;
}

static bool take_data(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    struct tlc_buffer *kept = &client->data;
    if (client->now.phase != TLC_PHASE_CONNECTED)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "record: application data within the handshake");
    client->data_bytes += count;
    client->now.updates = 0;
    if (kept->count + count > TLC_MAX_KEPT_DATA)
        tlc_buffer_consume(kept, kept->count + count - TLC_MAX_KEPT_DATA);
    return tlc_buffer_append(kept, bytes, count) || tlc_client_out_of_memory(client);
}

// Bytes of the message that begins at `header`, its own header included; 0: not known yet.
static size_t message_bytes(const uint8_t *header, size_t count)
{
    if (count < 4)
        return 0;
    return 4 + ((size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3]);
}

// Hands the whole messages in front of `bytes` on; *used is how many bytes they have.
static bool take_messages(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count,
                          size_t *used)
{
    for (*used = 0; client->now.state != TLC_TLS13_STOPPED;) {
        size_t there = count - *used, need = message_bytes(bytes + *used, there);
        if (need > TLC_MAX_MESSAGE)
            return tlc_client_fault(client, TLC_ALERT_ILLEGAL_PARAMETER, "decode",
                                    "handshake message: longer than 128 KiB");
        if (need == 0 || need > there)
            break;
        if (!tlc_handshake_message(client, bytes + *used, need, need == there))
            return false;
        *used += need;
    }
    return true;
}

// Messages are read where they lie; only one that goes on in another record is copied.
static bool take_handshake(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    struct tlc_buffer *messages = &client->messages;
    size_t used;
    if (messages->count == 0) {
        if (!take_messages(client, bytes, count, &used))
            return false;
        return tlc_buffer_append(messages, bytes + used, count - used) ||
               tlc_client_out_of_memory(client);
    }
    if (!tlc_buffer_append(messages, bytes, count))
        return tlc_client_out_of_memory(client);
    if (!take_messages(client, messages->bytes, messages->count, &used))
        return false;
    tlc_buffer_consume(messages, used);
    return true;
}

static bool take_plaintext(struct tlc_tls13_client *client, uint8_t type, const uint8_t *bytes,
                           size_t count)
{
    if (count > TLC_MAX_PLAINTEXT)
        return tlc_client_fault(client, TLC_ALERT_RECORD_OVERFLOW, "record",
                                "record: plaintext longer than 2^14 bytes");
    if (count == 0 && type != TLC_RECORD_DATA) // RFC 8446, 5.1
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "record", "record: empty");
    if (client->messages.count > 0 && type != TLC_RECORD_HANDSHAKE)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "record: another type between parts of a handshake message");
    if (type == TLC_RECORD_ALERT)
        return take_alert(client, bytes, count);
    if (type == TLC_RECORD_DATA)
        return take_data(client, bytes, count);
    if (type != TLC_RECORD_HANDSHAKE)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "record",
                                "record: unknown type");
    return take_handshake(client, bytes, count);
}

// Strips TLSInnerPlaintext's padding (RFC 8446, 5.4).
static bool take_inner(struct tlc_tls13_client *client, const uint8_t *inner, size_t count)
{
    while (count > 0 && inner[count - 1] == 0)
        count--;
    if (count == 0)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "record",
                                "record: nothing but padding");
    return take_plaintext(client, inner[count - 1], inner, count - 1);
}

static bool take_protected(struct tlc_tls13_client *client, const uint8_t *record, size_t count)
{
    uint8_t inner[TLC_MAX_CIPHERTEXT];
    const uint8_t *body = record + TLC_RECORD_HEADER_BYTES;
    size_t text = count - TLC_RECORD_HEADER_BYTES;
    if (client->now.phase == TLC_PHASE_CONNECTED && client->now.read_keys == TLC_KEYS_HANDSHAKE &&
        !(tlc_application_secrets(client) && tlc_read_keys_set(client, TLC_KEYS_APPLICATION)))
        return false;
    if (!tlc_aead_open(&client->read, record, body, text, inner))
        return tlc_client_fault(client, TLC_ALERT_BAD_RECORD_MAC, "record",
                                "record: its protection does not verify");
    text -= TLC_AEAD_TAG_BYTES;
    if (text > TLC_MAX_PLAINTEXT + 1)
        return tlc_client_fault(client, TLC_ALERT_RECORD_OVERFLOW, "record",
                                "record: plaintext longer than 2^14 bytes");
    return take_inner(client, inner, text);
}

static bool take_record(struct tlc_tls13_client *client, const uint8_t *record, size_t count)
{
    uint8_t type = record[0];
    const uint8_t *body = record + TLC_RECORD_HEADER_BYTES;
    size_t body_bytes = count - TLC_RECORD_HEADER_BYTES;
    if (type == TLC_RECORD_CCS)
        return take_ccs(client, body, body_bytes);
    if (client->now.read_keys == TLC_KEYS_NONE) {
        if (type == TLC_RECORD_DATA)
            return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                    "record: protected before ServerHello");
        return take_plaintext(client, type, body, body_bytes);
    }
    if (type != TLC_RECORD_DATA)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                "record: not protected after ServerHello");
    return take_protected(client, record, count);
}

bool tlc_record_take(struct tlc_tls13_client *client, const uint8_t *record, size_t count)
{
    bool before = client->now.phase == TLC_PHASE_CONNECTED;
    if (!take_record(client, record, count))
        return false;
    // From the record of ServerHello on, not the HelloRetryRequest's.
    if (!before && client->now.phase != TLC_PHASE_SERVER_HELLO)
        client->evidence.server_flight_bytes += (uint32_t)count;
    return true;
}
