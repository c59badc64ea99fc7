// Slices against peers that misbehave on purpose, the refusals, and the control messages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/message.h"
#include "generator/generator.h"

enum behaviour { CLOSES, RESETS, ALERTS, TALKS_NONSENSE, IS_SILENT };

struct peer {
    int listener;
    enum behaviour behaviour;
    char address[32];
    pthread_t thread;
    int held[64]; // a silent peer keeps its connections open
    unsigned held_count;
};

static void behave(struct peer *peer, int fd)
{
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 40}; // fatal handshake_failure
    char bytes[4096];
    if (peer->behaviour == IS_SILENT) {
        peer->held[peer->held_count++ % 64] = fd;
        return;
    }
    if (recv(fd, bytes, sizeof bytes, 0) <= 0)
        bytes[0] = 0;
    if (peer->behaviour == RESETS) {
        const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    if (peer->behaviour == ALERTS)
        send(fd, alert, sizeof alert, MSG_NOSIGNAL);
    if (peer->behaviour == TALKS_NONSENSE)
        send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL);
    close(fd);
}

static void *serve(void *argument)
{
    struct peer *peer = argument;
    int fd;
    while ((fd = accept(peer->listener, NULL, NULL)) >= 0)
        behave(peer, fd);
    return NULL;
}

static void listen_somewhere(struct peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(peer->listener >= 0);
    assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(peer->listener, 128), 0);
    assert_int_equal(getsockname(peer->listener, (struct sockaddr *)&address, &length), 0);
    snprintf(peer->address, sizeof peer->address, "127.0.0.1:%u", ntohs(address.sin_port));
}

static void start_peer(struct peer *peer, enum behaviour behaviour)
{
    *peer = (struct peer){.behaviour = behaviour};
    listen_somewhere(peer);
    assert_int_equal(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

static void stop_peer(struct peer *peer)
{
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
    for (unsigned i = 0; i < peer->held_count && i < 64; i++)
        close(peer->held[i]);
}

static const enum tlc_loop_choice loops[] = {TLC_LOOP_EPOLL, TLC_LOOP_AUTO};

// All of `count` connections must fail for the reason named, and nothing else may be counted.
static void expect_only(const char *address, enum tlc_loop_choice loop, const char *kind,
                        unsigned threads)
{
    // Short only where the time-out is what is tested: a slow machine must not see one elsewhere.
    const struct tlc_target_options options = {.address = address,
                                               .loop = loop,
                                               .timeout_ms = strstr(kind, "timeout") ? 50 : 60000,
                                               .threads = threads};
    const struct tlc_slice_options slice = {.count = 21, .concurrency = 4, .keep_latencies = true};
    struct tlc_target *target;
    struct tlc_counters counters;
    struct tlc_error error;
    assert_int_equal(tlc_target_new(&options, &target, &error), TLC_OK);
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(tlc_target_slice(target, &slice, &counters, &error), TLC_OK);
        assert_int_equal(counters.started, 21);
        assert_int_equal(counters.handshakes, 0);
        assert_int_equal(counters.latency_count, 0);
        json_int_t counted = json_integer_value(json_object_get(counters.errors, kind));
        if (counted != 21)
            fail_msg("%s: %lld of 21: %s", kind, (long long)counted,
                     json_dumps(counters.errors, 0));
        tlc_counters_free(&counters);
    }
    tlc_target_free(target);
}

static void each_fault_of_a_server_is_named(void **state)
{
    (void)state;
    static const struct {
        enum behaviour behaviour;
        const char *kind;
    } faults[] = {
        {CLOSES, "closed-early"},   {RESETS, "reset"},      {ALERTS, "alert-handshake_failure"},
        {TALKS_NONSENSE, "not-tls"}, {IS_SILENT, "timeout"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
            struct peer peer;
            start_peer(&peer, faults[i].behaviour);
            expect_only(peer.address, loops[k], faults[i].kind, 1);
            stop_peer(&peer);
        }
}

static void nobody_there_is_connect_refused(void **state)
{
    (void)state;
    struct peer peer;
    listen_somewhere(&peer);
    close(peer.listener);
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        expect_only(peer.address, loops[k], "connect-refused", 1);
        expect_only("unix:/nonexistent/socket", loops[k], "connect-refused", 1);
    }
}

// A listener with a full backlog drops every SYN: the connect neither succeeds nor fails.
static void a_full_backlog_is_connect_timeout(void **state)
{
    (void)state;
    struct peer peer = {.listener = -1};
    listen_somewhere(&peer);
    assert_int_equal(listen(peer.listener, 0), 0);
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    getsockname(peer.listener, (struct sockaddr *)&address, &length);
    int filler[8];
    for (size_t i = 0; i < sizeof filler / sizeof *filler; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(filler[i], (struct sockaddr *)&address, length);
    }
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++)
        expect_only(peer.address, loops[k], "connect-timeout", 1);
    for (size_t i = 0; i < sizeof filler / sizeof *filler; i++)
        close(filler[i]);
    close(peer.listener);
}

static void threads_share_the_count(void **state)
{
    (void)state;
    struct peer peer;
    start_peer(&peer, ALERTS);
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++)
        expect_only(peer.address, loops[k], "alert-handshake_failure", 3);
    stop_peer(&peer);
}

static void tickets_of_a_server_that_refuses_cannot_be_counted(void **state)
{
    (void)state;
    struct peer peer;
    start_peer(&peer, ALERTS);
    const struct tlc_target_options options = {.address = peer.address};
    struct tlc_target *target;
    struct tlc_error error;
    unsigned tickets;
    assert_int_equal(tlc_target_new(&options, &target, &error), TLC_OK);
    assert_int_equal(tlc_target_count_tickets(target, &tickets, NULL, &error), TLC_REFUSED);
    assert_non_null(strstr(error.text, "alert-handshake_failure"));
    tlc_target_free(target);
    stop_peer(&peer);
}

static void refused(const struct tlc_target_options *options, const char *reason)
{
    struct tlc_target *target;
    struct tlc_error error = {.text = ""};
    assert_int_equal(tlc_target_new(options, &target, &error), TLC_USAGE);
    if (!strstr(error.text, reason))
        fail_msg("'%s' does not say '%s'", error.text, reason);
}

// 192.0.2.0/24 is for documentation (RFC 5737); the refusals come before any packet.
static void public_addresses_are_refused_what_a_laboratory_may(void **state)
{
    (void)state;
    refused(&(struct tlc_target_options){.address = "192.0.2.1:443"}, "--allow-public");
    refused(&(struct tlc_target_options){.address = "192.0.2.1:443",
                                         .share = TLC_SHARE_CHEAP,
                                         .allow_public = true},
            "cheap");
    refused(&(struct tlc_target_options){.address = "[2001:db8::1]:443",
                                         .stop = TLC_STOP_AFTER_CLIENT_HELLO,
                                         .allow_public = true},
            "stop early");
    refused(&(struct tlc_target_options){.address = "192.0.2.1:443",
                                         .stop = TLC_STOP_AFTER_SERVER_FLIGHT,
                                         .allow_public = true},
            "stop early");
    const struct tlc_target_options allowed = {.address = "192.0.2.1:443", .allow_public = true};
    const struct tlc_slice_options unlimited = {.count = 1};
    struct tlc_target *target;
    struct tlc_counters counters;
    struct tlc_error error;
    assert_int_equal(tlc_target_new(&allowed, &target, &error), TLC_OK);
    assert_int_equal(tlc_target_slice(target, &unlimited, &counters, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "--rate"));
    tlc_target_free(target);
}

static void unbounded_slices_are_refused(void **state)
{
    (void)state;
    const struct tlc_target_options options = {.address = "127.0.0.1:1"};
    struct tlc_target *target;
    struct tlc_counters counters;
    struct tlc_error error;
    assert_int_equal(tlc_target_new(&options, &target, &error), TLC_OK);
    assert_int_equal(
        tlc_target_slice(target, &(struct tlc_slice_options){.concurrency = 1}, &counters, &error),
        TLC_USAGE);
    assert_non_null(strstr(error.text, "duration"));
    tlc_target_free(target);
}

static void wrong_targets_are_refused(void **state)
{
    (void)state;
    refused(&(struct tlc_target_options){.address = NULL}, "address");
    refused(&(struct tlc_target_options){.address = "127.0.0.1:1", .resume_ratio = 1.5},
            "resumption");
    refused(&(struct tlc_target_options){.address = "127.0.0.1:1", .max_version = 0x0303},
            "engine full");
    refused(&(struct tlc_target_options){.address = "127.0.0.1:1", .echo_bytes = 1 << 20}, "echo");
    refused(&(struct tlc_target_options){.address = "127.0.0.1:1", .engine = TLC_ENGINE_FULL},
            "stack");
}

static void *serve_control(void *argument)
{
    struct tlc_error error;
    enum tlc_status *status = argument;
    *status = tlc_generator_serve((int)*status, &error);
    return NULL;
}

static json_t *ask(int control, json_t *request)
{
    struct tlc_error error;
    json_t *answer;
    assert_int_equal(tlc_message_send(control, request, &error), TLC_OK);
    json_decref(request);
    assert_int_equal(tlc_message_receive(control, 60000, &answer, &error), TLC_OK);
    return answer;
}

static void expect_error(int control, json_t *request, const char *reason)
{
    json_t *answer = ask(control, request);
    const char *text = json_string_value(json_object_get(answer, "error"));
    assert_non_null(text);
    if (!strstr(text, reason))
        fail_msg("'%s' does not say '%s'", text, reason);
    assert_int_equal(json_integer_value(json_object_get(answer, "status")), TLC_USAGE);
    json_decref(answer);
}

static void run_control_dialogue(int control, const char *address)
{
    expect_error(control, json_pack("{s:s}", "command", "dance"), "command");
    expect_error(control, json_pack("{s:s, s:i}", "command", "slice", "id", 7), "not prepared");
    expect_error(control, json_pack("{s:s, s:i, s:{}}", "command", "prepare", "id", 7, "target"),
                 "address");
    json_t *answer = ask(control, json_pack("{s:s, s:i, s:{s:s}}", "command", "prepare", "id", 7,
                                            "target", "address", address));
    assert_true(json_is_true(json_object_get(answer, "ok")));
    json_decref(answer);
    expect_error(control,
                 json_pack("{s:s, s:i, s:{s:s}}", "command", "prepare", "id", 7, "target",
                           "address", address),
                 "in use");
    expect_error(control, json_pack("{s:s, s:i, s:i}", "command", "slice", "id", 7, "count", -1),
                 "count");
    answer = ask(control, json_pack("{s:s, s:i, s:i, s:i, s:b}", "command", "slice", "id", 7,
                                    "count", 5, "concurrency", 2, "keep_latencies", 1));
    struct tlc_counters counters;
    struct tlc_error error;
    assert_int_equal(tlc_counters_from_json(json_object_get(answer, "counters"), &counters, &error),
                     TLC_OK);
    assert_int_equal(counters.started, 5);
    assert_int_equal(tlc_counters_errors(&counters), 5);
    tlc_counters_free(&counters);
    json_decref(answer);
    answer = ask(control, json_pack("{s:s, s:i}", "command", "release", "id", 7));
    assert_true(json_is_true(json_object_get(answer, "ok")));
    json_decref(answer);
    expect_error(control, json_pack("{s:s, s:i}", "command", "release", "id", 7), "not prepared");
}

static void control_messages_are_served_until_stop_or_the_peers_end(void **state)
{
    (void)state;
    struct peer peer;
    start_peer(&peer, ALERTS);
    for (int by_stop = 0; by_stop < 2; by_stop++) {
        int ends[2];
        pthread_t thread;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        enum tlc_status status = (enum tlc_status)ends[1];
        assert_int_equal(pthread_create(&thread, NULL, serve_control, &status), 0);
        run_control_dialogue(ends[0], peer.address);
        if (by_stop)
            json_decref(ask(ends[0], json_pack("{s:s}", "command", "stop")));
        else
            close(ends[0]);
        pthread_join(thread, NULL);
        assert_int_equal(status, TLC_OK);
        close(ends[1]);
        if (by_stop)
            close(ends[0]);
    }
    stop_peer(&peer);
}

// A floor server in this process, until the interrupt of the last test.
static struct {
    char address[32];
    pthread_t thread;
    pthread_barrier_t ready;
    enum tlc_status status;
} floor_server;

static void floor_ready(void *user)
{
    (void)user;
    pthread_barrier_wait(&floor_server.ready);
}

static void *run_floor(void *argument)
{
    (void)argument;
    struct tlc_error error;
    floor_server.status = tlc_floor_serve(floor_server.address, 0, floor_ready, NULL, &error);
    return NULL;
}

static void start_floor_server(void)
{
    struct peer port;
    listen_somewhere(&port); // a free port
    close(port.listener);
    memcpy(floor_server.address, port.address, sizeof floor_server.address);
    pthread_barrier_init(&floor_server.ready, NULL, 2);
    assert_int_equal(pthread_create(&floor_server.thread, NULL, run_floor, NULL), 0);
    pthread_barrier_wait(&floor_server.ready);
}

static void expect_floor(struct tlc_target_options options, uint64_t count, unsigned concurrency,
                         double rate)
{
    struct tlc_target *target;
    struct tlc_counters counters;
    struct tlc_error error;
    options.engine = TLC_ENGINE_TCP;
    options.address = floor_server.address;
    const struct tlc_slice_options slice = {
        .count = count, .concurrency = concurrency, .rate = rate, .keep_latencies = true};
    if (tlc_target_new(&options, &target, &error) != TLC_OK)
        fail_msg("%s", error.text);
    for (unsigned round = 0; round < 2; round++) {
        if (tlc_target_slice(target, &slice, &counters, &error) != TLC_OK)
            fail_msg("%s", error.text);
        if (counters.handshakes != count)
            fail_msg("%llu of %llu: %s", (unsigned long long)counters.handshakes,
                     (unsigned long long)count, json_dumps(counters.errors, 0));
        const struct tlc_floor *floor = &options.floor;
        assert_int_equal(counters.started, count);
        assert_int_equal(counters.latency_count, count);
        assert_int_equal(counters.bytes_sent,
                         count * (floor->client_hello_bytes + floor->finished_bytes));
        assert_int_equal(counters.bytes_received,
                         count * (floor->server_flight_bytes +
                                  (options.tickets_expected ? floor->ticket_bytes : 0)));
        tlc_counters_free(&counters);
    }
    tlc_target_free(target);
}

static void loops_carry_every_connection_to_its_end(void **state)
{
    (void)state;
    start_floor_server();
    const struct tlc_floor plain = {230, 900, 80, 0}, tickets = {1300, 40000, 80, 500};
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        const struct tlc_target_options base = {.loop = loops[k], .floor = plain};
        struct tlc_target_options options = base;
        expect_floor(options, 2000, 64, 0);
        expect_floor(options, 3, 1, 0);
        expect_floor(options, 100, 10, 2000);
        options.threads = 3;
        expect_floor(options, 1000, 20, 0);
        options = base;
        options.fresh_sockets = true;
        expect_floor(options, 500, 32, 0);
        options = base;
        options.close = TLC_CLOSE_FIN;
        expect_floor(options, 500, 32, 0);
        options = base;
        options.floor = tickets;
        options.tickets_expected = 1;
        expect_floor(options, 1000, 64, 0);
        options.split_every = 100;
        expect_floor(options, 50, 8, 0);
        options.split_every = 0;
        options.split_at = 20;
        expect_floor(options, 50, 8, 0);
    }
}

static void floor_counts_are_checked(void **state)
{
    (void)state;
    static const struct tlc_floor bad[] = {
        {19, 1, 1, 0}, {20, 0, 1, 0}, {20, 1, 0, 0}, {20, 1, 1, 65537}, {65537, 1, 1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(&(struct tlc_target_options){.address = "127.0.0.1:1",
                                             .engine = TLC_ENGINE_TCP,
                                             .floor = bad[i]},
                "byte counts");
    struct tlc_error error;
    assert_int_equal(tlc_floor_serve("192.0.2.1:1", 0, NULL, NULL, &error), TLC_USAGE);
}

// The last test: an interrupt holds for the rest of the process.
static void an_interrupt_starts_nothing_more(void **state)
{
    (void)state;
    const struct tlc_target_options options = {.address = "127.0.0.1:1"};
    const struct tlc_slice_options slice = {.duration_us = 3600000000u, .concurrency = 4};
    struct tlc_target *target;
    struct tlc_counters counters;
    struct tlc_error error;
    assert_int_equal(tlc_target_new(&options, &target, &error), TLC_OK);
    tlc_generator_interrupt();
    pthread_join(floor_server.thread, NULL);
    assert_int_equal(floor_server.status, TLC_OK);
    assert_int_equal(tlc_target_slice(target, &slice, &counters, &error), TLC_OK);
    assert_int_equal(counters.started, 0);
    tlc_counters_free(&counters);
    tlc_target_free(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_of_a_server_is_named),
        cmocka_unit_test(nobody_there_is_connect_refused),
        cmocka_unit_test(a_full_backlog_is_connect_timeout),
        cmocka_unit_test(threads_share_the_count),
        cmocka_unit_test(tickets_of_a_server_that_refuses_cannot_be_counted),
        cmocka_unit_test(public_addresses_are_refused_what_a_laboratory_may),
        cmocka_unit_test(unbounded_slices_are_refused),
        cmocka_unit_test(wrong_targets_are_refused),
        cmocka_unit_test(control_messages_are_served_until_stop_or_the_peers_end),
        cmocka_unit_test(loops_carry_every_connection_to_its_end),
        cmocka_unit_test(floor_counts_are_checked),
        cmocka_unit_test(an_interrupt_starts_nothing_more),
    };
    return cmocka_run_group_tests_name("generator target", tests, NULL, NULL);
}
