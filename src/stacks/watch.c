#include "stacks/watch.h"

#include <string.h>

#include "base/names.h"

enum { CHANGE_CIPHER_SPEC = 20, HANDSHAKE = 22 }; // RFC 8446, 5.1
enum {
    SERVER_HELLO = 2,
    NEW_SESSION_TICKET = 4,
    CERTIFICATE = 11,
    SERVER_KEY_EXCHANGE = 12
};                                                                     // RFC 5246, 7.4
enum { PRE_SHARED_KEY = 41, SUPPORTED_VERSIONS = 43, KEY_SHARE = 51 }; // RFC 8446, 4.2
enum { MESSAGE_HEADER = 4, HELLO_RANDOM = 6, HELLO_SESSION = 38 };

// RFC 8446, 4.1.3: the random of a HelloRetryRequest.
static const uint8_t retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static uint16_t get16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

// ServerHello (RFC 8446, 4.1.3): random at 6, session id at 38, then cipher, compression and the
// extensions; of these key_share (4.2.8) tells the group.
void tlc_hello_read(struct tlc_hello *hello, const uint8_t *message, size_t count)
{
    if (count <= HELLO_SESSION)
        return;
    if (!memcmp(message + HELLO_RANDOM, retry_random, sizeof retry_random)) {
        hello->hello_retry_request = true;
        return;
    }
    hello->version = get16(message + MESSAGE_HEADER);
    size_t at = HELLO_SESSION + 1u + message[HELLO_SESSION] + 3u + 2u;
    while (at + 4 <= count) {
        uint16_t type = get16(message + at);
        size_t size = get16(message + at + 2);
        if (size >= 2 && at + 6 <= count) {
            if (type == KEY_SHARE)
                hello->group = get16(message + at + 4);
            if (type == PRE_SHARED_KEY)
                hello->psk = true;
            if (type == SUPPORTED_VERSIONS)
                hello->version = get16(message + at + 4);
        }
        at += 4 + size;
    }
    hello->done = hello->version == TLC_TLS13; // what follows is encrypted
}

// ServerKeyExchange of ECDHE (RFC 8422, 5.4): curve type 3, group, point, then scheme and
// signature.
void tlc_hello_read_key_exchange(struct tlc_hello *hello, const uint8_t *message, size_t count)
{
    if (count < 8 || message[4] != 3)
        return;
    hello->group = get16(message + 5);
    size_t scheme = 8u + message[7];
    if (scheme + 2 <= count)
        hello->server_signature = get16(message + scheme);
}

static void end_message(struct tlc_watch *watch)
{
    size_t kept =
        watch->message_size < TLC_WATCH_KEPT ? watch->message_size : (size_t)TLC_WATCH_KEPT;
    if (watch->message[0] == SERVER_HELLO)
        tlc_hello_read(&watch->hello, watch->message, kept);
    else if (watch->message[0] == CERTIFICATE)
        watch->hello.certificate = true;
    else if (watch->message[0] == NEW_SESSION_TICKET)
        watch->hello.ticket = true;
    else if (watch->message[0] == SERVER_KEY_EXCHANGE)
        tlc_hello_read_key_exchange(&watch->hello, watch->message, kept);
    watch->message_bytes = watch->message_size = 0;
}

// Takes bytes of one message; returns how many belong to it.
static size_t take_message(struct tlc_watch *watch, const uint8_t *bytes, size_t count)
{
    size_t wanted = watch->message_bytes < MESSAGE_HEADER
                        ? MESSAGE_HEADER - watch->message_bytes
                        : watch->message_size - watch->message_bytes;
    size_t taken = count < wanted ? count : wanted;
    if (watch->message_bytes < TLC_WATCH_KEPT) {
        size_t room = TLC_WATCH_KEPT - watch->message_bytes;
        memcpy(watch->message + watch->message_bytes, bytes, taken < room ? taken : room);
    }
    watch->message_bytes += taken;
    if (watch->message_bytes == MESSAGE_HEADER && !watch->message_size)
        watch->message_size = MESSAGE_HEADER + ((size_t)watch->message[1] << 16 |
                                                (size_t)watch->message[2] << 8 | watch->message[3]);
    if (watch->message_size && watch->message_bytes == watch->message_size)
        end_message(watch);
    return taken;
}

static size_t take_head(struct tlc_watch *watch, const uint8_t *bytes, size_t count)
{
    size_t wanted = sizeof watch->head - watch->head_bytes;
    size_t taken = count < wanted ? count : wanted;
    memcpy(watch->head + watch->head_bytes, bytes, taken);
    watch->head_bytes += taken;
    if (watch->head_bytes < sizeof watch->head)
        return taken;
    watch->head_bytes = 0;
    watch->record_left = get16(watch->head + 3);
    // A ChangeCipherSpec behind a HelloRetryRequest means nothing (RFC 8446, D.4); behind a TLS 1.2
    // ServerHello all is encrypted, and so is every record that is no handshake.
    if (watch->head[0] != HANDSHAKE &&
        (watch->head[0] != CHANGE_CIPHER_SPEC || !watch->hello.hello_retry_request))
        watch->hello.done = true;
    return taken;
}

void tlc_watch_bytes(struct tlc_watch *watch, const uint8_t *bytes, size_t count)
{
    while (count && !watch->hello.done) {
        size_t taken;
        if (!watch->record_left) {
            taken = take_head(watch, bytes, count);
        } else {
            taken = count < watch->record_left ? count : watch->record_left;
            if (watch->head[0] == HANDSHAKE)
                taken = take_message(watch, bytes, taken);
            watch->record_left -= taken;
        }
        bytes += taken;
        count -= taken;
    }
}
