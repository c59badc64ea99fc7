// What plug-ins read from a server's plaintext messages, in any split of the bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/names.h"
#include "stacks/transport.h"
#include "stacks/watch.h"

struct flight {
    uint8_t bytes[4096];
    size_t count;
};

static void put(struct flight *flight, const void *bytes, size_t count)
{
    assert_true(flight->count + count <= sizeof flight->bytes);
    memcpy(flight->bytes + flight->count, bytes, count);
    flight->count += count;
}

static void put_byte(struct flight *flight, unsigned value, size_t width)
{
    for (size_t i = width; i-- > 0;) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        put(flight, &byte, 1);
    }
}

static void put_record(struct flight *flight, unsigned type, const void *bytes, size_t count)
{
    put_byte(flight, type, 1);
    put_byte(flight, 0x0303, 2);
    put_byte(flight, (unsigned)count, 2);
    put(flight, bytes, count);
}

// RFC 8446, 4.1.3: the random of a HelloRetryRequest begins so.
static const uint8_t retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

// A ServerHello with a session id of 32 bytes and the extensions given.
static void put_hello(struct flight *flight, bool retry, const struct flight *extensions)
{
    const uint8_t zeros[32] = {0};
    put_byte(flight, 2, 1);
    put_byte(flight, (unsigned)(2 + 32 + 33 + 3 + 2 + extensions->count), 3);
    put_byte(flight, 0x0303, 2);
    put(flight, retry ? retry_random : zeros, 32);
    put_byte(flight, 32, 1);
    put(flight, zeros, 32);
    put_byte(flight, 0x1301, 2);
    put_byte(flight, 0, 1);
    put_byte(flight, (unsigned)extensions->count, 2);
    put(flight, extensions->bytes, extensions->count);
}

static void put_extension(struct flight *extensions, unsigned type, unsigned value, size_t size)
{
    const uint8_t zeros[1200] = {0};
    put_byte(extensions, type, 2);
    put_byte(extensions, (unsigned)size, 2);
    put_byte(extensions, value, 2);
    put(extensions, zeros, size - 2);
}

static struct tlc_hello watch_in_pieces(const struct flight *flight, size_t piece)
{
    struct tlc_watch watch = {.head_bytes = 0};
    for (size_t at = 0; at < flight->count; at += piece) {
        size_t left = flight->count - at;
        tlc_watch_bytes(&watch, flight->bytes + at, left < piece ? left : piece);
    }
    return watch.hello;
}

static const size_t pieces[] = {1, 2, 5, 7, 100, 4096};
#define PIECES (sizeof pieces / sizeof *pieces)

static void reads_a_retry_and_a_hello_behind_it(void **state)
{
    (void)state;
    struct flight flight = {.count = 0}, retry = {.count = 0}, hello = {.count = 0};
    struct flight asked = {.count = 0}, chosen = {.count = 0};
    put_extension(&asked, 43, 0x0304, 2);
    put_extension(&asked, 51, TLC_GROUP_SECP384R1, 2);
    put_extension(&chosen, 43, 0x0304, 2);
    put_extension(&chosen, 41, 0, 2);
    put_extension(&chosen, 51, TLC_GROUP_X25519MLKEM768, 1124);
    put_hello(&retry, true, &asked);
    put_hello(&hello, false, &chosen);
    put_record(&flight, 22, retry.bytes, retry.count);
    put_record(&flight, 20, "\1", 1);
    put_record(&flight, 22, hello.bytes, hello.count);
    put_record(&flight, 23, "encrypted", 9);
    for (size_t i = 0; i < PIECES; i++) {
        struct tlc_hello seen = watch_in_pieces(&flight, pieces[i]);
        assert_int_equal(seen.version, TLC_TLS13);
        assert_int_equal(seen.group, TLC_GROUP_X25519MLKEM768);
        assert_true(seen.hello_retry_request);
        assert_true(seen.psk);
        assert_true(seen.done);
    }
}

// The messages of TLS 1.2 in records that end anywhere.
static void reads_messages_across_records(void **state)
{
    (void)state;
    struct flight messages = {.count = 0}, none = {.count = 0};
    const uint8_t zeros[1000] = {0};
    put_hello(&messages, false, &none);
    put_byte(&messages, 11, 1);
    put_byte(&messages, 1000, 3);
    put(&messages, zeros, 1000);
    put_byte(&messages, 12, 1);
    put_byte(&messages, 4 + 32 + 4 + 70, 3);
    put_byte(&messages, 3, 1);
    put_byte(&messages, TLC_GROUP_X25519, 2);
    put_byte(&messages, 32, 1);
    put(&messages, zeros, 32);
    put_byte(&messages, 0x0403, 2);
    put_byte(&messages, 70, 2);
    put(&messages, zeros, 70);
    for (size_t size = 11; size < 300; size += 37) {
        struct flight flight = {.count = 0};
        for (size_t at = 0; at < messages.count; at += size)
            put_record(&flight, 22, messages.bytes + at,
                       messages.count - at < size ? messages.count - at : size);
        for (size_t i = 0; i < PIECES; i++) {
            struct tlc_hello seen = watch_in_pieces(&flight, pieces[i]);
            assert_int_equal(seen.version, TLC_TLS12);
            assert_int_equal(seen.group, TLC_GROUP_X25519);
            assert_int_equal(seen.server_signature, 0x0403);
            assert_true(seen.certificate);
            assert_false(seen.hello_retry_request);
        }
    }
}

static void knows_a_resumption_of_tls12(void **state)
{
    (void)state;
    struct flight flight = {.count = 0}, hello = {.count = 0}, none = {.count = 0};
    put_hello(&hello, false, &none);
    put_byte(&hello, 4, 1); // NewSessionTicket without a body
    put_byte(&hello, 0, 3);
    put_record(&flight, 22, hello.bytes, hello.count);
    put_record(&flight, 20, "\1", 1);
    put_record(&flight, 22, "\13\0\0\0 that is no Certificate: encrypted", 30);
    for (size_t i = 0; i < PIECES; i++) {
        struct tlc_hello seen = watch_in_pieces(&flight, pieces[i]);
        assert_int_equal(seen.version, TLC_TLS12);
        assert_int_equal(seen.group, 0);
        assert_false(seen.certificate);
        assert_true(seen.ticket);
        assert_true(seen.done);
    }
}

// Sizes that lie, and bytes that are no TLS: nothing is read beyond what is there.
static void bears_any_bytes(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        struct flight flight = {.count = 0}, hello = {.count = 0}, extensions = {.count = 0};
        put_extension(&extensions, 43, 0x0304, 2);
        put_extension(&extensions, 51, TLC_GROUP_X25519, 34);
        put_hello(&hello, false, &extensions);
        put_record(&flight, 22, hello.bytes, hello.count);
        for (int change = 0; change < 4; change++) {
            random = random * 1664525u + 1013904223u;
            flight.bytes[(random >> 8) % flight.count] = (uint8_t)(random >> 24);
        }
        watch_in_pieces(&flight, 1 + (size_t)round % 40);
        tlc_hello_read(&(struct tlc_hello){.version = 0}, flight.bytes + 5,
                       (size_t)round % flight.count);
        tlc_hello_read_key_exchange(&(struct tlc_hello){.version = 0}, flight.bytes + 5,
                                    (size_t)round % 12);
    }
}

static void carries_bytes_in_memory(void **state)
{
    (void)state;
    struct tlc_transport transport;
    uint8_t sent[10000], got[10000];
    size_t taken = 0, waiting;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)(i * 7);
    tlc_transport_open(&transport, -1, false);
    assert_int_equal(tlc_transport_receive(&transport, got, 1), TLC_WOULD_BLOCK);
    assert_int_equal(tlc_transport_fill(&transport), TLC_WOULD_BLOCK);
    assert_null(tlc_transport_peek(&transport, &waiting));
    for (size_t at = 0; at < sizeof sent; at += 100) {
        assert_true(tlc_transport_feed(&transport, sent + at, 100));
        taken += (size_t)tlc_transport_receive(&transport, got + taken, 60);
    }
    assert_memory_equal(tlc_transport_peek(&transport, &waiting), sent + taken, waiting);
    assert_int_equal(taken + waiting, sizeof sent);
    while (taken < sizeof sent)
        taken += (size_t)tlc_transport_receive(&transport, got + taken, 999);
    assert_memory_equal(got, sent, sizeof sent);
    assert_int_equal(tlc_transport_send(&transport, sent, sizeof sent), sizeof sent);
    assert_int_equal(tlc_transport_take(&transport, got, sizeof got), sizeof sent);
    assert_memory_equal(got, sent, sizeof sent);
    tlc_transport_close(&transport);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_retry_and_a_hello_behind_it),
        cmocka_unit_test(reads_messages_across_records),
        cmocka_unit_test(knows_a_resumption_of_tls12),
        cmocka_unit_test(bears_any_bytes),
        cmocka_unit_test(carries_bytes_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
