#include "generator/hold.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "generator/engine.h"
#include "generator/interrupt.h"
#include "generator/socket.h"
#include "measure/clock.h"
#include "stats/stats.h"

enum { BUFFER_BYTES = 16384, DEFAULT_TIMEOUT_MS = 10000, STEP_MS = 100 };

struct held {
    uint64_t answered_ns, ended_ns; // ended_ns 0: it is open
};

struct tlc_hold {
    struct tlc_engine_context *context;
    struct tlc_session *session; // of the connection that is being opened
    struct tlc_socket_options sockets;
    struct pollfd *watched; // fd -1: ended
    struct held *held;
    unsigned count;
    uint64_t bytes_sent, bytes_received;
    int timeout_ms;
};

void tlc_hold_free(struct tlc_hold *hold)
{
    if (!hold)
        return;
    for (unsigned i = 0; i < hold->count; i++)
        if (hold->watched[i].fd >= 0)
            close(hold->watched[i].fd);
    if (hold->session)
        hold->session->kind->session_free(hold->session);
    if (hold->context)
        hold->context->kind->context_free(hold->context);
    free(hold->watched);
    free(hold->held);
    free(hold);
}

static enum tlc_status failed(const struct tlc_hold *hold, const char *what,
                              struct tlc_error *error)
{
    return tlc_fail(error, TLC_REFUSED, "hold: connection %u: %s", hold->count + 1, what);
}

// Waits for the socket; false when the time is over.
static bool await(int fd, short events, int timeout_ms)
{
    struct pollfd waited = {.fd = fd, .events = events};
    int64_t deadline_ms = (int64_t)(tlc_now_ns() / 1000000) + timeout_ms;
    for (;;) {
        int64_t left_ms = deadline_ms - (int64_t)(tlc_now_ns() / 1000000);
        int ready = poll(&waited, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR || tlc_generator_interrupted())
            return false;
    }
}

static enum tlc_status send_output(struct tlc_hold *hold, int fd, struct tlc_error *error)
{
    for (;;) {
        size_t count;
        const uint8_t *bytes = hold->session->kind->output(hold->session, &count);
        if (!count)
            return TLC_OK;
        if (!await(fd, POLLOUT, hold->timeout_ms))
            return failed(hold, "timeout", error);
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return failed(hold, strerrorname_np(errno), error);
        if (sent < 0)
            continue;
        hold->session->kind->output_sent(hold->session, (size_t)sent);
        hold->bytes_sent += (uint64_t)sent;
    }
}

static enum tlc_status receive(struct tlc_hold *hold, int fd, enum tlc_session_state *state,
                               struct tlc_error *error)
{
    uint8_t buffer[BUFFER_BYTES];
    if (!await(fd, POLLIN, hold->timeout_ms))
        return failed(hold, "timeout", error);
    ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return TLC_OK;
    if (got <= 0)
        return failed(hold, got ? strerrorname_np(errno) : "closed by the server", error);
    hold->bytes_received += (uint64_t)got;
    *state = hold->session->kind->input(hold->session, buffer, (size_t)got, tlc_now_ns() / 1000000);
    return TLC_OK;
}

// Until the stop point: the server has then done what the handshake asks of it.
static enum tlc_status reach_stop(struct tlc_hold *hold, int fd, struct tlc_error *error)
{
    bool offered;
    char kind[TLC_FAILURE_BYTES];
    const struct tlc_engine_kind *engine = hold->session->kind;
    enum tlc_session_state state = engine->start(hold->session, tlc_now_ns() / 1000000, &offered);
    enum tlc_status status = TLC_OK;
    while (status == TLC_OK && state == TLC_SESSION_WAIT) {
        status = send_output(hold, fd, error);
        if (status == TLC_OK)
            status = receive(hold, fd, &state, error);
    }
    if (status != TLC_OK || state == TLC_SESSION_STOPPED)
        return status;
    engine->failure(hold->session, kind);
    return failed(hold, state == TLC_SESSION_DONE ? "complete instead of half-open" : kind, error);
}

static enum tlc_status open_one(struct tlc_hold *hold, struct tlc_error *error)
{
    int fd;
    enum tlc_status status = tlc_socket_open(&hold->sockets, hold->count, &fd, error);
    if (status != TLC_OK)
        return status;
    int code = tlc_socket_connect(&hold->sockets, fd);
    status = code ? failed(hold, strerrorname_np(code), error) : reach_stop(hold, fd, error);
    if (status != TLC_OK) {
        close(fd);
        return status;
    }
    hold->watched[hold->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    hold->held[hold->count++].answered_ns = tlc_now_ns();
    return TLC_OK;
}

static enum tlc_status set_up(struct tlc_hold *hold, const struct tlc_target_options *options,
                              unsigned count, struct tlc_error *error)
{
    enum tlc_status status = tlc_engine_lean.context_new(options, &hold->context, error);
    if (status != TLC_OK)
        return status;
    hold->session = tlc_engine_lean.session_new(hold->context);
    hold->watched = calloc(count, sizeof *hold->watched);
    hold->held = calloc(count, sizeof *hold->held);
    if (!hold->session || !hold->watched || !hold->held)
        return tlc_fail(error, TLC_ENVIRONMENT, "hold: out of memory");
    return tlc_socket_limit_raise(count, error);
}

enum tlc_status tlc_hold_open(const struct tlc_target_options *options,
                              const struct tlc_target_address *address, unsigned count,
                              struct tlc_hold **hold, struct tlc_error *error)
{
    *hold = NULL;
    if (!count || count > TLC_MOST_HELD || options->stop == TLC_STOP_COMPLETE ||
        options->engine != TLC_ENGINE_LEAN || address->scope == TLC_SCOPE_ANYWHERE)
        return tlc_fail(error, TLC_USAGE,
                        "hold: from 1 to %d connections of engine lean that stop early, to a "
                        "loopback, private or link-local address",
                        TLC_MOST_HELD);
    struct tlc_hold *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "hold: out of memory");
    made->sockets = (struct tlc_socket_options){.to = address, .spread = 1, .fresh = true};
    made->timeout_ms = options->timeout_ms ? (int)options->timeout_ms : DEFAULT_TIMEOUT_MS;
    enum tlc_status status = set_up(made, options, count, error);
    while (status == TLC_OK && made->count < count)
        status = tlc_generator_interrupted() ? tlc_fail(error, TLC_INTERRUPTED, "hold: interrupted")
                                             : open_one(made, error);
    if (status != TLC_OK) {
        tlc_hold_free(made);
        return status;
    }
    *hold = made;
    return TLC_OK;
}

// Reads what has come; an end or an error ends the connection.
static void take(struct tlc_hold *hold, unsigned index)
{
    uint8_t buffer[BUFFER_BYTES];
    ssize_t got = recv(hold->watched[index].fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0)
        hold->bytes_received += (uint64_t)got;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    hold->held[index].ended_ns = tlc_now_ns();
    close(hold->watched[index].fd);
    hold->watched[index].fd = -1;
}

static unsigned still_open(const struct tlc_hold *hold)
{
    unsigned open = 0;
    for (unsigned i = 0; i < hold->count; i++)
        open += hold->watched[i].fd >= 0;
    return open;
}

void tlc_hold_wait(struct tlc_hold *hold, uint64_t duration_us)
{
    uint64_t until_ns = tlc_now_ns() + duration_us * 1000;
    for (uint64_t now_ns;
         still_open(hold) && (now_ns = tlc_now_ns()) < until_ns && !tlc_generator_interrupted();) {
        uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;
        if (poll(hold->watched, hold->count, left_ms < STEP_MS ? (int)left_ms : STEP_MS) <= 0)
            continue;
        for (unsigned i = 0; i < hold->count; i++)
            if (hold->watched[i].revents)
                take(hold, i);
    }
}

void tlc_hold_facts(struct tlc_hold *hold, struct tlc_hold_facts *facts)
{
    uint32_t lived_us[TLC_MOST_HELD];
    *facts = (struct tlc_hold_facts){.open = hold->count,
                                     .bytes_sent = hold->bytes_sent,
                                     .bytes_received = hold->bytes_received};
    for (unsigned i = 0; i < hold->count; i++)
        if (hold->held[i].ended_ns)
            lived_us[facts->closed++] =
                (uint32_t)((hold->held[i].ended_ns - hold->held[i].answered_ns) / 1000);
    if (!facts->closed)
        return;
    tlc_sort_u32(lived_us, facts->closed);
    facts->first_us = lived_us[0];
    facts->median_us = lived_us[facts->closed / 2];
    facts->last_us = lived_us[facts->closed - 1];
}
