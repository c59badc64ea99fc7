// The epoll loop: each socket is registered once, edge-triggered, and used again for the next
// connection (connect to AF_UNSPEC ends the old one by reset).
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "generator/lane.h"
#include "generator/socket.h"
#include "measure/clock.h"

enum { BUFFER_BYTES = 65536, EVENTS = 512, STARTS_PER_TURN = 64 };

struct tlc_loop {
    struct tlc_lane *lane;
    struct tlc_socket_options sockets;
    int epoll;
    int *fd;           // of each connection; -1: none
    enum tlc_ask *ask; // what each connection waits for
    unsigned fd_count;
    int harvest; // events of the last wait
    uint8_t *buffer;
};

static void epoll_close(struct tlc_loop *loop)
{
    for (unsigned i = 0; i < loop->fd_count; i++)
        if (loop->fd[i] >= 0)
            close(loop->fd[i]);
    if (loop->epoll >= 0)
        close(loop->epoll);
    free(loop->fd);
    free(loop->ask);
    free(loop->buffer);
    free(loop);
}

static enum tlc_status epoll_open(struct tlc_lane *lane, struct tlc_loop **loop,
                                  struct tlc_error *error)
{
    struct tlc_loop *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "epoll loop: out of memory");
    made->lane = lane;
    made->buffer = malloc(BUFFER_BYTES);
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    enum tlc_status status = TLC_OK;
    if (made->epoll < 0)
        status = tlc_fail_errno(error, "epoll loop: epoll_create1");
    else if (!made->buffer)
        status = tlc_fail(error, TLC_ENVIRONMENT, "epoll loop: out of memory");
    if (status == TLC_OK)
        *loop = made;
    else
        epoll_close(made);
    return status;
}

static enum tlc_status open_socket(struct tlc_loop *loop, unsigned index, struct tlc_error *error)
{
    enum tlc_status status = tlc_socket_open(&loop->sockets, index, &loop->fd[index], error);
    if (status != TLC_OK)
        return status;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.u32 = index};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->fd[index], &event))
        return tlc_fail_errno(error, "epoll loop: register a socket");
    return TLC_OK;
}

static enum tlc_status epoll_prepare(struct tlc_loop *loop, struct tlc_error *error)
{
    struct tlc_lane *lane = loop->lane;
    tlc_socket_options_of(lane, &loop->sockets);
    unsigned wanted = lane->concurrency;
    if (wanted > loop->fd_count) {
        int *fd = realloc(loop->fd, wanted * sizeof *fd);
        if (fd)
            loop->fd = fd;
        enum tlc_ask *ask = realloc(loop->ask, wanted * sizeof *ask);
        if (ask)
            loop->ask = ask;
        if (!fd || !ask)
            return tlc_fail(error, TLC_ENVIRONMENT, "epoll loop: out of memory");
        for (; loop->fd_count < wanted; loop->fd_count++)
            loop->fd[loop->fd_count] = -1;
    }
    for (unsigned i = 0; i < wanted; i++)
        if (loop->fd[i] < 0) {
            enum tlc_status status = open_socket(loop, i, error);
            if (status != TLC_OK)
                return status;
        }
    return TLC_OK;
}

// Sends what is pending. False when the socket takes no more for now.
static bool send_pending(struct tlc_loop *loop, unsigned index)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    size_t count;
    const uint8_t *bytes = tlc_load_connection_output(connection, &count);
    ssize_t done = send(loop->fd[index], bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done >= 0) {
        loop->ask[index] = tlc_load_connection_sent(connection, (size_t)done, tlc_now_ns());
        return true;
    }
    if (errno == EAGAIN || errno == EINTR)
        return false;
    int code = errno;
    // The reason for a reset, an alert, may be waiting in front of it.
    ssize_t got = recv(loop->fd[index], loop->buffer, BUFFER_BYTES, MSG_DONTWAIT);
    loop->ask[index] = TLC_ASK_RECEIVE;
    if (got > 0 && connection->connected)
        loop->ask[index] =
            tlc_load_connection_input(connection, loop->buffer, (size_t)got, tlc_now_ns());
    if (loop->ask[index] != TLC_ASK_CLOSE)
        loop->ask[index] = tlc_load_connection_broke(connection, code);
    return true;
}

// Receives once. False when nothing more can be there: a read that did not fill the buffer emptied
// the socket, and whatever comes later raises a new edge (epoll(7)).
static bool receive(struct tlc_loop *loop, unsigned index, bool hangup)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    ssize_t got = recv(loop->fd[index], loop->buffer, BUFFER_BYTES, MSG_DONTWAIT);
    if (got > 0) {
        loop->ask[index] =
            tlc_load_connection_input(connection, loop->buffer, (size_t)got, tlc_now_ns());
        return hangup || got == BUFFER_BYTES || loop->ask[index] != TLC_ASK_RECEIVE;
    }
    if (got == 0)
        loop->ask[index] = tlc_load_connection_ended(connection);
    else if (errno == EAGAIN || errno == EINTR)
        return false;
    else
        loop->ask[index] = tlc_load_connection_broke(connection, errno);
    return true;
}

static void end_connection(struct tlc_loop *loop, unsigned index)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    bool orderly = tlc_load_connection_orderly(connection);
    if (!tlc_socket_end(&loop->sockets, loop->fd[index], orderly)) {
        close(loop->fd[index]);
        loop->fd[index] = -1;
    }
    tlc_lane_closed(loop->lane, index);
}

// Does what the connection asks until it has to wait. `readable`: the socket may hold bytes.
static void drive(struct tlc_loop *loop, unsigned index, bool readable, bool hangup)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    for (;;) {
        switch (loop->ask[index]) {
        case TLC_ASK_SEND:
            if (!send_pending(loop, index))
                return;
            break;
        case TLC_ASK_RECEIVE:
            if (!readable)
                return;
            readable = receive(loop, index, hangup);
            break;
        case TLC_ASK_SHUTDOWN:
            shutdown(loop->fd[index], SHUT_WR);
            loop->ask[index] = tlc_load_connection_shut(connection);
            break;
        case TLC_ASK_CLOSE:
            end_connection(loop, index);
            return;
        }
    }
}

// Opens the connection and sends the ClientHello at once: on loopback the connection is established
// by the time connect returns.
static void connect_and_drive(struct tlc_loop *loop, unsigned index)
{
    struct tlc_error error;
    struct tlc_load_connection *connection = loop->lane->connections[index];
    if (loop->ask[index] == TLC_ASK_SEND) {
        int code = 0;
        if (loop->fd[index] < 0 && open_socket(loop, index, &error) != TLC_OK)
            code = errno;
        else
            code = tlc_socket_connect(&loop->sockets, loop->fd[index]);
        if (code)
            loop->ask[index] = tlc_load_connection_broke(connection, code);
    }
    drive(loop, index, false, false);
}

static void start_due(struct tlc_loop *loop)
{
    uint64_t now_ns = tlc_now_ns();
    unsigned index;
    enum tlc_ask ask;
    // In portions, so that replies are not left lying and the server's backlog is not flooded.
    for (unsigned i = 0; i < STARTS_PER_TURN; i++) {
        if (!tlc_lane_start(loop->lane, now_ns, &index, &ask))
            return;
        loop->ask[index] = ask;
        connect_and_drive(loop, index);
        now_ns = tlc_now_ns();
    }
}

static void expire(struct tlc_loop *loop, uint64_t now_ns)
{
    struct tlc_lane *lane = loop->lane;
    for (unsigned i = 0; i < lane->concurrency; i++) {
        struct tlc_load_connection *connection = lane->connections[i];
        if (tlc_load_connection_idle(connection) || now_ns < connection->deadline_ns)
            continue;
        loop->ask[i] = tlc_load_connection_expired(connection);
        drive(loop, i, false, false);
    }
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

// epoll cannot wait for a number of events, so a poor harvest is followed by a sleep outside of it,
// from which the server's packets do not wake this thread.
static int wait_for_events(struct tlc_loop *loop, struct epoll_event *events)
{
    struct tlc_lane *lane = loop->lane;
    uint64_t sleep_ns = tlc_lane_sleep_ns(lane, tlc_now_ns());
    uint64_t nap_ns = lane->batch_wait_ns / 3;
    if (lane->batch > 1 && loop->harvest < (int)lane->batch && sleep_ns > nap_ns) {
        const struct timespec nap = timespec_of(nap_ns);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
        sleep_ns -= nap_ns;
    }
    const struct timespec timeout = timespec_of(sleep_ns);
    loop->harvest = epoll_pwait2(loop->epoll, events, EVENTS, &timeout, NULL);
    // Kernels before 5.11, and valgrind, wait by whole milliseconds only.
    if (loop->harvest < 0 && errno == ENOSYS)
        loop->harvest =
            epoll_wait(loop->epoll, events, EVENTS,
                       (int)(sleep_ns < 1000000000 ? (sleep_ns + 999999) / 1000000 : 1000));
    return loop->harvest;
}

static enum tlc_status epoll_run(struct tlc_loop *loop, struct tlc_error *error)
{
    struct tlc_lane *lane = loop->lane;
    struct epoll_event events[EVENTS];
    for (;;) {
        tlc_lane_heed_interrupt(lane);
        start_due(loop);
        uint64_t now_ns = tlc_now_ns();
        if (tlc_lane_over(lane, now_ns))
            return TLC_OK;
        if (tlc_lane_expiry_due(lane, now_ns))
            expire(loop, now_ns);
        int count = wait_for_events(loop, events);
        if (count < 0 && errno != EINTR)
            return tlc_fail_errno(error, "epoll loop: wait");
        for (int i = 0; i < count; i++) {
            unsigned index = events[i].data.u32;
            if (index >= lane->concurrency || tlc_load_connection_idle(lane->connections[index]))
                continue; // an edge of the connection's end
            bool hangup = events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
            drive(loop, index, hangup || (events[i].events & EPOLLIN), hangup);
        }
    }
}

const struct tlc_loop_kind tlc_loop_epoll = {
    .name = "epoll",
    .open = epoll_open,
    .prepare = epoll_prepare,
    .run = epoll_run,
    .close = epoll_close,
};
