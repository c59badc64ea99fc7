// The parts of the generator that need no server: addresses, pace, expectations, counters, options.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "generator/address.h"
#include "generator/expectation.h"
#include "generator/generator.h"
#include "generator/pacer.h"
#include "generator/resumption.h"
#include "generator/tally.h"
#include "generator/visits.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static enum tlc_scope scope_of(const char *text)
{
    struct tlc_target_address address;
    struct tlc_error error;
    assert_int_equal(tlc_target_address_parse(text, &address, &error), TLC_OK);
    return address.scope;
}

static void scopes_end_where_the_standards_say(void **state)
{
    (void)state;
    static const char *const near[] = {"127.0.0.1:1",      "127.255.255.254:1",  "10.0.0.1:1",
                                       "10.255.255.255:1", "172.16.0.1:1",       "172.31.255.255:1",
                                       "192.168.0.1:1",    "169.254.1.1:1",      "[::1]:1",
                                       "[fc00::1]:1",      "[fdff::1]:1",        "[fe80::1]:1",
                                       "[febf::1]:1",      "[::ffff:10.1.2.3]:1"};
    static const char *const anywhere[] = {"126.255.255.255:1",
                                           "128.0.0.1:1",
                                           "9.255.255.255:1",
                                           "11.0.0.0:1",
                                           "172.15.255.255:1",
                                           "172.32.0.0:1",
                                           "192.167.1.1:1",
                                           "192.169.0.0:1",
                                           "169.253.1.1:1",
                                           "8.8.8.8:1",
                                           "0.0.0.0:1",
                                           "[2001:db8::1]:1",
                                           "[fbff::1]:1",
                                           "[fe00::1]:1",
                                           "[fec0::1]:1",
                                           "[::ffff:8.8.8.8]:1",
                                           "[::]:1"};
    for (size_t i = 0; i < LENGTH(near); i++)
        if (scope_of(near[i]) != TLC_SCOPE_NEAR)
            fail_msg("%s: not near", near[i]);
    for (size_t i = 0; i < LENGTH(anywhere); i++)
        if (scope_of(anywhere[i]) != TLC_SCOPE_ANYWHERE)
            fail_msg("%s: not anywhere", anywhere[i]);
    assert_int_equal(scope_of("unix:/nonexistent/socket"), TLC_SCOPE_LOCAL);
}

static void bad_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",         "127.0.0.1",   "127.0.0.1:",       ":4433",
        "::1:4433", "[::1]",       "[::1:4433",        "[]:1",
        "unix:",    "127.0.0.1:x", "1.2.3.4:99999999", "unix:/dev/null"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tlc_target_address address;
        struct tlc_error error = {.text = ""};
        if (tlc_target_address_parse(bad[i], &address, &error) != TLC_USAGE)
            fail_msg("'%s': accepted", bad[i]);
        assert_non_null(strstr(error.text, "address: "));
    }
}

static void sources_are_spread_over_loopback_only(void **state)
{
    (void)state;
    struct tlc_target_address to, first, second, again;
    struct tlc_error error;
    assert_int_equal(tlc_target_address_parse("127.0.0.1:4433", &to, &error), TLC_OK);
    assert_false(tlc_target_address_source(&to, 0, 1, &first));
    assert_true(tlc_target_address_source(&to, 0, 2, &first));
    assert_true(tlc_target_address_source(&to, 1, 2, &second));
    assert_true(tlc_target_address_source(&to, 2, 2, &again));
    assert_memory_not_equal(&first.storage, &second.storage, sizeof first.storage);
    assert_memory_equal(&first.storage, &again.storage, sizeof first.storage);
    const struct sockaddr_in *ip = (const struct sockaddr_in *)&second.storage;
    assert_int_equal(ntohl(ip->sin_addr.s_addr) >> 24, 127);
    assert_int_equal(tlc_target_address_parse("10.0.0.1:4433", &to, &error), TLC_OK);
    assert_false(tlc_target_address_source(&to, 0, 2, &first));
    assert_int_equal(tlc_target_address_parse("[::1]:4433", &to, &error), TLC_OK);
    assert_false(tlc_target_address_source(&to, 0, 2, &first));
}

static void closed_loop_starts_at_once_until_time_or_count(void **state)
{
    (void)state;
    struct tlc_pacer pacer;
    uint64_t intended;
    tlc_pacer_begin(&pacer, 1000, &(struct tlc_pace){.duration_us = 5});
    for (unsigned i = 0; i < 100; i++) {
        assert_true(tlc_pacer_take(&pacer, 1000 + i, &intended));
        assert_int_equal(intended, 1000 + i);
    }
    assert_true(tlc_pacer_take(&pacer, 5999, &intended));
    assert_false(tlc_pacer_take(&pacer, 6000, &intended));
    assert_true(tlc_pacer_next_ns(&pacer, 6000) == TLC_PACER_NEVER);

    tlc_pacer_begin(&pacer, 0, &(struct tlc_pace){.count = 2});
    assert_true(tlc_pacer_take(&pacer, 0, &intended));
    assert_true(tlc_pacer_take(&pacer, 1u << 30, &intended));
    assert_false(tlc_pacer_take(&pacer, 1u << 30, &intended));
    assert_int_equal(tlc_pacer_missed(&pacer, 1u << 30), 0);
}

static void open_loop_keeps_its_intended_times(void **state)
{
    (void)state;
    struct tlc_pacer pacer;
    uint64_t intended;
    const struct tlc_pace every_ms = {
        .duration_us = 10000, .open_loop = true, .rate = 1000, .rate_end = 1000};
    tlc_pacer_begin(&pacer, 1000000, &every_ms);
    assert_true(tlc_pacer_take(&pacer, 1000000, &intended));
    assert_int_equal(intended, 1000000);
    assert_false(tlc_pacer_take(&pacer, 1500000, &intended));
    assert_int_equal(tlc_pacer_next_ns(&pacer, 1500000), 2000000);
    // Late: the starts that were due keep the time when they were due.
    for (unsigned i = 1; i <= 3; i++) {
        assert_true(tlc_pacer_take(&pacer, 4500000, &intended));
        assert_int_equal(intended, 1000000 + i * 1000000);
    }
    assert_false(tlc_pacer_take(&pacer, 4500000, &intended));
    assert_int_equal(tlc_pacer_missed(&pacer, 4500000), 0);
    assert_int_equal(tlc_pacer_missed(&pacer, 20000000), 6); // of the 10, 4 were taken
    tlc_pacer_stop(&pacer);
    assert_false(tlc_pacer_take(&pacer, 5500000, &intended));
    assert_int_equal(tlc_pacer_missed(&pacer, 20000000), 0); // stopped on purpose
}

// Starts taken until each tenth of the duration when the loop always comes in time.
static void take_ramp(double from, double to, unsigned taken[11])
{
    struct tlc_pacer pacer;
    uint64_t intended;
    const struct tlc_pace pace = {
        .duration_us = 10000000, .open_loop = true, .rate = from, .rate_end = to};
    tlc_pacer_begin(&pacer, 0, &pace);
    for (unsigned tenth = 0; tenth <= 10; tenth++) {
        uint64_t now_ns = tenth * 1000000000ull - (tenth == 10);
        while (tlc_pacer_take(&pacer, now_ns, &intended))
            assert_true(intended <= now_ns);
        taken[tenth] = (unsigned)pacer.taken;
    }
    assert_in_range(tlc_pacer_missed(&pacer, UINT64_MAX), 0, 1); // one may be due at the very end
}

static void ramps_rise_and_fall_evenly(void **state)
{
    (void)state;
    unsigned up[11], down[11], even[11];
    take_ramp(0, 200, up); // 10 t^2 until t
    take_ramp(200, 0, down);
    take_ramp(100, 100, even);
    for (unsigned t = 0; t <= 10; t++) {
        assert_in_range(up[t], 10 * t * t, 10 * t * t + 1);
        assert_in_range(down[t], 200 * t - 10 * t * t, 200 * t - 10 * t * t + 1);
        assert_in_range(even[t], 100 * t, 100 * t + 1);
    }
}

static const uint8_t one_hash[32] = {1}, other_hash[32] = {2};

static struct tlc_facts sound_facts(void)
{
    return (struct tlc_facts){.version = TLC_TLS13,
                              .cipher = TLC_AES_128_GCM_SHA256,
                              .group = TLC_GROUP_X25519,
                              .psk_mode = -1,
                              .alpn = "h2",
                              .certificate_sha256 = one_hash};
}

static struct tlc_expectation sound_expectation(void)
{
    struct tlc_expectation expect = {.version = TLC_TLS13,
                                     .cipher = TLC_AES_128_GCM_SHA256,
                                     .group = TLC_GROUP_X25519,
                                     .resumed = 0,
                                     .certificate_known = true,
                                     .alpn = "h2"};
    memcpy(expect.certificate_sha256, one_hash, sizeof one_hash);
    return expect;
}

static void each_difference_has_its_own_bit(void **state)
{
    (void)state;
    struct tlc_expectation expect = sound_expectation();
    struct tlc_facts facts = sound_facts();
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 0);
    struct tlc_facts wrong[TLC_MISMATCH_COUNT];
    for (size_t i = 0; i < LENGTH(wrong); i++)
        wrong[i] = sound_facts();
    wrong[TLC_MISMATCH_VERSION].version = TLC_TLS12;
    wrong[TLC_MISMATCH_GROUP].group = TLC_GROUP_SECP256R1;
    wrong[TLC_MISMATCH_CIPHER].cipher = TLC_AES_256_GCM_SHA384;
    wrong[TLC_MISMATCH_HELLO_RETRY_REQUEST].hello_retry_request = true;
    wrong[TLC_MISMATCH_RESUMED].resumed = true;
    wrong[TLC_MISMATCH_CERTIFICATE].certificate_sha256 = other_hash;
    wrong[TLC_MISMATCH_ALPN].alpn = "";
    for (unsigned i = 0; i < TLC_MISMATCH_REFUSAL; i++)
        assert_int_equal(tlc_expectation_differs(&expect, &wrong[i]), 1u << i);
    // An answer where a refusal was due, and no HelloRetryRequest where one was.
    expect.refusal = true;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 1u << TLC_MISMATCH_REFUSAL);
    expect.refusal = false;
    expect.require_hello_retry_request = true;
    assert_int_equal(tlc_expectation_differs(&expect, &facts),
                     1u << TLC_MISMATCH_HELLO_RETRY_REQUEST);
    expect.require_hello_retry_request = false;
    expect.require_cookie = true;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 1u << TLC_MISMATCH_COOKIE);
    facts.cookie = true;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 0);
    expect.require_cookie = false;
    // Who stops at the first answer has seen neither certificate nor ALPN, and perhaps no group.
    facts.partial = true;
    facts.certificate_sha256 = NULL;
    facts.alpn = "";
    facts.group = 0;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 0);
    facts.group = TLC_GROUP_SECP256R1;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 1u << TLC_MISMATCH_GROUP);
    facts = sound_facts();
    facts.certificate_sha256 = NULL;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 1u << TLC_MISMATCH_CERTIFICATE);
    expect.resumed = 1;
    facts = sound_facts();
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 1u << TLC_MISMATCH_RESUMED);
    // A resumed handshake shows no certificate, and with psk_ke no group.
    facts.resumed = true;
    facts.certificate_sha256 = NULL;
    facts.group = 0;
    assert_int_equal(tlc_expectation_differs(&expect, &facts), 0);
}

static struct tlc_counters some_counters(unsigned handshakes)
{
    struct tlc_counters counters = {
        .started = handshakes + 2, .tickets = handshakes, .window_s = 1};
    struct tlc_error error;
    struct tlc_tally tally;
    struct tlc_expectation expect = sound_expectation();
    struct tlc_facts facts = sound_facts();
    tlc_tally_begin(&tally, &counters, true, 5000000);
    for (unsigned i = 0; i < handshakes; i++) {
        const struct tlc_times times = {1000000, i ? 1000000 + i * 1000 : 0, 2000000,
                                        4000000 + i * 1000000, i == 1 ? 0 : 5000000 + i * 1000000};
        facts.group = i % 2 ? TLC_GROUP_X25519 : TLC_GROUP_SECP256R1;
        tlc_tally_handshake(&tally, &expect, &facts, &times);
    }
    tlc_tally_error(&tally, "reset");
    tlc_tally_error(&tally, "timeout");
    assert_int_equal(tlc_tally_finish(&tally, &error), TLC_OK);
    return counters;
}

static json_int_t at(const json_t *json, const char *first, const char *second)
{
    const json_t *value = json_object_get(json, first);
    return json_integer_value(second ? json_object_get(value, second) : value);
}

static void handshakes_are_tallied(void **state)
{
    (void)state;
    struct tlc_counters counters = some_counters(4);
    assert_int_equal(counters.handshakes, 4);
    assert_int_equal(counters.in_window, 2);
    assert_int_equal(counters.mismatches, 2);
    assert_int_equal(at(counters.errors, "mismatch-group", NULL), 2);
    assert_int_equal(at(counters.negotiated, "group", "secp256r1"), 2);
    assert_int_equal(at(counters.negotiated, "group", "X25519"), 2);
    assert_int_equal(at(counters.negotiated, "version", "TLSv1.3"), 4);
    assert_int_equal(at(counters.negotiated, "alpn", "h2"), 4);
    assert_int_equal(tlc_counters_errors(&counters), 2);
    assert_int_equal(counters.latency_count, 4);
    assert_int_equal(counters.latency_connect_count, 3); // the first one was not seen
    assert_int_equal(counters.latency_connect_us[2], 3);
    assert_int_equal(counters.latency_hello_us[0], 1000);
    assert_int_equal(counters.latency_done_us[3], 6000);
    assert_int_equal(counters.latency_echo_count, 3); // the second had none
    assert_int_equal(counters.latency_echo_us[2], 7000);
    tlc_counters_free(&counters);
}

static void unknown_names_of_a_peer_stay_printable_and_bounded(void **state)
{
    (void)state;
    struct tlc_counters counters = {0};
    struct tlc_error error;
    struct tlc_tally tally;
    struct tlc_expectation expect = {.resumed = -1, .allow_hello_retry_request = true};
    struct tlc_facts facts = sound_facts();
    struct tlc_times times = {0};
    tlc_tally_begin(&tally, &counters, false, UINT64_MAX);
    for (unsigned i = 0; i < 200; i++) {
        char alpn[8] = {(char)0xff, (char)('a' + i % 26), (char)('a' + i / 26), 0};
        char kind[16];
        snprintf(kind, sizeof kind, "kind-%u", i);
        facts.alpn = alpn;
        facts.group = (uint16_t)(0x4000 + i);
        tlc_tally_handshake(&tally, &expect, &facts, &times);
        tlc_tally_error(&tally, kind);
    }
    assert_int_equal(tlc_tally_finish(&tally, &error), TLC_OK);
    assert_int_equal(tlc_counters_errors(&counters), 200);
    assert_int_equal(json_object_size(counters.errors), TLC_TALLY_ERRORS);
    json_int_t sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(counters.negotiated, "alpn"), key, value)
    {
        assert_int_equal(key[0], '?');
        sum += json_integer_value(value);
    }
    assert_int_equal(sum, 200);
    assert_int_equal(counters.latency_count, 0);
    tlc_counters_free(&counters);
}

static void counters_survive_json(void **state)
{
    (void)state;
    struct tlc_counters counters = some_counters(5), copy;
    struct tlc_error error;
    json_t *json = tlc_counters_to_json(&counters);
    assert_int_equal(tlc_counters_from_json(json, &copy, &error), TLC_OK);
    json_t *again = tlc_counters_to_json(&copy);
    assert_true(json_equal(json, again));
    assert_int_equal(copy.latency_count, 5);
    json_object_del(again, "started");
    struct tlc_counters broken;
    assert_int_equal(tlc_counters_from_json(again, &broken, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "started"));
    json_array_remove(json_object_get(json_object_get(json, "latency_us"), "server_hello"), 0);
    assert_int_equal(tlc_counters_from_json(json, &broken, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "server_hello"));
    json_decref(json);
    json_decref(again);
    tlc_counters_free(&counters);
    tlc_counters_free(&copy);
}

static void merged_counters_are_sums(void **state)
{
    (void)state;
    struct tlc_counters all = {0}, one = some_counters(3), two = some_counters(4);
    struct tlc_error error;
    one.span_s = 2;
    two.span_s = 3;
    two.cpu_user_us = one.cpu_user_us = 7;
    assert_int_equal(tlc_counters_merge(&all, &one, &error), TLC_OK);
    assert_int_equal(tlc_counters_merge(&all, &two, &error), TLC_OK);
    assert_int_equal(all.handshakes, 7);
    assert_int_equal(all.started, 11);
    assert_int_equal(all.latency_count, 7);
    assert_int_equal(all.latency_done_us[3], two.latency_done_us[0]);
    assert_int_equal(all.latency_echo_count, 2 + 3);
    assert_int_equal(all.latency_echo_us[2], two.latency_echo_us[0]);
    assert_int_equal(at(all.negotiated, "version", "TLSv1.3"), 7);
    assert_int_equal(at(all.errors, "reset", NULL), 2);
    assert_true(all.span_s == 3 && all.cpu_user_us == 14);
    assert_int_equal(at(one.errors, "reset", NULL), 1); // merging copies
    tlc_counters_free(&all);
    tlc_counters_free(&one);
    tlc_counters_free(&two);
}

static void the_asked_share_of_handshakes_offers_tickets(void **state)
{
    (void)state;
    static const double ratios[] = {0, 0.1, 1.0 / 3, 0.5, 0.8, 1};
    for (size_t i = 0; i < LENGTH(ratios); i++) {
        struct tlc_resumption resumption = {.ratio = ratios[i]};
        unsigned offers = 0;
        for (unsigned k = 0; k < 300; k++)
            offers += tlc_resumption_due(&resumption, true);
        assert_int_equal(offers, (unsigned)(ratios[i] * 300 + 0.5));
    }
    // Offers missed for want of tickets are made up for, within a bound.
    struct tlc_resumption late = {.ratio = 0.5};
    unsigned offers = 0;
    for (unsigned k = 0; k < 100; k++)
        assert_false(tlc_resumption_due(&late, false));
    for (unsigned k = 0; k < 100; k++)
        offers += tlc_resumption_due(&late, true);
    assert_int_equal(offers, 100);
    for (unsigned k = 0; k < 100000; k++)
        tlc_resumption_due(&late, false);
    assert_true(late.owed <= 1000);
}

static void tickets_are_offered_once_and_newest_first(void **state)
{
    (void)state;
    struct tlc_ticket_places places = {.capacity = 3};
    int stored[3];
    size_t place;
    assert_false(tlc_ticket_place_newest(&places, &place));
    for (int i = 1; i <= 5; i++)
        stored[tlc_ticket_place_new(&places)] = i; // 1 and 2 are forgotten
    for (int expected = 5; expected >= 3; expected--) {
        assert_true(tlc_ticket_place_newest(&places, &place));
        assert_int_equal(stored[place], expected);
    }
    assert_false(tlc_ticket_place_newest(&places, &place));
    stored[tlc_ticket_place_new(&places)] = 6;
    for (int round = 0; round < 3; round++) { // a session that may be used again
        assert_true(tlc_ticket_place_newest(&places, &place));
        assert_int_equal(stored[place], 6);
        tlc_ticket_place_return(&places);
    }
    assert_true(tlc_ticket_place_newest(&places, &place));
    assert_false(tlc_ticket_place_newest(&places, &place));
}

static void options_survive_json(void **state)
{
    (void)state;
    const char *const alpn[] = {"h2", "http/1.1", NULL};
    struct tlc_target_options options = {.address = "127.0.0.1:4433",
                                         .engine = TLC_ENGINE_LEAN,
                                         .min_version = TLC_TLS13,
                                         .groups = {TLC_GROUP_X25519, 0x4567},
                                         .ciphers = {TLC_AES_256_GCM_SHA384},
                                         .group_count = 2,
                                         .cipher_count = 1,
                                         .share = TLC_SHARE_CHEAP,
                                         .stop = TLC_STOP_AFTER_SERVER_FLIGHT,
                                         .server_name = "localhost",
                                         .alpn = alpn,
                                         .verify_every = 7,
                                         .resume_ratio = 0.5,
                                         .psk_modes = 3,
                                         .close = TLC_CLOSE_NOTIFY,
                                         .tickets_expected = 2,
                                         .tickets_expected_resumed = 1,
                                         .tickets_resumed_known = true,
                                         .echo_bytes = 100,
                                         .timeout_ms = 1234,
                                         .expect = sound_expectation(),
                                         .loop = TLC_LOOP_URING,
                                         .threads = 3,
                                         .allow_public = true,
                                         .fresh_sockets = true,
                                         .wrong_share_first = true,
                                         .padding_bytes = 5,
                                         .split_at = 6,
                                         .split_every = 1};
    struct tlc_target_options copy;
    struct tlc_error error;
    json_t *json = tlc_target_options_to_json(&options);
    assert_int_equal(tlc_target_options_from_json(json, &copy, &error), TLC_OK);
    json_t *again = tlc_target_options_to_json(&copy);
    assert_true(json_equal(json, again));
    assert_int_equal(copy.groups[1], 0x4567);
    assert_int_equal(copy.stop, TLC_STOP_AFTER_SERVER_FLIGHT);
    assert_int_equal(copy.loop, TLC_LOOP_URING);
    assert_memory_equal(&copy.expect, &options.expect, sizeof copy.expect);
    assert_string_equal(copy.alpn[1], "http/1.1");
    assert_null(copy.alpn[2]);
    tlc_target_options_release(&copy);
    json_decref(json);
    json_decref(again);
}

static void wrong_options_name_the_member(void **state)
{
    (void)state;
    static const struct {
        const char *json, *member;
    } wrong[] = {
        {"[]", "target"},
        {"{}", "address"},
        {"{\"address\": 1}", "address"},
        {"{\"address\": \"a:1\", \"engine\": \"thick\"}", "engine"},
        {"{\"address\": \"a:1\", \"groups\": [\"X25518\"]}", "groups"},
        {"{\"address\": \"a:1\", \"verify_every\": -1}", "verify_every"},
        {"{\"address\": \"a:1\", \"echo_bytes\": \"x\"}", "echo_bytes"},
        {"{\"address\": \"a:1\", \"alpn\": [\"\"]}", "alpn"},
        {"{\"address\": \"a:1\", \"expect\": {\"certificate_sha256\": \"00\"}}",
         "certificate_sha256"},
        {"{\"address\": \"a:1\", \"expect\": {\"version\": \"TLSv9\"}}", "version"},
        {"{\"address\": \"a:1\", \"stack\": \"no-such-stack\"}", "no-such-stack"},
    };
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        json_t *json = json_loads(wrong[i].json, 0, NULL);
        struct tlc_target_options options;
        struct tlc_error error = {.text = ""};
        if (tlc_target_options_from_json(json, &options, &error) == TLC_OK)
            fail_msg("%s: accepted", wrong[i].json);
        if (!strstr(error.text, wrong[i].member))
            fail_msg("%s: error does not name %s: %s", wrong[i].json, wrong[i].member, error.text);
        json_decref(json);
    }
}

enum { NAMES = 1000, DRAWS = 200000 };

static unsigned *visits_of(bool zipf, uint32_t seed)
{
    struct tlc_visits visits;
    unsigned *seen = calloc(NAMES, sizeof *seen);
    assert_non_null(seen);
    assert_true(tlc_visits_init(&visits, NAMES, zipf, seed));
    for (int i = 0; i < DRAWS; i++) {
        size_t name = tlc_visits_next(&visits);
        assert_true(name < NAMES);
        seen[name]++;
    }
    tlc_visits_free(&visits);
    return seen;
}

static int descending(const void *left, const void *right)
{
    const unsigned *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

// The seeds are fixed, so the bounds either hold always or never.
static void visits_are_uniform_or_by_zipfs_law(void **state)
{
    (void)state;
    unsigned *uniform = visits_of(false, 1), *zipf = visits_of(true, 1),
             *again = visits_of(true, 1);
    unsigned *other = visits_of(true, 2);
    assert_memory_equal(zipf, again, NAMES * sizeof *zipf);
    assert_memory_not_equal(zipf, other, NAMES * sizeof *zipf);
    for (int i = 0; i < NAMES; i++) // expected 200, deviation 14
        assert_in_range(uniform[i], 120, 280);
    qsort(zipf, NAMES, sizeof *zipf, descending);
    // The sum of 1/k up to 1000 is 7.4855: shares of 13.36 %, 6.68 % and 1.336 % for ranks 1,
    // 2, 10.
    assert_in_range(zipf[0], 26000, 27400);
    assert_in_range(zipf[1], 12900, 13900);
    assert_in_range(zipf[9], 2400, 2950);
    free(uniform);
    free(zipf);
    free(again);
    free(other);
}

static void one_name_is_visited_always(void **state)
{
    (void)state;
    for (int zipf = 0; zipf < 2; zipf++) {
        struct tlc_visits visits;
        assert_true(tlc_visits_init(&visits, 1, zipf, 7));
        for (int i = 0; i < 100; i++)
            assert_int_equal(tlc_visits_next(&visits), 0);
        tlc_visits_free(&visits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_end_where_the_standards_say),
        cmocka_unit_test(bad_addresses_are_refused),
        cmocka_unit_test(sources_are_spread_over_loopback_only),
        cmocka_unit_test(closed_loop_starts_at_once_until_time_or_count),
        cmocka_unit_test(open_loop_keeps_its_intended_times),
        cmocka_unit_test(ramps_rise_and_fall_evenly),
        cmocka_unit_test(each_difference_has_its_own_bit),
        cmocka_unit_test(handshakes_are_tallied),
        cmocka_unit_test(unknown_names_of_a_peer_stay_printable_and_bounded),
        cmocka_unit_test(counters_survive_json),
        cmocka_unit_test(merged_counters_are_sums),
        cmocka_unit_test(the_asked_share_of_handshakes_offers_tickets),
        cmocka_unit_test(tickets_are_offered_once_and_newest_first),
        cmocka_unit_test(options_survive_json),
        cmocka_unit_test(wrong_options_name_the_member),
        cmocka_unit_test(visits_are_uniform_or_by_zipfs_law),
        cmocka_unit_test(one_name_is_visited_always),
    };
    return cmocka_run_group_tests_name("generator parts", tests, NULL, NULL);
}
