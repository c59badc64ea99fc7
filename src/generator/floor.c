#include "generator/floor.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "generator/address.h"
#include "generator/interrupt.h"
#include "generator/socket.h"
#include "measure/clock.h"

enum { MOST_BYTES = 65536, EVENTS = 256, BACKLOG = 4096, WAKE_MS = 200 };

static const uint8_t magic[4] = {'f', 'l', 'o', 'r'};

void tlc_floor_header(const struct tlc_floor *floor, uint8_t header[TLC_FLOOR_HEADER_BYTES])
{
    const uint32_t counts[4] = {floor->client_hello_bytes, floor->server_flight_bytes,
                                floor->finished_bytes, floor->ticket_bytes};
    memcpy(header, magic, sizeof magic);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            header[4 + 4 * i + k] = (uint8_t)(counts[i] >> (24 - 8 * k));
}

bool tlc_floor_sound(const struct tlc_floor *floor)
{
    return floor->client_hello_bytes >= TLC_FLOOR_HEADER_BYTES &&
           floor->client_hello_bytes <= MOST_BYTES && floor->server_flight_bytes > 0 &&
           floor->server_flight_bytes <= MOST_BYTES && floor->finished_bytes > 0 &&
           floor->finished_bytes <= MOST_BYTES && floor->ticket_bytes <= MOST_BYTES;
}

bool tlc_floor_header_parse(const uint8_t *bytes, size_t count, struct tlc_floor *floor)
{
    uint32_t counts[4] = {0};
    if (count < TLC_FLOOR_HEADER_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
        return false;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            counts[i] = counts[i] << 8 | bytes[4 + 4 * i + k];
    *floor = (struct tlc_floor){counts[0], counts[1], counts[2], counts[3]};
    return tlc_floor_sound(floor);
}

// One connection of the server, in the list of all.
struct peer {
    struct peer *next, **from;
    int fd;
    struct tlc_floor floor;
    size_t received;
    bool known, flight_sent, tickets_sent;
};

struct server {
    int listener, epoll;
    unsigned burn_us;
    struct peer *peers;
    uint8_t *bytes; // MOST_BYTES: what is received, and zeros to send
    uint8_t *zeros;
};

static void peer_free(struct peer *peer)
{
    *peer->from = peer->next;
    if (peer->next)
        peer->next->from = peer->from;
    close(peer->fd);
    free(peer);
}

static void accept_all(struct server *server)
{
    int fd;
    while ((fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct peer *peer = calloc(1, sizeof *peer);
        const int on = 1;
        struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = peer};
        if (!peer || epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event)) {
            free(peer);
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        peer->fd = fd;
        peer->next = server->peers;
        peer->from = &server->peers;
        if (peer->next)
            peer->next->from = &peer->next;
        server->peers = peer;
    }
}

// CPU in place of the handshake's, so that the floor is measured at the pace of a TLS server.
static void burn(unsigned us)
{
    uint64_t until_ns = tlc_thread_cpu_ns() + (uint64_t)us * 1000;
    while (us && tlc_thread_cpu_ns() < until_ns)
        ;
}

static bool send_zeros(const struct server *server, const struct peer *peer, size_t count)
{
    // Answers are smaller than any socket buffer; a client that does not read them is dropped.
    return !count || send(peer->fd, server->zeros, count, MSG_NOSIGNAL) == (ssize_t)count;
}

// Takes what came; false when the connection is over.
static bool advance(struct server *server, struct peer *peer)
{
    ssize_t got = recv(peer->fd, server->bytes, MOST_BYTES, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (!peer->known &&
        !(peer->known = tlc_floor_header_parse(server->bytes, (size_t)got, &peer->floor)))
        return false;
    peer->received += (size_t)got;
    const struct tlc_floor *floor = &peer->floor;
    if (!peer->flight_sent && peer->received >= floor->client_hello_bytes) {
        peer->flight_sent = true;
        burn(server->burn_us);
        if (!send_zeros(server, peer, floor->server_flight_bytes))
            return false;
    }
    size_t all = (size_t)floor->client_hello_bytes + floor->finished_bytes;
    if (!peer->tickets_sent && peer->received >= all) {
        peer->tickets_sent = true;
        return send_zeros(server, peer, floor->ticket_bytes);
    }
    return true;
}

static enum tlc_status listen_on(struct server *server, const char *listen_address,
                                 struct tlc_error *error)
{
    struct tlc_target_address address;
    enum tlc_status status = tlc_target_address_parse(listen_address, &address, error);
    if (status != TLC_OK)
        return status;
    if (address.scope == TLC_SCOPE_ANYWHERE)
        return tlc_fail(error, TLC_USAGE,
                        "floor server: %s: it listens on loopback, private and link-local "
                        "addresses only",
                        listen_address);
    const int on = 1;
    const struct sockaddr *to = (const struct sockaddr *)&address.storage;
    server->listener = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 ||
        setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        bind(server->listener, to, address.length) || listen(server->listener, BACKLOG))
        return tlc_fail_errno(error, "floor server: listen on %s", listen_address);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event))
        return tlc_fail_errno(error, "floor server: epoll");
    server->bytes = malloc(MOST_BYTES);
    server->zeros = calloc(1, MOST_BYTES);
    if (!server->bytes || !server->zeros)
        return tlc_fail(error, TLC_ENVIRONMENT, "floor server: out of memory");
    return TLC_OK;
}

enum tlc_status tlc_floor_serve(const char *listen_address, unsigned burn_us,
                                void (*ready)(void *user), void *user, struct tlc_error *error)
{
    struct server server = {.listener = -1, .epoll = -1, .burn_us = burn_us};
    struct epoll_event events[EVENTS];
    enum tlc_status status = listen_on(&server, listen_address, error);
    if (status == TLC_OK && ready)
        ready(user);
    while (status == TLC_OK && !tlc_generator_interrupted()) {
        int count = epoll_wait(server.epoll, events, EVENTS, WAKE_MS);
        if (count < 0 && errno != EINTR)
            status = tlc_fail_errno(error, "floor server: wait");
        for (int i = 0; i < count; i++) {
            struct peer *peer = events[i].data.ptr;
            if (!peer)
                accept_all(&server);
            else if (!advance(&server, peer))
                peer_free(peer);
        }
    }
    while (server.peers)
        peer_free(server.peers);
    if (server.listener >= 0)
        close(server.listener);
    if (server.epoll >= 0)
        close(server.epoll);
    free(server.bytes);
    free(server.zeros);
    return status;
}
