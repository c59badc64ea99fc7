// The arithmetic of waiting, the open loop's schedule, and a relay with real sockets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "connect/arithmetic.h"
#include "connect/open_loop.h"
#include "relay/relay.h"

static const struct tlc_path path = {.one_way_ns = 75000000, .mss = 1460, .initial_window = 10};

static void assert_trips(const struct tlc_wire *wire, bool upgrade, unsigned tcp, unsigned hello,
                         unsigned finished, unsigned first)
{
    unsigned trips[TLC_PHASES];
    tlc_connect_round_trips(wire, &path, upgrade, trips);
    assert_int_equal(trips[TLC_PHASE_TCP], tcp);
    assert_int_equal(trips[TLC_PHASE_SERVER_HELLO], hello);
    assert_int_equal(trips[TLC_PHASE_FINISHED], finished);
    assert_int_equal(trips[TLC_PHASE_FIRST_BYTE], first);
}

// RFC 8446, figure 1; RFC 5246, figures 1 and 2; RFC 8446, figure 2.
static void handshakes_take_their_round_trips(void **state)
{
    (void)state;
    const struct tlc_wire tls13 = {.client_hello = 250, .server_flight = 1200};
    const struct tlc_wire tls12 = {
        .client_hello = 200, .server_flight = 1000, .server_finished = 51};
    const struct tlc_wire tls12_resumed = {.client_hello = 400, .server_flight = 140};
    const struct tlc_wire retried = {
        .client_hello = 600, .hello_retry_request = 99, .server_flight = 1200};
    assert_trips(&tls13, false, 1, 2, 2, 3);
    assert_trips(&tls12, false, 1, 2, 3, 4);
    assert_trips(&tls12_resumed, false, 1, 2, 2, 3);
    assert_trips(&retried, false, 1, 3, 3, 4);
    assert_trips(&tls13, true, 1, 2, 2, 4);
    assert_trips(&tls12, true, 1, 2, 3, 5);
}

static void a_chain_beyond_the_window_takes_one_more(void **state)
{
    (void)state;
    struct tlc_wire wire = {.client_hello = 250, .server_flight = 14600};
    assert_trips(&wire, false, 1, 2, 2, 3);
    wire.server_flight = 14601; // its ServerHello comes with the first of it
    assert_trips(&wire, false, 1, 2, 3, 4);
    wire.server_flight = 3 * 14600;
    assert_trips(&wire, false, 1, 2, 3, 4);
    wire.server_flight = 3 * 14600 + 1;
    assert_trips(&wire, false, 1, 2, 4, 5);
}

// The model of the path, given flights and no computing, must agree with the count of round trips.
struct last {
    uint64_t at_ns;
};

static void note_last(void *user, struct tlc_delivery delivery)
{
    ((struct last *)user)->at_ns = delivery.at_ns;
}

static uint64_t flight(struct tlc_flow *flow, uint64_t at_ns, size_t bytes)
{
    struct last last = {0};
    assert_true(tlc_flow_send(flow, at_ns, bytes, note_last, &last));
    return last.at_ns;
}

// Ends when the first byte of the answer is here.
static uint64_t simulate(const struct tlc_wire *wire, const struct tlc_path *over)
{
    struct tlc_flow up, down;
    struct tlc_dice dice = {1};
    tlc_flow_init(&up, over, 1);
    tlc_flow_init(&down, over, 2);
    uint64_t at = tlc_path_handshake_ns(over, &dice);
    at = flight(&down, flight(&up, at, wire->client_hello), wire->server_flight);
    if (wire->server_finished)
        at = flight(&down, flight(&up, at, wire->client_flight), wire->server_finished);
    at = flight(&down, flight(&up, at, 150), 150);
    tlc_flow_free(&up);
    tlc_flow_free(&down);
    return at;
}

static void the_model_agrees_with_the_arithmetic(void **state)
{
    (void)state;
    static const unsigned rtts_ms[] = {1, 20, 50, 150, 300};
    for (size_t i = 0; i < sizeof rtts_ms / sizeof *rtts_ms; i++)
        for (size_t bytes = 100; bytes < 120000; bytes += 1237)
            for (int version = 0; version < 2; version++) {
                const struct tlc_wire wire = {.client_hello = 250,
                                              .server_flight = bytes,
                                              .client_flight = 130,
                                              .server_finished = version ? 51 : 0};
                struct tlc_path over = path;
                unsigned trips[TLC_PHASES];
                over.one_way_ns = rtts_ms[i] * 500000ull;
                tlc_connect_round_trips(&wire, &over, false, trips);
                assert_int_equal(simulate(&wire, &over),
                                 trips[TLC_PHASE_FIRST_BYTE] * 2 * over.one_way_ns);
            }
}

static void the_open_loop_visits_every_spot_in_each_sweep(void **state)
{
    (void)state;
    enum { SPOTS = 7, CONNECTIONS = 3000, ALL = SPOTS * CONNECTIONS, PACE = 50 };
    static uint64_t due[ALL], again[ALL];
    static size_t spots[ALL], other[ALL];
    tlc_open_loop_schedule(3, SPOTS, CONNECTIONS, PACE, due, spots);
    for (size_t sweep = 0; sweep < CONNECTIONS; sweep++) {
        unsigned seen = 0;
        for (size_t i = 0; i < SPOTS; i++) {
            assert_true(spots[sweep * SPOTS + i] < SPOTS);
            seen |= 1u << spots[sweep * SPOTS + i];
        }
        assert_int_equal(seen, (1u << SPOTS) - 1);
    }
    unsigned first[SPOTS] = {0}, beyond = 0;
    for (size_t i = 1; i < ALL; i++) {
        assert_true(due[i] >= due[i - 1]);
        beyond += due[i] - due[i - 1] > 1000000000ull / PACE;
    }
    for (size_t sweep = 0; sweep < CONNECTIONS; sweep++)
        first[spots[sweep * SPOTS]]++;
    for (size_t i = 0; i < SPOTS; i++) // 429 each, standard deviation 19
        assert_in_range(first[i], 429 - 100, 429 + 100);
    // Exponential gaps: e^-1 of them exceed their mean, 7725, standard deviation 70.
    assert_in_range(beyond, 7725 - 350, 7725 + 350);
    double mean_s = (double)due[ALL - 1] / 1e9 / ALL;
    assert_true(fabs(mean_s * PACE - 1) < 0.04); // standard deviation 0.7 %
    tlc_open_loop_schedule(3, SPOTS, CONNECTIONS, PACE, again, other);
    assert_memory_equal(again, due, sizeof due);
    assert_memory_equal(other, spots, sizeof spots);
}

// ---- the relay

static int listen_here(char *address, size_t capacity)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof own) && !listen(fd, 8) &&
                !getsockname(fd, (struct sockaddr *)&own, &size));
    snprintf(address, capacity, "127.0.0.1:%u", ntohs(own.sin_port));
    return fd;
}

static int connect_here(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 20};
    to.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) &&
                !connect(fd, (struct sockaddr *)&to, sizeof to));
    return fd;
}

static void receive_all(int fd, uint8_t *bytes, size_t count)
{
    for (size_t got = 0; got < count;) {
        ssize_t now = recv(fd, bytes + got, count - got, 0);
        assert_true(now > 0);
        got += (size_t)now;
    }
}

static struct tlc_relay *start(const char *server, uint64_t one_way_ns, bool announce,
                               char *address, size_t capacity)
{
    struct tlc_relay *relay;
    struct tlc_error error = {0};
    struct tlc_path over = path;
    over.one_way_ns = one_way_ns;
    if (tlc_relay_new(1, &relay, &error) != TLC_OK ||
        tlc_relay_route(relay, server, &over, announce, address, capacity, &error) != TLC_OK ||
        tlc_relay_start(relay, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return relay;
}

// More than both windows and more than what a relay holds, both ways, and both ends in order.
static void the_relay_carries_every_byte(void **state)
{
    (void)state;
    enum { BYTES = 3000000 };
    static uint8_t sent[BYTES], got[BYTES];
    char server[64], address[64];
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 2654435761u >> 13);
    int listener = listen_here(server, sizeof server);
    struct tlc_relay *relay = start(server, 100000, false, address, sizeof address);
    int client = connect_here(address), peer = accept(listener, NULL, NULL);
    for (size_t at = 0; at < BYTES;) {
        size_t part = BYTES - at < 50000 ? BYTES - at : 50000;
        assert_int_equal(send(client, sent + at, part, 0), part);
        receive_all(peer, got + at, part);
        at += part;
    }
    assert_memory_equal(got, sent, BYTES);
    assert_int_equal(send(peer, sent, 40000, 0), 40000);
    shutdown(peer, SHUT_WR);
    receive_all(client, got, 40000);
    assert_memory_equal(got, sent, 40000);
    assert_int_equal(recv(client, got, 1, 0), 0);
    close(client);
    assert_int_equal(recv(peer, got, 1, 0), 0);
    tlc_relay_stop(relay);
    struct tlc_relay_lateness late = tlc_relay_lateness(relay);
    assert_int_equal(late.connections, 1);
    assert_int_equal(late.refused, 0);
    assert_true(late.count >= BYTES / 1460);
    tlc_relay_free(relay);
    close(peer);
    close(listener);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Never early: that cannot depend on the machine's speed.
static void the_relay_is_never_early(void **state)
{
    (void)state;
    enum { RTT_NS = 40000000 };
    char server[64], address[64];
    uint8_t bytes[20000] = {0};
    int listener = listen_here(server, sizeof server);
    struct tlc_relay *relay = start(server, RTT_NS / 2, true, address, sizeof address);
    uint64_t begun = now_ns();
    int client = connect_here(address), peer = accept(listener, NULL, NULL);
    receive_all(client, bytes, 1);
    assert_int_equal(bytes[0], TLC_RELAY_ESTABLISHED);
    assert_true(now_ns() - begun >= RTT_NS);
    uint64_t said = now_ns();
    assert_int_equal(send(client, "?", 1, 0), 1);
    receive_all(peer, bytes, 1);
    assert_true(now_ns() - said >= RTT_NS / 2);
    said = now_ns();
    assert_int_equal(send(peer, bytes, sizeof bytes, 0), sizeof bytes);
    receive_all(client, bytes, 14600);
    assert_true(now_ns() - said >= RTT_NS / 2);
    receive_all(client, bytes, sizeof bytes - 14600); // beyond the window
    assert_true(now_ns() - said >= RTT_NS / 2 + RTT_NS);
    tlc_relay_free(relay);
    close(client);
    close(peer);
    close(listener);
}

static void the_relay_passes_resets_on(void **state)
{
    (void)state;
    char server[64], address[64], byte;
    struct linger reset = {.l_onoff = 1};
    int listener = listen_here(server, sizeof server);
    struct tlc_relay *relay = start(server, 100000, false, address, sizeof address);
    int client = connect_here(address), peer = accept(listener, NULL, NULL);
    assert_int_equal(send(client, "?", 1, 0), 1);
    receive_all(peer, (uint8_t *)&byte, 1);
    setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(client);
    assert_int_equal(recv(peer, &byte, 1, 0), -1);
    close(peer);
    close(listener);
    client = connect_here(address); // and a server that is gone
    assert_true(recv(client, &byte, 1, 0) <= 0);
    close(client);
    tlc_relay_free(relay);
}

static void the_relay_stays_on_loopback(void **state)
{
    (void)state;
    static const char *const wrong[] = {"192.0.2.1:443", "example.org:443", "127.0.0.1",
                                        "127.0.0.1:0",   "[::1]:443",       ""};
    struct tlc_relay *relay;
    struct tlc_error error = {0};
    char address[64];
    assert_int_equal(tlc_relay_new(1, &relay, &error), TLC_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            tlc_relay_route(relay, wrong[i], &path, false, address, sizeof address, &error),
            TLC_USAGE);
    tlc_relay_free(relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_take_their_round_trips),
        cmocka_unit_test(a_chain_beyond_the_window_takes_one_more),
        cmocka_unit_test(the_model_agrees_with_the_arithmetic),
        cmocka_unit_test(the_open_loop_visits_every_spot_in_each_sweep),
        cmocka_unit_test(the_relay_carries_every_byte),
        cmocka_unit_test(the_relay_is_never_early),
        cmocka_unit_test(the_relay_passes_resets_on),
        cmocka_unit_test(the_relay_stays_on_loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
