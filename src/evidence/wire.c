#include "evidence/wire.h"

#include <string.h>

// Content types (RFC 8446, 5.1) and handshake types (RFC 8446, 4).
enum { CHANGE_CIPHER_SPEC = 20, ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, NEW_SESSION_TICKET = 4 };

// RFC 8446, 4.1.3: the random of a ServerHello that is a HelloRetryRequest.
static const uint8_t retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

bool tlc_wire_record_size(const uint8_t *bytes, size_t count, size_t *size)
{
    *size = 0;
    if (count && (bytes[0] < CHANGE_CIPHER_SPEC || bytes[0] > APPLICATION_DATA))
        return false;
    if (count > 1 && bytes[1] != 3)
        return false;
    if (count < TLC_RECORD_HEADER)
        return true;
    *size = TLC_RECORD_HEADER + ((size_t)bytes[3] << 8 | bytes[4]);
    return *size <= TLC_RECORD_MAX;
}

int tlc_wire_alert(const uint8_t *record, size_t count)
{
    enum { FATAL = 2 };
    bool is_one = count == TLC_RECORD_HEADER + 2 && record[0] == ALERT && record[5] == FATAL;
    return is_one ? record[6] : -1;
}

static void client_record(struct tlc_wire *wire, const uint8_t *head, size_t size)
{
    bool handshake = head[0] == HANDSHAKE;
    if (handshake && head[TLC_RECORD_HEADER] == CLIENT_HELLO && !wire->client_answered) {
        wire->client_hello += size;
        return;
    }
    // A lone ChangeCipherSpec may go out early (RFC 8446, D.4) and answers nothing.
    wire->client_answered = wire->client_answered || handshake || head[0] == APPLICATION_DATA;
    wire->client_flight += size;
}

void tlc_wire_client(struct tlc_wire *wire, const uint8_t *bytes, size_t count)
{
    while (count) {
        if (wire->left) {
            size_t skipped = count < wire->left ? count : wire->left;
            wire->left -= skipped;
            bytes += skipped;
            count -= skipped;
            continue;
        }
        wire->head[wire->head_bytes++] = *bytes++;
        count--;
        size_t length = (size_t)wire->head[3] << 8 | wire->head[4];
        bool empty = wire->head_bytes == TLC_RECORD_HEADER && !length;
        if (wire->head_bytes < sizeof wire->head && !empty)
            continue;
        client_record(wire, wire->head, TLC_RECORD_HEADER + length);
        wire->left = length ? length - 1 : 0;
        memset(wire->head, 0, sizeof wire->head);
        wire->head_bytes = 0;
    }
}

static bool is_message(const uint8_t *record, size_t count, uint8_t type)
{
    return count > TLC_RECORD_HEADER && record[0] == HANDSHAKE && record[5] == type;
}

static bool is_retry(const uint8_t *record, size_t count)
{
    enum { RANDOM = TLC_RECORD_HEADER + 4 + 2 }; // handshake header, legacy_version
    return is_message(record, count, SERVER_HELLO) && count >= RANDOM + sizeof retry_random &&
           !memcmp(record + RANDOM, retry_random, sizeof retry_random);
}

// Behind the handshake header (RFC 5077, 3.3).
static uint32_t lifetime_hint(const uint8_t *record, size_t count)
{
    const uint8_t *at = record + TLC_RECORD_HEADER + 4;
    if (count < TLC_RECORD_HEADER + 4 + 4)
        return 0;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void tlc_wire_server(struct tlc_wire *wire, const uint8_t *record, size_t count)
{
    if (is_retry(record, count)) {
        wire->retried = true;
        wire->hello_retry_request += count;
        return;
    }
    bool changes_cipher = count && record[0] == CHANGE_CIPHER_SPEC;
    if (wire->retried && !wire->server_hello && changes_cipher) {
        wire->hello_retry_request += count;
        return;
    }
    if (!wire->server_hello && is_message(record, count, SERVER_HELLO))
        wire->server_hello = true;
    if (!wire->server_cipher_changed && is_message(record, count, NEW_SESSION_TICKET)) {
        wire->tickets += count;
        wire->ticket_lifetime_s = lifetime_hint(record, count);
    } else if (wire->client_answered)
        wire->server_finished += count;
    else
        wire->server_flight += count;
    wire->server_cipher_changed = wire->server_cipher_changed || changes_cipher;
}
