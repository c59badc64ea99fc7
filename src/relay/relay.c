#include "relay/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/clock.h"
#include "relay/stream.h"

enum { EVENTS = 64, BACKLOG = 4096, CHUNK_BYTES = 65536, MOST_LATENESS = 1000000 };

// One end of a relayed connection: what epoll knows of its socket.
struct end {
    struct pair *pair;
    int fd;
    bool blocked; // a write did not fit; EPOLLOUT tells when to go on
    bool paused;  // not read from, since enough is on its way
    bool shut;    // the peer was told of the end
};

enum { CLIENT, SERVER };

struct pair {
    struct pair *next, *before;
    struct end ends[2];           // of the client, of the server
    struct tlc_stream streams[2]; // from the client, from the server
    bool dead;
};

struct route {
    struct route *next;
    struct pair *no_pair; // NULL, where an end has its pair: tells events apart
    int listener;
    bool announce;
    struct sockaddr_in server;
    struct tlc_path path;
    uint64_t connections;
};

struct tlc_relay {
    int epoll, wake;
    uint64_t seed;
    struct route *routes;
    size_t route_count;
    struct pair pairs; // the head of a ring
    pthread_t thread;
    bool running;
    uint32_t *lateness;
    size_t lateness_count;
    uint64_t connections, refused;
    uint8_t chunk[CHUNK_BYTES];
};

enum tlc_status tlc_relay_new(uint64_t seed, struct tlc_relay **made, struct tlc_error *error)
{
    struct tlc_relay *relay = calloc(1, sizeof *relay);
    *made = NULL;
    if (!relay)
        return tlc_fail(error, TLC_ENVIRONMENT, "relay: out of memory");
    relay->seed = seed;
    relay->pairs.next = relay->pairs.before = &relay->pairs;
    relay->lateness = malloc(MOST_LATENESS * sizeof *relay->lateness);
    relay->epoll = epoll_create1(EPOLL_CLOEXEC);
    relay->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (!relay->lateness || relay->epoll < 0 || relay->wake < 0 ||
        epoll_ctl(relay->epoll, EPOLL_CTL_ADD, relay->wake, &event)) {
        enum tlc_status status = tlc_fail_errno(error, "relay: start");
        tlc_relay_free(relay);
        return status;
    }
    *made = relay;
    return TLC_OK;
}

static enum tlc_status parse_server(const char *text, struct sockaddr_in *server,
                                    struct tlc_error *error)
{
    char host[64];
    unsigned port;
    *server = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(text, "%63[0-9.]:%u", host, &port) != 2 || port < 1 || port > 65535 ||
        inet_pton(AF_INET, host, &server->sin_addr) != 1)
        return tlc_fail(error, TLC_USAGE, "relay: %.100s: not an IPv4 address with a port", text);
    server->sin_port = htons((uint16_t)port);
    if (ntohl(server->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
        return tlc_fail(error, TLC_USAGE, "relay: %.100s: not on loopback", text);
    return TLC_OK;
}

static int listen_anywhere(char *address, size_t capacity)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&own, sizeof own) || listen(fd, BACKLOG) ||
                    getsockname(fd, (struct sockaddr *)&own, &size))) {
        int code = errno;
        close(fd);
        errno = code;
        return -1;
    }
    snprintf(address, capacity, "127.0.0.1:%u", (unsigned)ntohs(own.sin_port));
    return fd;
}

enum tlc_status tlc_relay_route(struct tlc_relay *relay, const char *server,
                                const struct tlc_path *path, bool announce, char *address,
                                size_t capacity, struct tlc_error *error)
{
    struct sockaddr_in to;
    enum tlc_status status = parse_server(server, &to, error);
    if (status != TLC_OK)
        return status;
    struct route *route = calloc(1, sizeof *route);
    if (!route)
        return tlc_fail(error, TLC_ENVIRONMENT, "relay: out of memory");
    route->server = to;
    route->path = *path;
    route->announce = announce;
    route->listener = listen_anywhere(address, capacity);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &route->no_pair};
    if (route->listener < 0 || epoll_ctl(relay->epoll, EPOLL_CTL_ADD, route->listener, &event)) {
        status = tlc_fail_errno(error, "relay: listen");
        if (route->listener >= 0)
            close(route->listener);
        free(route);
        return status;
    }
    route->next = relay->routes;
    relay->routes = route;
    relay->route_count++;
    return TLC_OK;
}

static void free_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        tlc_stream_free(&pair->streams[i]);
        if (pair->ends[i].fd >= 0)
            close(pair->ends[i].fd);
    }
    pair->before->next = pair->next;
    pair->next->before = pair->before;
    free(pair);
}

// Both sides see a reset, as they would from a peer.
static void break_off(struct pair *pair)
{
    struct linger reset = {.l_onoff = 1};
    for (int i = 0; i < 2; i++)
        (void)setsockopt(pair->ends[i].fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    pair->dead = true;
}

static bool watch(struct tlc_relay *relay, struct end *end)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = end};
    int one = 1;
    (void)setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return !epoll_ctl(relay->epoll, EPOLL_CTL_ADD, end->fd, &event);
}

static int connect_to(const struct sockaddr_in *server)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)server, sizeof *server) &&
        errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

// Seeds of a connection depend on its route and its place in it, not on what else goes on.
static void open_streams(struct tlc_relay *relay, struct route *route, size_t route_index,
                         struct pair *pair)
{
    struct tlc_dice dice = {relay->seed ^ (route_index << 40) ^ (route->connections << 2)};
    uint64_t established = tlc_now_ns() + tlc_path_handshake_ns(&route->path, &dice);
    tlc_stream_init(&pair->streams[CLIENT], &route->path, dice.state + 1, established);
    tlc_stream_init(&pair->streams[SERVER], &route->path, dice.state + 2,
                    established + route->path.one_way_ns);
    if (route->announce)
        tlc_stream_announce(&pair->streams[SERVER], established, TLC_RELAY_ESTABLISHED);
    route->connections++;
}

static void take_connection(struct tlc_relay *relay, struct route *route, size_t index, int fd)
{
    struct pair *pair = calloc(1, sizeof *pair);
    if (!pair) {
        close(fd);
        relay->refused++;
        return;
    }
    relay->connections++;
    pair->ends[CLIENT] = (struct end){.pair = pair, .fd = fd};
    pair->ends[SERVER] = (struct end){.pair = pair, .fd = connect_to(&route->server)};
    pair->next = &relay->pairs;
    pair->before = relay->pairs.before;
    pair->before->next = pair->next->before = pair;
    open_streams(relay, route, index, pair);
    if (pair->ends[SERVER].fd < 0 || !watch(relay, &pair->ends[CLIENT]) ||
        !watch(relay, &pair->ends[SERVER])) {
        relay->refused++;
        break_off(pair);
    }
}

static void accept_all(struct tlc_relay *relay, struct route *route)
{
    size_t index = 0;
    for (const struct route *at = route; at; at = at->next)
        index++; // routes are a stack, so this is the order of their making
    for (;;) {
        int fd = accept4(route->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
            return;
        if (fd >= 0)
            take_connection(relay, route, index, fd);
    }
}

static void read_in(struct tlc_relay *relay, struct end *end)
{
    struct pair *pair = end->pair;
    struct tlc_stream *stream = &pair->streams[end - pair->ends];
    while (!pair->dead && !stream->ended) {
        end->paused = tlc_stream_full(stream);
        if (end->paused)
            return;
        ssize_t got = recv(end->fd, relay->chunk, sizeof relay->chunk, 0);
        if (got > 0) {
            tlc_stream_send(stream, tlc_now_ns(), relay->chunk, (size_t)got);
            if (stream->broken)
                break_off(pair);
        } else if (got == 0) {
            tlc_stream_end(stream, tlc_now_ns());
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            break_off(pair);
        }
    }
}

static void note_lateness(struct tlc_relay *relay, uint64_t now_ns, uint64_t due_ns)
{
    uint64_t late_us = (now_ns - due_ns) / 1000;
    if (relay->lateness_count < MOST_LATENESS)
        relay->lateness[relay->lateness_count++] =
            late_us < UINT32_MAX ? (uint32_t)late_us : UINT32_MAX;
}

// Hands on what has arrived in one direction. Returns the time of the next arrival; UINT64_MAX:
// none, or the receiver takes no more.
static uint64_t deliver(struct tlc_relay *relay, struct pair *pair, int from, uint64_t now_ns)
{
    struct tlc_stream *stream = &pair->streams[from];
    struct end *to = &pair->ends[1 - from];
    struct tlc_delivery next;
    const uint8_t *bytes;
    while (!to->blocked && (bytes = tlc_stream_next(stream, &next))) {
        if (next.at_ns > now_ns)
            return next.at_ns;
        ssize_t sent = send(to->fd, bytes, next.bytes, MSG_NOSIGNAL);
        if (sent > 0) {
            if ((size_t)sent == next.bytes)
                note_lateness(relay, now_ns, next.at_ns);
            tlc_stream_taken(stream, (size_t)sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            to->blocked = true;
        } else if (errno != EINTR) {
            break_off(pair);
            return UINT64_MAX;
        }
    }
    if (to->blocked || !stream->ended || to->shut)
        return UINT64_MAX;
    if (stream->end_ns > now_ns)
        return stream->end_ns;
    (void)shutdown(to->fd, SHUT_WR);
    to->shut = true;
    pair->dead = pair->ends[from].shut;
    return UINT64_MAX;
}

// Hands on all that is due and returns when the next is; UINT64_MAX: nothing is on its way.
static uint64_t deliver_all(struct tlc_relay *relay)
{
    uint64_t soonest = UINT64_MAX;
    for (struct pair *pair = relay->pairs.next, *next; pair != &relay->pairs; pair = next) {
        next = pair->next;
        for (int from = 0; from < 2 && !pair->dead; from++) {
            uint64_t due = deliver(relay, pair, from, tlc_now_ns());
            if (due < soonest)
                soonest = due;
            if (pair->ends[from].paused)
                read_in(relay, &pair->ends[from]);
        }
        if (pair->dead)
            free_pair(pair);
    }
    return soonest;
}

static void take_event(struct tlc_relay *relay, const struct epoll_event *event)
{
    struct pair *const *owner = event->data.ptr;
    if (!*owner) {
        accept_all(relay, (struct route *)(void *)((char *)event->data.ptr -
                                                   offsetof(struct route, no_pair)));
        return;
    }
    struct end *end = event->data.ptr;
    if (event->events & EPOLLOUT)
        end->blocked = false;
    if (!end->pair->dead)
        read_in(relay, end);
    if (event->events & EPOLLERR)
        break_off(end->pair);
}

static void *run(void *argument)
{
    struct tlc_relay *relay = argument;
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    uint64_t soonest = UINT64_MAX;
    for (;;) {
        struct epoll_event events[EVENTS];
        uint64_t now = tlc_now_ns(), wait = soonest > now ? soonest - now : 0;
        struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000),
                                   .tv_nsec = (long)(wait % 1000000000)};
        int ready = epoll_pwait2(relay->epoll, events, EVENTS,
                                 soonest == UINT64_MAX ? NULL : &timeout, NULL);
        for (int i = 0; i < ready; i++) {
            if (!events[i].data.ptr)
                return NULL; // woken to stop
            take_event(relay, &events[i]);
        }
        soonest = deliver_all(relay);
    }
}

enum tlc_status tlc_relay_start(struct tlc_relay *relay, struct tlc_error *error)
{
    errno = pthread_create(&relay->thread, NULL, run, relay);
    relay->running = !errno;
    return relay->running ? TLC_OK : tlc_fail_errno(error, "relay: start a thread");
}

void tlc_relay_stop(struct tlc_relay *relay)
{
    if (!relay->running)
        return;
    (void)eventfd_write(relay->wake, 1);
    pthread_join(relay->thread, NULL);
    relay->running = false;
}

struct tlc_relay_lateness tlc_relay_lateness(const struct tlc_relay *relay)
{
    return (struct tlc_relay_lateness){.us = relay->lateness,
                                       .count = relay->lateness_count,
                                       .connections = relay->connections,
                                       .refused = relay->refused};
}

void tlc_relay_free(struct tlc_relay *relay)
{
    if (!relay)
        return;
    tlc_relay_stop(relay);
    while (relay->pairs.next && relay->pairs.next != &relay->pairs)
        free_pair(relay->pairs.next);
    for (struct route *route = relay->routes, *next; route; route = next) {
        next = route->next;
        close(route->listener);
        free(route);
    }
    if (relay->epoll >= 0)
        close(relay->epoll);
    if (relay->wake >= 0)
        close(relay->wake);
    free(relay->lateness);
    free(relay);
}
