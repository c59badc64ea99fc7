// The public face: a handshake from start to end, input and output.
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "tls13/handshake.h"
#include "tls13/random.h"

struct tlc_tls13_client *tlc_tls13_client_new(void)
{
    return calloc(1, sizeof(struct tlc_tls13_client));
}

void tlc_tls13_client_free(struct tlc_tls13_client *client)
{
    if (client == NULL)
        return;
    tlc_buffer_free(&client->in);
    tlc_buffer_free(&client->messages);
    tlc_buffer_free(&client->out);
    tlc_buffer_free(&client->data);
    tlc_buffer_free(&client->offer.identity);
    tlc_ticket_queue_clear(&client->tickets);
    tlc_key_pair_free(&client->pair);
    OPENSSL_cleanse(client, sizeof(*client));
    free(client);
}

static void reset(struct tlc_tls13_client *client, const struct tlc_tls13_config *config,
                  uint64_t now_ms)
{
    client->config = config;
    client->now_ms = now_ms;
    // The text at the end of both is long, and empty by its first byte.
    memset(&client->now, 0, offsetof(struct tlc_handshake, failure) + 1);
    memset(&client->evidence, 0, offsetof(struct tlc_tls13_evidence, alpn) + 1);
    client->evidence.psk_mode = -1;
    client->in.count = client->messages.count = client->out.count = client->data.count = 0;
    client->sent = 0;
    client->data_bytes = 0;
    client->offer.present = false;
    tlc_ticket_queue_clear(&client->tickets);
}

static enum tlc_status take_offer(struct tlc_tls13_client *client,
                                  const struct tlc_tls13_ticket *ticket, struct tlc_error *error)
{
    if (client->config->psk_modes == 0)
        return tlc_fail(error, TLC_USAGE,
                        "lean client: ticket: the configuration has no psk mode; set psk_modes");
    if (!tlc_tls13_ticket_fresh(ticket, client->now_ms))
        return TLC_OK; // RFC 8446, 4.6.1: it must not be offered any more
    if (!tlc_ticket_offer_take(&client->offer, ticket))
        return tlc_fail(error, TLC_USAGE, "lean client: ticket: it is not one that a client gave");
    return TLC_OK;
}

enum tlc_status tlc_tls13_start(struct tlc_tls13_client *client,
                                const struct tlc_tls13_config *config,
                                const struct tlc_tls13_ticket *ticket, uint64_t now_ms,
                                struct tlc_error *error)
{
    enum tlc_status status;
    reset(client, config, now_ms);
    client->now.state = TLC_TLS13_FAILED; // until the ClientHello is there
    client->now.fault = (struct tlc_fault){TLC_ALERT_INTERNAL_ERROR, "internal",
                                           "client: libcrypto failed, or out of memory"};
    if (ticket != NULL && (status = take_offer(client, ticket, error)) != TLC_OK)
        return status;
    if (!tlc_random(client->now.random, TLC_RANDOM_BYTES) ||
        !tlc_random(client->now.session_id, TLC_RANDOM_BYTES) ||
        !tlc_handshake_choose_group(client, config->first_group) ||
        !tlc_client_hello_put(client, (struct tlc_reader){0}))
        return tlc_fail(error, TLC_ENVIRONMENT, "lean client: ClientHello: %s",
                        client->now.fault.text);
    client->now.state = TLC_TLS13_WAIT;
    return TLC_OK;
}

void tlc_tls13_visit(struct tlc_tls13_client *client, const struct tlc_tls13_name *name)
{
    client->name = name;
}

const uint8_t *tlc_tls13_output(const struct tlc_tls13_client *client, size_t *count)
{
    *count = client->out.count - client->sent;
    return client->out.bytes + client->sent;
}

void tlc_tls13_output_sent(struct tlc_tls13_client *client, size_t count)
{
    size_t pending = client->out.count - client->sent;
    client->sent += count < pending ? count : pending;
}

// Bytes of the record that begins at `bytes`; 0: not known yet. Larger than any record may be when
// its length is out of bounds.
static size_t record_bytes(const uint8_t *bytes, size_t count)
{
    if (count < TLC_RECORD_HEADER_BYTES)
        return 0;
    return TLC_RECORD_HEADER_BYTES + ((size_t)bytes[3] << 8 | bytes[4]);
}

static bool check_header(struct tlc_tls13_client *client, const uint8_t *header)
{
    size_t most = header[0] == TLC_RECORD_DATA ? TLC_MAX_CIPHERTEXT : TLC_MAX_PLAINTEXT;
    if (header[0] < TLC_RECORD_CCS || header[0] > TLC_RECORD_DATA || header[1] != 3)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE,
                                client->now.read_keys == TLC_KEYS_NONE ? "not-tls" : "record",
                                "record: this is not TLS");
    if (((size_t)header[3] << 8 | header[4]) > most)
        return tlc_client_fault(client, TLC_ALERT_RECORD_OVERFLOW, "record",
                                "record: longer than the protocol allows");
    return true;
}

static bool running(const struct tlc_tls13_client *client)
{
    return (client->now.state == TLC_TLS13_WAIT || client->now.state == TLC_TLS13_DONE) &&
           !client->now.peer_closed;
}

// Takes whole records from the front of `bytes`; returns how many bytes it used.
static size_t take_records(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    size_t at = 0;
    while (running(client)) {
        size_t need = record_bytes(bytes + at, count - at);
        if (need == 0)
            break;
        if (!check_header(client, bytes + at))
            break;
        if (need > count - at)
            break;
        if (!tlc_record_take(client, bytes + at, need))
            break;
        at += need;
    }
    return at;
}

// Completes the record begun in `in`; returns how many of the new bytes it took.
static size_t fill_record(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count)
{
    size_t header = TLC_RECORD_HEADER_BYTES, had = client->in.count;
    size_t want = had < header ? header : record_bytes(client->in.bytes, had);
    size_t part = want - had < count ? want - had : count;
    if (!tlc_buffer_append(&client->in, bytes, part)) {
        tlc_client_out_of_memory(client);
        return 0;
    }
    client->in.count -= take_records(client, client->in.bytes, client->in.count);
    return part;
}

enum tlc_tls13_state tlc_tls13_input(struct tlc_tls13_client *client, const uint8_t *bytes,
                                     size_t count, uint64_t now_ms)
{
    client->now_ms = now_ms;
    client->now.hello_seen = client->now.hello_seen || count > 0;
    while (count > 0 && client->in.count > 0 && running(client)) {
        size_t part = fill_record(client, bytes, count);
        bytes += part;
        count -= part;
    }
    if (count == 0 || !running(client))
        return client->now.state;
    size_t used = take_records(client, bytes, count);
    if (running(client) && !tlc_buffer_append(&client->in, bytes + used, count - used))
        tlc_client_out_of_memory(client);
    return client->now.state;
}

enum tlc_tls13_state tlc_tls13_state(const struct tlc_tls13_client *client)
{
    return client->now.state;
}

const char *tlc_tls13_failure(const struct tlc_tls13_client *client)
{
    if (client->now.state != TLC_TLS13_FAILED)
        return "";
    return client->now.failure[0] != '\0' ? client->now.failure : client->now.fault.text;
}

const char *tlc_tls13_failure_kind(const struct tlc_tls13_client *client)
{
    return client->now.state == TLC_TLS13_FAILED ? client->now.fault.kind : "";
}

const struct tlc_tls13_evidence *tlc_tls13_evidence(const struct tlc_tls13_client *client)
{
    return &client->evidence;
}

bool tlc_tls13_server_hello_seen(const struct tlc_tls13_client *client)
{
    return client->now.hello_seen;
}

bool tlc_tls13_take_ticket(struct tlc_tls13_client *client, struct tlc_tls13_ticket *ticket)
{
    return tlc_ticket_queue_take(&client->tickets, ticket);
}

bool tlc_tls13_peer_closed(const struct tlc_tls13_client *client)
{
    return client->now.peer_closed;
}

static enum tlc_status put_protected(struct tlc_tls13_client *client, enum tlc_record_type type,
                                     const uint8_t *bytes, size_t count, struct tlc_error *error)
{
    if (client->now.state != TLC_TLS13_DONE || client->now.closed)
        return tlc_fail(error, TLC_USAGE, "lean client: write: %s",
                        client->now.closed ? "the connection was closed"
                                           : "the handshake is not done");
    if (client->sent == client->out.count)
        client->sent = client->out.count = 0;
    if ((client->now.write_keys != TLC_KEYS_APPLICATION &&
         !(tlc_application_secrets(client) && tlc_write_keys_set(client, TLC_KEYS_APPLICATION))) ||
        !tlc_record_put(client, type, bytes, count))
        return tlc_fail(error, TLC_ENVIRONMENT, "lean client: write: %s", client->now.fault.text);
    return TLC_OK;
}

enum tlc_status tlc_tls13_write(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count,
                                struct tlc_error *error)
{
    return put_protected(client, TLC_RECORD_DATA, bytes, count, error);
}

enum tlc_status tlc_tls13_close(struct tlc_tls13_client *client, struct tlc_error *error)
{
    static const uint8_t close_notify[2] = {1, TLC_ALERT_CLOSE_NOTIFY};
    enum tlc_status status =
        put_protected(client, TLC_RECORD_ALERT, close_notify, sizeof(close_notify), error);
    client->now.closed = client->now.closed || status == TLC_OK;
    return status;
}

const uint8_t *tlc_tls13_application_data(const struct tlc_tls13_client *client, size_t *count)
{
    *count = client->data.count;
    return client->data.bytes;
}

uint64_t tlc_tls13_application_bytes(const struct tlc_tls13_client *client)
{
    return client->data_bytes;
}
