// Parts of the server that need no socket: addresses, ticket keys, HTTP, counters, faults.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/counters.h"
#include "server/http.h"
#include "server/listener.h"
#include "server/server.h"
#include "server/ticket_keys.h"

static void addresses_round_trip(void **state)
{
    (void)state;
    static const struct {
        const char *text, *again;
        bool loopback;
    } good[] = {
        {"127.0.0.1:4433", "127.0.0.1:4433", true},
        {"localhost:1", "127.0.0.1:1", true},
        {":4433", "127.0.0.1:4433", true},
        {"4433", "127.0.0.1:4433", true},
        {"127.9.9.9:65535", "127.9.9.9:65535", true},
        {"[::1]:443", "[::1]:443", true},
        {"[::ffff:127.0.0.1]:443", "[::ffff:127.0.0.1]:443", true},
        {"unix:/run/a b", "unix:/run/a b", true},
        {"0.0.0.0:0", "0.0.0.0:0", false},
        {"[::]:443", "[::]:443", false},
        {"128.0.0.1:443", "128.0.0.1:443", false},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct tlc_address address;
        struct tlc_error error = {.text = ""};
        char text[TLC_ADDRESS_BYTES];
        if (tlc_address_parse(good[i].text, &address, &error) != TLC_OK)
            fail_msg("%s: %s", good[i].text, error.text);
        tlc_address_text(&address, text);
        assert_string_equal(text, good[i].again);
        assert_int_equal(address.loopback, good[i].loopback);
    }
}

static void bad_addresses_are_refused(void **state)
{
    (void)state;
    char long_path[300] = "unix:";
    memset(long_path + 5, 'a', sizeof long_path - 6);
    const char *const bad[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:x",
        "::1:443",
        "example.test:443",
        "*:443",
        "unix:",
        long_path,
        "[::1]",
        "127.0.0.1:-1",
        "127.0.0.1: 1",
        "1.2.3:1:2",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tlc_address address;
        struct tlc_error error = {.text = ""};
        if (tlc_address_parse(bad[i], &address, &error) != TLC_USAGE)
            fail_msg("'%s' was taken", bad[i]);
        assert_memory_equal(error.text, "listen: ", 8);
    }
}

static enum tlc_status read_keys(const char *bytes, size_t size, struct tlc_ticket_key **keys,
                                 size_t *count, struct tlc_error *error)
{
    char path[] = "/tmp/tlscost-keys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    enum tlc_status status = tlc_ticket_keys_read(path, keys, count, error);
    unlink(path);
    return status;
}

#define HEX_64 "00112233445566778899aabbccddeeFF00112233445566778899aabbccddeeff"
#define HEX    HEX_64 HEX_64 "00112233445566778899aabbccddeeff"

static void ticket_keys_are_read_raw_and_as_text(void **state)
{
    (void)state;
    struct tlc_ticket_key *keys;
    size_t count;
    struct tlc_error error;
    const char text[] = "# two keys\n\n  " HEX "\r\n" HEX " # the old one\n";
    assert_int_equal(read_keys(text, sizeof text - 1, &keys, &count, &error), TLC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(keys[1].name[0], 0x00);
    assert_int_equal(keys[1].name[15], 0xff);
    assert_int_equal(keys[0].hmac[31], 0xff);
    free(keys);
    char raw[160] = {1};
    raw[80] = 2;
    assert_int_equal(read_keys(raw, sizeof raw, &keys, &count, &error), TLC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(keys[1].name[0], 2);
    free(keys);
}

static void bad_ticket_keys_are_refused(void **state)
{
    (void)state;
    struct tlc_ticket_key *keys;
    size_t count;
    struct tlc_error error;
    static char huge[70000] = {1};
    static const struct {
        const char *bytes;
        size_t size;
        const char *words;
    } bad[] = {
        {"", 0, "no key; write one with"},
        {"# none\n", 7, "no key; write one with"},
        {HEX "\n" HEX "0\n", 323, ":2: not 160 hexadecimal digits"},
        {HEX " " HEX "\n", 322, ":1: not 160 hexadecimal digits"},
        {"secret\n", 7, ":1: not 160 hexadecimal digits"},
        {"\1\2\3", 3, "3 bytes are not a whole number"},
        {huge, sizeof huge, "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_keys(bad[i].bytes, bad[i].size, &keys, &count, &error), TLC_USAGE);
        assert_null(keys);
        if (!strstr(error.text, bad[i].words))
            fail_msg("'%s' does not say '%s'", error.text, bad[i].words);
    }
    assert_int_equal(tlc_ticket_keys_read("/nonexistent", &keys, &count, &error), TLC_ENVIRONMENT);
}

static void http_requests_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *request, *status;
        bool close;
    } cases[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "200", false},
        {"GET / HTTP/1.1\r\nHOST: a\r\nCONNECTION: Close\r\n\r\n", "200", true},
        {"GET / HTTP/1.0\r\n\r\n", "200", true},
        {"HEAD / HTTP/1.1\r\n\r\n", "200", false},
        {"GET / HTTP/1.1\r\nConnection: Upgrade\r\nupgrade: tlscost\r\n\r\n", "101", false},
        {"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "200", false},
        {"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n", "405", true},
        {"GET / HTTP/1.1\r\ncontent-length: 2\r\n\r\n", "405", true},
        {"\r\n\r\n", "405", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tlc_http_answer answer;
        char bytes[256];
        size_t count = strlen(cases[i].request);
        snprintf(bytes, sizeof bytes, "%sGET /next", cases[i].request);
        assert_int_equal(tlc_http_request((const uint8_t *)bytes, strlen(bytes), false, &answer),
                         count);
        assert_memory_equal(answer.bytes + sizeof "HTTP/1.1", cases[i].status, 3);
        assert_int_equal(answer.close, cases[i].close);
        // No proper start of a request is an answerable request.
        for (size_t part = 0; part < count; part++)
            assert_int_equal(tlc_http_request((const uint8_t *)bytes, part, false, &answer), 0);
        assert_int_equal(tlc_http_request((const uint8_t *)bytes, count - 1, true, &answer),
                         count - 1);
        assert_memory_equal(answer.bytes + sizeof "HTTP/1.1", "431", 3);
    }
}

static void reasons_are_bounded(void **state)
{
    (void)state;
    enum { KINDS = 100 };
    struct tlc_worker_counters *counters = aligned_alloc(TLC_CACHE_LINES, sizeof *counters);
    memset(counters, 0, sizeof *counters);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < KINDS; i++) {
            char text[256];
            snprintf(text, sizeof text, " reason\n%d %0200d", i, 0);
            tlc_count_failure(counters, text);
        }
    tlc_count_failure(counters, "");
    struct tlc_server_counters one, two, sum = {.failed = json_object()};
    tlc_counters_read(counters, &one);
    tlc_counters_read(counters, &two);
    assert_int_equal(json_object_size(one.failed), TLC_REASONS);
    tlc_server_counters_add(&sum, &one);
    tlc_server_counters_add(&sum, &two);
    assert_int_equal(json_object_size(sum.failed), TLC_REASONS);
    assert_int_equal(sum.failures, 2 * (2 * KINDS + 1));
    const char *text;
    const json_t *count;
    json_int_t total = 0;
    json_object_foreach(sum.failed, text, count)
    {
        assert_true(strlen(text) < TLC_REASON_BYTES && !strchr(text, '\n') && *text != ' ');
        total += json_integer_value(count);
    }
    assert_int_equal(total, 2 * (2 * KINDS + 1));
    assert_int_equal(json_integer_value(json_object_get(sum.failed, "other")),
                     2 * (2 * (KINDS - TLC_REASONS + 1) + 1));
    json_decref(sum.failed);
    free(counters);
}

static void faults_parse_or_say_what_there_is(void **state)
{
    (void)state;
    struct tlc_server_faults faults = {0};
    struct tlc_error error;
    assert_int_equal(tlc_server_fault_parse("reset-1-in=1000", &faults, &error), TLC_OK);
    assert_int_equal(tlc_server_fault_parse("die-after=1", &faults, &error), TLC_OK);
    assert_int_equal(faults.reset_1_in, 1000);
    assert_int_equal(faults.die_after, 1);
    assert_int_equal(faults.stall_1_in, 0);
    const char *const bad[] = {"",
                               "reset-1-in",
                               "reset-1-in=",
                               "reset-1-in=0",
                               "die-after=-1",
                               "stall-1-in=1x",
                               "reset-1-in= 1",
                               "die-after=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tlc_server_fault_parse(bad[i], &faults, &error) != TLC_USAGE)
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(error.text, "stall-1-in=N"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_round_trip),
        cmocka_unit_test(bad_addresses_are_refused),
        cmocka_unit_test(ticket_keys_are_read_raw_and_as_text),
        cmocka_unit_test(bad_ticket_keys_are_refused),
        cmocka_unit_test(http_requests_are_told_apart),
        cmocka_unit_test(reasons_are_bounded),
        cmocka_unit_test(faults_parse_or_say_what_there_is),
    };
    return cmocka_run_group_tests_name("server_parts", tests, NULL, NULL);
}
