// The server on a fake stack: life of connections, counters, faults.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/names.h"
#include "fake_stack.h"
#include "server_rig.h"

static void handshakes_are_counted_by_evidence(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    const char *const hellos[] = {"hello", "hello resumed", "hello retry", "hello resumed retry"};
    for (size_t i = 0; i < 4; i++) {
        int fd = client_connect(&rig);
        client_handshake(fd, hellos[i]);
        close(fd);
    }
    json_t *totals = rig_settle(&rig, 4);
    assert_int_equal(count_of(totals, "accepted"), 4);
    assert_int_equal(count_of(totals, "handshakes"), 4);
    assert_int_equal(count_of(totals, "resumed"), 2);
    assert_int_equal(count_of(totals, "hello_retry_requests"), 2);
    assert_int_equal(count_of(totals, "failed"), 0);
    json_decref(totals);
    rig_stop(&rig);
    assert_string_equal(json_string_value(json_object_get(rig.counters, "command")), "serve");
    assert_string_equal(json_string_value(json_object_get(rig.counters, "address")), rig.address);
    rig_free(&rig);
}

// Sends what the socket takes of `data`; true while the kernel took some.
static bool push(int fd, const uint8_t *data, size_t count, size_t *sent)
{
    ssize_t done = send(fd, data + *sent, count - *sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    assert_true(done >= 0 || errno == EAGAIN);
    *sent += done > 0 ? (size_t)done : 0;
    return done > 0;
}

static void echo_waits_for_a_slow_reader(void **state)
{
    (void)state;
    enum { COUNT = 32 << 20 };
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_handshake(fd, "hello");
    uint8_t *data = malloc(COUNT), *back = malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        data[i] = (uint8_t)(2 + (i * 31 + (i >> 16)) % 250); // 1 is the fake's damaged record
    // Without reading: the server must stop reading while its own write is blocked.
    size_t sent = 0, received = 0;
    long held = 0;
    while (held == 0) {
        while (sent < COUNT && push(fd, data, COUNT, &sent))
            ;
        assert_true(sent < COUNT);
        json_t *reply = rig_ask(&rig, json_pack("{s:s}", "command", "counters"));
        const json_t *totals = json_object_get(reply, "totals");
        held = count_of(totals, "bytes_read") - count_of(totals, "bytes_written");
        json_decref(reply);
    }
    assert_in_range(held, 1, 16384);
    while (received < COUNT) {
        struct pollfd ready = {.fd = fd,
                               .events = (short)(sent < COUNT ? POLLIN | POLLOUT : POLLIN)};
        assert_int_equal(poll(&ready, 1, 60000), 1);
        if (ready.revents & POLLOUT)
            push(fd, data, COUNT, &sent);
        if (ready.revents & POLLIN) {
            ssize_t got = recv(fd, back + received, COUNT - received, 0);
            assert_true(got > 0);
            received += (size_t)got;
        }
    }
    assert_memory_equal(data, back, COUNT);
    shutdown(fd, SHUT_WR);
    char last = 0;
    assert_int_equal(recv(fd, &last, 1, 0), 1);
    assert_int_equal(last, FAKE_CLOSE);
    close(fd);
    free(data);
    free(back);
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "bytes_written"), COUNT);
    rig_free(&rig);
}

static void a_handshake_waits_for_a_slow_reader(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_send(fd, "hello big\n");
    char bytes[65536];
    for (size_t left = FAKE_BIG; left;) {
        ssize_t got = recv(fd, bytes, left < sizeof bytes ? left : sizeof bytes, 0);
        assert_true(got > 0);
        left -= (size_t)got;
    }
    client_send(fd, "finished\n");
    client_send(fd, "ping");
    client_expect(fd, "ping");
    close(fd);
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "handshakes"), 1);
    rig_free(&rig);
}

static void failures_are_counted_by_reason(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_send(fd, "fail error:0A0000C1:SSL routines::no  shared\tcipher\n");
    assert_int_equal(client_read_to_end(fd), 0);
    close(fd);
    fd = client_connect(&rig);
    client_send(fd, "fail handshake: no shared cipher\n");
    close(fd);
    close(client_connect(&rig));
    fd = client_connect(&rig);
    client_send(fd, "hel");
    client_reset(fd);
    json_decref(rig_settle(&rig, 4));
    rig_stop(&rig);
    const json_t *failed = json_object_get(rig.counters, "failed");
    assert_int_equal(count_of(failed, "no shared cipher"), 2);
    // The fake gives no words for these two; a reset that came before the accept looks like an end.
    long closed = count_of(failed, "peer closed");
    assert_in_range(closed, 1, 2);
    assert_int_equal(closed == 1 ? count_of(failed, "peer reset") : 1, 1);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "failed"), 4);
    rig_free(&rig);
}

static void silent_clients_are_timed_out(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig.options.handshake_timeout_ms = 30;
    rig_start(&rig);
    int silent = client_connect(&rig), half = client_connect(&rig);
    send(half, "hel", 3, MSG_NOSIGNAL); // too late on a busy machine, which changes nothing
    assert_in_range(client_read_to_end(silent) + 1, 0, 1);
    assert_in_range(client_read_to_end(half) + 1, 0, 1);
    close(silent);
    close(half);
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "failed"), "handshake timeout"), 2);
    rig_free(&rig);
}

static void endings_after_the_handshake_are_not_failures(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    for (int i = 0; i < 2; i++) {
        int fd = client_connect(&rig);
        client_handshake(fd, "hello");
        client_send(fd, "x");
        client_expect(fd, "x");
        if (i)
            client_reset(fd);
        else
            close(fd);
    }
    int fd = client_connect(&rig);
    client_handshake(fd, "hello");
    client_send(fd, "\1damaged");
    assert_int_equal(client_read_to_end(fd), 0);
    close(fd);
    json_t *totals = rig_settle(&rig, 3);
    assert_int_equal(count_of(totals, "handshakes"), 3);
    assert_int_equal(count_of(totals, "failed"), 0);
    assert_int_equal(count_of(totals, "broken"), 1);
    json_decref(totals);
    rig_stop(&rig);
    rig_free(&rig);
}

static void workers_share_the_load(void **state)
{
    enum { CLIENTS = 200, WORKERS = 3 };
    struct rig rig;
    rig_prepare(&rig);
    rig.options.workers = WORKERS;
    rig.options.accept = **(const enum tlc_accept **)state;
    rig_start(&rig);
    int fds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        client_send(fds[i] = client_connect(&rig), "hello\n");
    for (int i = 0; i < CLIENTS; i++) {
        client_expect(fds[i], "welcome\n");
        client_send(fds[i], "finished\nping");
    }
    for (int i = 0; i < CLIENTS; i++) {
        client_expect(fds[i], "ping");
        client_reset(fds[i]);
    }
    json_decref(rig_settle(&rig, CLIENTS));
    rig_stop(&rig);
    const json_t *workers = json_object_get(rig.counters, "workers");
    assert_int_equal(json_array_size(workers), WORKERS);
    long sum = 0;
    for (size_t i = 0; i < WORKERS; i++)
        sum += count_of(json_array_get(workers, i), "handshakes");
    assert_int_equal(sum, CLIENTS);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "handshakes"), CLIENTS);
    rig_free(&rig);
}

static void other_addresses_work(void **state)
{
    (void)state;
    char path[] = "/tmp/tlscost-test-XXXXXX", unix_address[64];
    assert_non_null(mkdtemp(path));
    snprintf(unix_address, sizeof unix_address, "unix:%s/socket", path);
    const char *const addresses[] = {"[::1]:0", unix_address, "localhost:0", ":0"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct rig rig;
        rig_prepare(&rig);
        rig.options.listen = addresses[i];
        rig_start(&rig);
        int fd = client_connect(&rig);
        client_handshake(fd, "hello");
        client_send(fd, "ping");
        client_expect(fd, "ping");
        close(fd);
        json_decref(rig_settle(&rig, 1));
        rig_stop(&rig);
        rig_free(&rig);
    }
    assert_int_equal(access(unix_address + 5, F_OK), -1);
    assert_int_equal(rmdir(path), 0);
}

static void http_is_answered_where_alpn_chose_it(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    int fd = client_connect(&rig);
    client_handshake(fd, "hello http");
    client_send(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /again HTTP/1.1\r\nHo");
    client_expect(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n"
                      "tlscost\n");
    client_send(fd, "st: a\r\nConnection: close\r\n\r\n");
    client_expect(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n"
                      "Connection: close\r\n\r\ntlscost\n");
    assert_int_equal(client_read_to_end(fd), 1); // the fake's close
    close(fd);
    rig_stop(&rig);
    rig_free(&rig);
}

static void resets_happen_when_asked(void **state)
{
    (void)state;
    struct rig rig;
    struct tlc_error error;
    rig_prepare(&rig);
    assert_int_equal(tlc_server_fault_parse("reset-1-in=2", &rig.options.faults, &error), TLC_OK);
    rig_start(&rig);
    for (int i = 0; i < 4; i++) {
        int fd = client_connect(&rig);
        if (i % 2)
            assert_int_equal(client_read_to_end(fd), -1);
        else
            client_handshake(fd, "hello");
        close(fd);
    }
    json_decref(rig_settle(&rig, 4));
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "failed"), "reset on purpose"), 2);
    assert_int_equal(count_of(json_object_get(rig.counters, "totals"), "handshakes"), 2);
    rig_free(&rig);
}

static void stalls_happen_when_asked(void **state)
{
    (void)state;
    struct rig rig;
    struct tlc_error error;
    rig_prepare(&rig);
    rig.options.handshake_timeout_ms = 30;
    assert_int_equal(tlc_server_fault_parse("stall-1-in=1", &rig.options.faults, &error), TLC_OK);
    rig_start(&rig);
    int fd = client_connect(&rig);
    send(fd, "hello\n", 6, MSG_NOSIGNAL);
    assert_in_range(client_read_to_end(fd) + 1, 0, 1); // no welcome, whichever way it ends
    close(fd);
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "failed"), "handshake timeout"), 1);
    rig_free(&rig);
}

static void a_stack_that_refuses_connections_is_counted(void **state)
{
    (void)state;
    struct rig rig;
    rig_prepare(&rig);
    rig_start(&rig);
    fake.refuse = true;
    int fd = client_connect(&rig);
    assert_int_equal(client_read_to_end(fd), 0);
    close(fd);
    fake.refuse = false;
    json_decref(rig_settle(&rig, 1));
    rig_stop(&rig);
    assert_int_equal(count_of(json_object_get(rig.counters, "failed"), "no connection today"), 1);
    rig_free(&rig);
}

static void what_cannot_be_served_is_refused_by_name(void **state)
{
    (void)state;
    const uint16_t groups[] = {TLC_GROUP_X25519, TLC_GROUP_MLKEM768};
    struct rig rig, first;
    rig_prepare(&rig);
    rig.options.stack.groups = groups;
    rig.options.stack.group_count = 2;
    assert_int_equal(rig_fails(&rig), TLC_ENVIRONMENT);
    assert_non_null(strstr(rig.error.text, "stack fake: MLKEM768: fake 1 has no MLKEM768; "));

    rig_prepare(&rig);
    rig.options.stack.certificate_count = 0;
    assert_int_equal(rig_fails(&rig), TLC_ENVIRONMENT);
    assert_string_equal(rig.error.text, "serve: stack fake: no certificate");

    rig_prepare(&rig);
    rig.options.listen = "unix:/tmp/socket";
    rig.options.accept = TLC_ACCEPT_REUSEPORT;
    assert_int_equal(rig_fails(&rig), TLC_USAGE);
    assert_non_null(strstr(rig.error.text, "--accept shared"));

    rig_prepare(&rig);
    rig.options.listen = "192.0.2.1:0";
    assert_int_equal(rig_fails(&rig), TLC_ENVIRONMENT);
    assert_non_null(strstr(rig.error.text, "an address of this machine"));

    rig_prepare(&rig);
    close(rig.theirs);
    assert_int_equal(rig_fails(&rig), TLC_ENVIRONMENT);
    assert_non_null(strstr(rig.error.text, "control socket"));

    rig_prepare(&first);
    rig_start(&first);
    rig_prepare(&rig);
    rig.options.listen = first.address;
    rig.status = tlc_server_run(&rig.options, &rig.counters, &rig.error);
    assert_int_equal(rig.status, TLC_ENVIRONMENT);
    assert_non_null(strstr(rig.error.text, "choose another port"));
    rig_free(&rig);
    rig_stop(&first);
    rig_free(&first);
}

int main(void)
{
    static const enum tlc_accept shared = TLC_ACCEPT_SHARED, reuseport = TLC_ACCEPT_REUSEPORT;
    static const enum tlc_accept *const how[] = {&shared, &reuseport};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_are_counted_by_evidence),
        cmocka_unit_test(echo_waits_for_a_slow_reader),
        cmocka_unit_test(a_handshake_waits_for_a_slow_reader),
        cmocka_unit_test(failures_are_counted_by_reason),
        cmocka_unit_test(silent_clients_are_timed_out),
        cmocka_unit_test(endings_after_the_handshake_are_not_failures),
        cmocka_unit_test_prestate(workers_share_the_load, (void *)(uintptr_t)&how[0]),
        cmocka_unit_test_prestate(workers_share_the_load, (void *)(uintptr_t)&how[1]),
        cmocka_unit_test(other_addresses_work),
        cmocka_unit_test(http_is_answered_where_alpn_chose_it),
        cmocka_unit_test(resets_happen_when_asked),
        cmocka_unit_test(stalls_happen_when_asked),
        cmocka_unit_test(a_stack_that_refuses_connections_is_counted),
        cmocka_unit_test(what_cannot_be_served_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
