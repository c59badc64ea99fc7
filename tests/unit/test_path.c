// The model of a long path against arithmetic.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "relay/namespace.h"
#include "relay/path.h"
#include "relay/stream.h"

enum { MS = 1000000, MSS = 1460, WINDOW = 10 * MSS };

static const struct tlc_path plain = {.one_way_ns = 75 * MS, .mss = MSS, .initial_window = 10};

struct arrivals {
    struct tlc_delivery list[4096];
    size_t count, bytes;
};

static void note(void *user, struct tlc_delivery delivery)
{
    struct arrivals *arrivals = user;
    assert_true(arrivals->count < 4096);
    arrivals->list[arrivals->count++] = delivery;
    arrivals->bytes += delivery.bytes;
}

// When the last of `bytes`, sent at once at `now_ns`, arrives.
static uint64_t last_arrival(const struct tlc_path *path, uint64_t now_ns, size_t bytes,
                             struct arrivals *arrivals)
{
    struct tlc_flow flow;
    *arrivals = (struct arrivals){.count = 0};
    tlc_flow_init(&flow, path, 1);
    assert_true(tlc_flow_send(&flow, now_ns, bytes, note, arrivals));
    tlc_flow_free(&flow);
    assert_int_equal(arrivals->bytes, bytes);
    return arrivals->list[arrivals->count - 1].at_ns;
}

static void a_flight_within_the_window_takes_one_way(void **state)
{
    (void)state;
    struct arrivals arrivals;
    assert_int_equal(last_arrival(&plain, 5 * MS, 1, &arrivals), 80 * MS);
    assert_int_equal(last_arrival(&plain, 5 * MS, WINDOW, &arrivals), 80 * MS);
    assert_int_equal(arrivals.count, 10);
    assert_int_equal(arrivals.list[9].bytes, MSS);
}

static void a_byte_beyond_the_window_waits_a_round_trip(void **state)
{
    (void)state;
    struct arrivals arrivals;
    assert_int_equal(last_arrival(&plain, 0, WINDOW + 1, &arrivals), (75 + 150) * MS);
    assert_int_equal(arrivals.list[9].at_ns, 75 * MS);
    assert_int_equal(arrivals.list[10].bytes, 1);
}

// RFC 6928 and RFC 5681, 3.1: 10, then 20, then 40 segments.
static void the_window_doubles_each_round_trip(void **state)
{
    (void)state;
    struct arrivals arrivals;
    for (unsigned rounds = 1; rounds <= 6; rounds++) {
        size_t most = (size_t)WINDOW * ((1u << rounds) - 1);
        assert_int_equal(last_arrival(&plain, 0, most, &arrivals), (75 + 150 * (rounds - 1)) * MS);
        assert_int_equal(last_arrival(&plain, 0, most + 1, &arrivals), (75 + 150 * rounds) * MS);
        assert_int_equal(tlc_path_rounds(&plain, most), rounds);
        assert_int_equal(tlc_path_rounds(&plain, most + 1), rounds + 1);
    }
    struct tlc_path small = plain;
    small.initial_window = 3;
    assert_int_equal(last_arrival(&small, 0, 3 * MSS, &arrivals), 75 * MS);
    assert_int_equal(last_arrival(&small, 0, 3 * MSS + 1, &arrivals), 225 * MS);
    assert_int_equal(tlc_path_rounds(&small, 3 * MSS + 1), 2);
}

// A server that writes its flight in pieces fills the same window.
static void pieces_share_one_window(void **state)
{
    (void)state;
    struct tlc_flow flow;
    struct arrivals arrivals = {.count = 0};
    tlc_flow_init(&flow, &plain, 1);
    for (int i = 0; i < 4; i++)
        assert_true(tlc_flow_send(&flow, (uint64_t)i * MS, 4000, note, &arrivals));
    tlc_flow_free(&flow);
    size_t first_round = 0;
    for (size_t i = 0; i < arrivals.count; i++)
        first_round += arrivals.list[i].at_ns <= 78 * MS ? arrivals.list[i].bytes : 0;
    assert_true(first_round <= WINDOW && first_round > WINDOW - MSS);
    assert_in_range(arrivals.list[arrivals.count - 1].at_ns, 225 * MS, 228 * MS);
}

// Once acknowledged, a flight leaves the whole window to the next; one that did not fill the window
// has not widened it.
static void small_flights_do_not_widen_the_window(void **state)
{
    (void)state;
    struct tlc_flow flow;
    struct arrivals arrivals = {.count = 0};
    tlc_flow_init(&flow, &plain, 1);
    assert_true(tlc_flow_send(&flow, 0, 1000, note, &arrivals));
    assert_true(tlc_flow_send(&flow, 1000 * MS, WINDOW + 1, note, &arrivals));
    assert_int_equal(arrivals.list[arrivals.count - 2].at_ns, 1075 * MS);
    assert_int_equal(arrivals.list[arrivals.count - 1].at_ns, 1225 * MS);
    tlc_flow_free(&flow);
    arrivals.count = 0;
    tlc_flow_init(&flow, &plain, 1);
    assert_true(tlc_flow_send(&flow, 0, WINDOW, note, &arrivals));
    assert_true(tlc_flow_send(&flow, 1000 * MS, 2 * WINDOW, note, &arrivals));
    assert_int_equal(arrivals.list[arrivals.count - 1].at_ns, 1075 * MS);
    tlc_flow_free(&flow);
}

static void rate_spaces_segments(void **state)
{
    (void)state;
    struct arrivals arrivals;
    struct tlc_path path = plain;
    path.rate_bits = 8 * 1500 * 1000; // a full segment each millisecond
    assert_int_equal(last_arrival(&path, 0, 5 * MSS, &arrivals), (75 + 5) * MS);
    for (size_t i = 0; i < arrivals.count; i++)
        assert_int_equal(arrivals.list[i].at_ns, (75 + i + 1) * MS);
}

static void jitter_stays_within_its_bounds_and_in_order(void **state)
{
    (void)state;
    struct arrivals arrivals, again;
    struct tlc_path path = plain;
    path.jitter_ns = 10 * MS;
    last_arrival(&path, 0, WINDOW, &arrivals);
    uint64_t before = 0;
    bool differ = false;
    for (size_t i = 0; i < arrivals.count; i++) {
        assert_in_range(arrivals.list[i].at_ns, 65 * MS, 85 * MS);
        assert_true(arrivals.list[i].at_ns >= before);
        before = arrivals.list[i].at_ns;
        differ = differ || before != arrivals.list[0].at_ns;
    }
    assert_true(differ);
    last_arrival(&path, 0, WINDOW, &again);
    assert_memory_equal(&again, &arrivals, sizeof again); // the same seed
}

static void a_lost_segment_holds_back_what_is_behind_it(void **state)
{
    (void)state;
    struct tlc_path path = plain;
    path.loss = 0.2;
    assert_int_equal(tlc_path_timeout_ns(&path), (150 + 300) * MS);
    unsigned delayed = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct tlc_flow flow;
        struct arrivals arrivals = {.count = 0};
        tlc_flow_init(&flow, &path, seed);
        assert_true(tlc_flow_send(&flow, 0, 2 * MSS, note, &arrivals));
        tlc_flow_free(&flow);
        assert_true(arrivals.list[0].at_ns <= arrivals.list[1].at_ns);
        // 75 ms, and the time-out 1, 3, 7, ... times.
        uint64_t repeats = (arrivals.list[1].at_ns - 75 * MS) / (450 * MS);
        assert_int_equal(arrivals.list[1].at_ns, 75 * MS + repeats * 450 * MS);
        assert_int_equal(repeats & (repeats + 1), 0);
        delayed += repeats > 0;
    }
    // Either of two segments: 36 % of 4000, standard deviation 30.
    assert_in_range(delayed, 1440 - 150, 1440 + 150);
}

static void after_a_loss_the_window_begins_again(void **state)
{
    (void)state;
    struct tlc_path path = plain;
    path.loss = 0.3;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct tlc_flow flow;
        struct arrivals arrivals = {.count = 0};
        tlc_flow_init(&flow, &path, seed);
        assert_true(tlc_flow_send(&flow, 0, MSS, note, &arrivals));
        bool lost = arrivals.list[0].at_ns > 75 * MS;
        path.loss = 0;
        assert_true(tlc_flow_send(&flow, 60000ull * MS, 3 * MSS, note, &arrivals));
        path.loss = 0.3;
        uint64_t last = arrivals.list[arrivals.count - 1].at_ns;
        assert_int_equal(last, (60000ull + 75 + (lost ? 150 : 0)) * MS);
        tlc_flow_free(&flow);
    }
}

static void the_handshake_of_tcp_is_a_round_trip(void **state)
{
    (void)state;
    struct tlc_dice dice = {7};
    assert_int_equal(tlc_path_handshake_ns(&plain, &dice), 150 * MS);
    struct tlc_path path = plain;
    path.loss = 0.5;
    unsigned delayed = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t took = tlc_path_handshake_ns(&path, &dice);
        assert_int_equal((took - 150 * MS) % (1000 * MS), 0);
        delayed += took > 150 * MS;
    }
    assert_in_range(delayed, 680, 820); // three quarters; standard deviation 14
}

// What the relay does with a client that sends at once, and with one that waits for its word.
static void streams_hold_back_until_the_handshake_is_over(void **state)
{
    (void)state;
    struct tlc_stream stream;
    struct tlc_delivery next;
    tlc_stream_init(&stream, &plain, 1, 150 * MS);
    tlc_stream_announce(&stream, 150 * MS, 6);
    tlc_stream_send(&stream, 1 * MS, (const uint8_t *)"hello", 5);
    tlc_stream_end(&stream, 2 * MS);
    const uint8_t *bytes = tlc_stream_next(&stream, &next);
    assert_non_null(bytes);
    assert_int_equal(*bytes, 6);
    assert_int_equal(next.at_ns, 150 * MS);
    tlc_stream_taken(&stream, 1);
    bytes = tlc_stream_next(&stream, &next);
    assert_int_equal(next.bytes, 5);
    assert_int_equal(next.at_ns, 225 * MS);
    assert_memory_equal(bytes, "hello", 5);
    tlc_stream_taken(&stream, 2); // a write that took a part
    bytes = tlc_stream_next(&stream, &next);
    assert_int_equal(next.bytes, 3);
    assert_memory_equal(bytes, "llo", 3);
    tlc_stream_taken(&stream, 3);
    assert_null(tlc_stream_next(&stream, &next));
    assert_true(stream.ended && stream.end_ns == 225 * MS && !stream.broken);
    tlc_stream_free(&stream);
}

static void streams_keep_order_over_many_sizes(void **state)
{
    (void)state;
    struct tlc_stream stream;
    struct tlc_delivery next;
    uint8_t chunk[5000];
    size_t sent = 0, got = 0;
    tlc_stream_init(&stream, &plain, 1, 0);
    for (uint64_t i = 0; i < 300; i++) {
        size_t count = (size_t)(i * 7919 % sizeof chunk) + 1;
        for (size_t j = 0; j < count; j++)
            chunk[j] = (uint8_t)((sent + j) * 31 >> 3);
        tlc_stream_send(&stream, i * MS, chunk, count);
        sent += count;
        const uint8_t *bytes;
        while ((bytes = tlc_stream_next(&stream, &next)) && next.at_ns <= i * MS) {
            size_t part = next.bytes > 100 ? 100 : next.bytes;
            for (size_t j = 0; j < part; j++)
                assert_int_equal(bytes[j], (uint8_t)((got + j) * 31 >> 3));
            got += part;
            tlc_stream_taken(&stream, part);
        }
    }
    assert_true(got > 0 && got < sent);
    while (tlc_stream_next(&stream, &next)) {
        got += next.bytes;
        tlc_stream_taken(&stream, next.bytes);
    }
    assert_int_equal(got, sent);
    tlc_stream_free(&stream);
}

static void netem_gets_the_same_path(void **state)
{
    (void)state;
    struct tlc_netem_arguments arguments;
    struct tlc_path path = {.one_way_ns = 75 * MS,
                            .jitter_ns = 2 * MS,
                            .loss = 0.01,
                            .rate_bits = 10000000,
                            .mss = MSS,
                            .initial_window = 10};
    char line[512] = "";
    tlc_netem_arguments(&path, &arguments);
    for (const char *const *word = arguments.list; *word; word++) {
        strcat(line, *word);
        strcat(line, " ");
    }
    assert_string_equal(line,
                        "tc qdisc replace dev lo root netem limit 100000 delay 75000us 2000us "
                        "loss 1.000000% rate 10000000bit ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flight_within_the_window_takes_one_way),
        cmocka_unit_test(a_byte_beyond_the_window_waits_a_round_trip),
        cmocka_unit_test(the_window_doubles_each_round_trip),
        cmocka_unit_test(pieces_share_one_window),
        cmocka_unit_test(small_flights_do_not_widen_the_window),
        cmocka_unit_test(rate_spaces_segments),
        cmocka_unit_test(jitter_stays_within_its_bounds_and_in_order),
        cmocka_unit_test(a_lost_segment_holds_back_what_is_behind_it),
        cmocka_unit_test(after_a_loss_the_window_begins_again),
        cmocka_unit_test(the_handshake_of_tcp_is_a_round_trip),
        cmocka_unit_test(streams_hold_back_until_the_handshake_is_over),
        cmocka_unit_test(streams_keep_order_over_many_sizes),
        cmocka_unit_test(netem_gets_the_same_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
