// The server's control messages and signals, on a fake stack.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_stack.h"
#include "server_rig.h"

static void expect_error(struct rig *rig, json_t *request, const char *words)
{
    json_t *reply = rig_ask(rig, request);
    const char *text = json_string_value(json_object_get(reply, "error"));
    assert_non_null(text);
    if (!strstr(text, words))
        fail_msg("'%s' does not say '%s'", text, words);
    json_decref(reply);
}

static void expect_ok(struct rig *rig, json_t *request)
{
    json_t *reply = rig_ask(rig, request);
    if (!json_is_true(json_object_get(reply, "ok")))
        fail_msg("%s", json_string_value(json_object_get(reply, "error")));
    json_decref(reply);
}

static void counters_are_readable_while_it_runs(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_handshake(fd, "hello");
    client_send(fd, "ping");
    client_expect(fd, "ping");
    json_t *reply = rig_ask(&rig, json_pack("{s:s, s:i}", "command", "counters", "id", 7));
    const json_t *totals = json_object_get(reply, "totals");
    assert_string_equal(json_string_value(json_object_get(reply, "reply")), "counters");
    assert_int_equal(count_of(reply, "id"), 7);
    assert_int_equal(count_of(totals, "open"), 1);
    assert_int_equal(count_of(totals, "handshakes"), 1);
    assert_int_equal(count_of(totals, "bytes_read"), 4);
    assert_int_equal(json_array_size(json_object_get(reply, "workers")), 1);
    assert_int_equal(json_object_size(json_object_get(reply, "failed")), 0);
    json_decref(reply);
    close(fd);
    rig_stop(&rig);
    rig_free(&rig);
}

static json_t *settled(int handshakes, int timeout_ms)
{
    return json_pack("{s:s, s:i, s:i}", "command", "settled", "handshakes", handshakes,
                     "timeout_ms", timeout_ms);
}

static void settled_waits_for_the_last_connection(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig.options.workers = 2;
    rig_start(&rig);
    json_decref(rig_settle(&rig, 0));
    int first = client_connect(&rig), second = client_connect(&rig);
    client_handshake(first, "hello");
    json_t *reply = rig_ask(&rig, settled(0, 1));
    assert_true(json_is_false(json_object_get(reply, "settled")));
    json_decref(reply);
    rig_send(&rig, settled(2, 60000));
    // Other commands are served while it waits; a second waiter is not.
    expect_error(&rig, settled(2, 60000), "waited for already");
    client_reset(first);
    reply = rig_ask(&rig, json_pack("{s:s}", "command", "counters"));
    assert_string_equal(json_string_value(json_object_get(reply, "reply")), "counters");
    json_decref(reply);
    client_handshake(second, "hello");
    close(second);
    reply = rig_receive(&rig);
    assert_string_equal(json_string_value(json_object_get(reply, "reply")), "settled");
    assert_true(json_is_true(json_object_get(reply, "settled")));
    const json_t *totals = json_object_get(reply, "totals");
    assert_int_equal(count_of(totals, "accepted"), 2);
    assert_int_equal(count_of(totals, "closed"), 2);
    assert_int_equal(count_of(totals, "handshakes"), 2);
    json_decref(reply);
    reply = rig_ask(&rig, settled(3, 1));
    assert_true(json_is_false(json_object_get(reply, "settled")));
    json_decref(reply);
    rig_stop(&rig);
    rig_free(&rig);
}

// What the generator does: thousands of short connections, then one question.
static void settled_never_overlooks_a_connection(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig.options.workers = 3;
    rig_start(&rig);
    for (int round = 1; round <= 300; round++) {
        int fd = client_connect(&rig);
        client_handshake(fd, "hello");
        client_reset(fd);
        json_t *reply = rig_ask(&rig, json_pack("{s:s}", "command", "settled"));
        const json_t *totals = json_object_get(reply, "totals");
        assert_true(json_is_true(json_object_get(reply, "settled")));
        assert_int_equal(count_of(totals, "closed"), round);
        assert_int_equal(count_of(totals, "handshakes"), round);
        json_decref(reply);
    }
    rig_stop(&rig);
    rig_free(&rig);
}

static void write_keys(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void hex_key(char text[161], const char *name)
{
    memset(text, '0', 160);
    text[160] = '\0';
    memcpy(text, name, strlen(name));
}

static void ticket_keys_are_replaced(void **state)
{
    (void)state;
    struct rig rig;
    char hex[161], bad[161], path[] = "/tmp/tlscost-keys-XXXXXX", raw[160] = "\200keys";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_keys(path, raw, 80);
    rig_prepare(&rig);
    rig.options.ticket_keys_file = path;
    rig_start(&rig);
    assert_int_equal(fake.keys, 1);
    int fd = client_connect(&rig);
    client_handshake(fd, "hello");
    int before = fake.key_sets;
    hex_key(hex, "01");
    hex_key(bad, "ff");
    expect_ok(&rig, json_pack("{s:s, s:[s, s]}", "command", "ticket-keys", "keys", hex, hex));
    assert_int_equal(fake.keys, 2);
    write_keys(path, raw, 160);
    expect_ok(&rig, json_pack("{s:s, s:s}", "command", "ticket-keys", "file", path));
    assert_int_equal(fake.key_sets, before + 2);
    expect_error(&rig, json_pack("{s:s, s:[s]}", "command", "ticket-keys", "keys", bad),
                 "not this key");
    expect_error(&rig, json_pack("{s:s, s:[s]}", "command", "ticket-keys", "keys", "00"),
                 "key 0: not 160");
    expect_error(&rig, json_pack("{s:s, s:[]}", "command", "ticket-keys", "keys"), "1 to 64");
    expect_error(&rig, json_pack("{s:s}", "command", "ticket-keys"), "'file' or 'keys'");
    expect_error(&rig, json_pack("{s:s, s:s}", "command", "ticket-keys", "file", "/nonexistent"),
                 "No such file");
    client_send(fd, "ping"); // open connections went on
    client_expect(fd, "ping");
    close(fd);
    rig_stop(&rig);
    rig_free(&rig);
    unlink(path);
}

static void expect_note(struct rig *rig, const char *words)
{
    char line[512] = "";
    for (size_t i = 0; i < sizeof line - 1; i++) {
        assert_int_equal(read(rig->notes[0], line + i, 1), 1);
        if (line[i] == '\n')
            break;
    }
    if (!strstr(line, words))
        fail_msg("'%s' does not say '%s'", line, words);
}

static void hangup_reads_the_keys_again(void **state)
{
    (void)state;
    struct rig rig;
    char path[] = "/tmp/tlscost-keys-XXXXXX", raw[240] = "\200keys";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_keys(path, raw, 80);
    rig_prepare(&rig);
    rig.options.ticket_keys_file = path;
    rig_start(&rig);
    write_keys(path, raw, 240);
    assert_int_equal(kill(getpid(), SIGHUP), 0);
    expect_note(&rig, "3 ticket keys from");
    assert_int_equal(fake.keys, 3);
    write_keys(path, raw, 79);
    assert_int_equal(kill(getpid(), SIGHUP), 0);
    expect_note(&rig, "79 bytes are not a whole number of 80-byte keys");
    assert_int_equal(fake.keys, 3);
    rig_stop(&rig);
    rig_free(&rig);
    unlink(path);
}

static uint64_t process_cpu_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void burn_costs_what_it_says(void **state)
{
    (void)state;
    enum { US = 20000, TIMES = 5 };
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    expect_ok(&rig, json_pack("{s:s, s:i}", "command", "burn", "us", US));
    uint64_t before = process_cpu_us();
    for (int i = 0; i < TIMES; i++) {
        int fd = client_connect(&rig);
        client_handshake(fd, "hello");
        close(fd);
    }
    json_decref(rig_settle(&rig, TIMES));
    uint64_t burnt = process_cpu_us() - before;
    assert_in_range(burnt, US * TIMES * 99 / 100, UINT64_MAX);
    expect_ok(&rig, json_pack("{s:s, s:i}", "command", "burn", "us", 0));
    expect_error(&rig, json_pack("{s:s, s:i}", "command", "burn", "us", -1), "whole number");
    expect_error(&rig, json_pack("{s:s, s:i}", "command", "burn", "us", 1000001), "0 to 1000000");
    expect_error(&rig, json_pack("{s:s}", "command", "burn"), "whole number");
    rig_stop(&rig);
    rig_free(&rig);
}

static void nonsense_is_answered_by_name(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    expect_error(&rig, json_pack("{s:s}", "command", "dance"), "'dance': unknown; there are");
    expect_error(&rig, json_pack("[i]", 1), "needs a 'command'");
    expect_error(&rig, json_pack("{s:s, s:s}", "command", "settled", "handshakes", "many"),
                 "whole numbers");
    expect_error(&rig, json_pack("{s:s, s:i}", "command", "settled", "timeout_ms", -5),
                 "whole numbers");
    rig_stop(&rig);
    rig_free(&rig);
}

static void a_malformed_frame_ends_the_server_with_an_error(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    assert_int_equal(write(rig.control, "\2\0\0\0{{", 6), 6);
    pthread_join(rig.thread, NULL);
    assert_int_equal(rig.status, TLC_ENVIRONMENT);
    assert_non_null(strstr(rig.error.text, "not JSON"));
    assert_non_null(rig.counters);
    rig_free(&rig);
}

static void the_end_of_the_peer_ends_the_server(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    close(rig.control);
    rig.control = -1;
    pthread_join(rig.thread, NULL);
    assert_int_equal(rig.status, TLC_OK);
    assert_int_equal(fake.contexts, 0);
    rig_free(&rig);
}

static void stop_lets_connections_end(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig.options.drain_ms = 60000;
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_send(fd, "hello\n");
    client_expect(fd, "welcome\n");
    expect_ok(&rig, json_pack("{s:s}", "command", "stop"));
    client_send(fd, "finished\nping");
    client_expect(fd, "ping");
    close(fd);
    pthread_join(rig.thread, NULL);
    assert_int_equal(rig.status, TLC_OK);
    assert_int_equal(fake.connections, 0);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "handshakes"), 1);
    rig_free(&rig);
}

static void stop_ends_what_does_not_end(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig.options.drain_ms = 20;
    rig_start(&rig);
    int half = client_connect(&rig), idle = client_connect(&rig);
    client_send(half, "hello\n");
    client_expect(half, "welcome\n");
    client_handshake(idle, "hello");
    client_send(idle, "ping");
    client_expect(idle, "ping");
    expect_ok(&rig, json_pack("{s:s}", "command", "stop"));
    assert_int_equal(client_read_to_end(half), 0);
    assert_int_equal(client_read_to_end(idle), 1); // FAKE_CLOSE
    close(half);
    close(idle);
    pthread_join(rig.thread, NULL);
    assert_int_equal(rig.status, TLC_OK);
    assert_int_equal(fake.connections, 0);
    assert_int_equal(count_of(json_object_get(rig.counters, "failed"), "server stopped"), 1);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_readable_while_it_runs),
        cmocka_unit_test(settled_waits_for_the_last_connection),
        cmocka_unit_test(settled_never_overlooks_a_connection),
        cmocka_unit_test(ticket_keys_are_replaced),
        cmocka_unit_test(hangup_reads_the_keys_again),
        cmocka_unit_test(burn_costs_what_it_says),
        cmocka_unit_test(nonsense_is_answered_by_name),
        cmocka_unit_test(a_malformed_frame_ends_the_server_with_an_error),
        cmocka_unit_test(the_end_of_the_peer_ends_the_server),
        cmocka_unit_test(stop_lets_connections_end),
        cmocka_unit_test(stop_ends_what_does_not_end),
    };
    return cmocka_run_group_tests_name("server_control", tests, NULL, NULL);
}
