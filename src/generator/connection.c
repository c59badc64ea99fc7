#include "generator/connection.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum tlc_ask over(struct tlc_load_connection *connection)
{
    connection->phase = TLC_PHASE_OVER;
    return TLC_ASK_CLOSE;
}

static enum tlc_ask fail(struct tlc_load_connection *connection, const char *kind)
{
    connection->failed = true;
    snprintf(connection->failure, sizeof connection->failure, "%s", kind);
    return over(connection);
}

static bool has_output(struct tlc_load_connection *connection)
{
    size_t count;
    connection->session->kind->output(connection->session, &count);
    return count > 0;
}

// The server refused what it was asked to refuse: that is its answer.
static enum tlc_ask refused(struct tlc_load_connection *connection, const char *answer)
{
    connection->stopped = connection->refused = true;
    snprintf(connection->failure, sizeof connection->failure, "%s", answer);
    return over(connection);
}

// The client itself found fault: its alert, if it made one, still goes to the server.
static enum tlc_ask session_failed(struct tlc_load_connection *connection)
{
    char kind[TLC_FAILURE_BYTES];
    connection->session->kind->failure(connection->session, kind);
    if (connection->life->expect->refusal && !strncmp(kind, "alert-", strlen("alert-")))
        return refused(connection, kind);
    fail(connection, kind);
    if (!connection->connected || !has_output(connection))
        return TLC_ASK_CLOSE;
    connection->phase = TLC_PHASE_ALERT;
    return TLC_ASK_SEND;
}

enum tlc_ask tlc_load_connection_begin(struct tlc_load_connection *connection, uint64_t intended_ns,
                                       uint64_t now_ns)
{
    connection->times = (struct tlc_times){.started_ns = intended_ns};
    connection->deadline_ns = now_ns + connection->life->timeout_ns;
    connection->hello_sent = 0;
    connection->phase = TLC_PHASE_CONNECT;
    connection->connected = connection->orderly = false;
    connection->stopped = connection->failed = connection->refused = false;
    connection->tickets_counted = 0;
    connection->life->tally->counters->started++;
    bool offered;
    enum tlc_session_state state =
        connection->session->kind->start(connection->session, now_ns / 1000000, &offered);
    if (state == TLC_SESSION_FAILED)
        return session_failed(connection);
    connection->life->tally->counters->offered += offered;
    return TLC_ASK_SEND;
}

// Splitting gives the server its ClientHello in several reads.
static size_t hello_piece(const struct tlc_load_connection *connection, size_t left)
{
    const struct tlc_life *life = connection->life;
    size_t piece = left;
    if (life->split_every)
        piece = life->split_every;
    else if (connection->hello_sent < life->split_at)
        piece = life->split_at - connection->hello_sent;
    return piece < left ? piece : left;
}

const uint8_t *tlc_load_connection_output(struct tlc_load_connection *connection, size_t *count)
{
    const uint8_t *bytes = connection->session->kind->output(connection->session, count);
    if (connection->phase == TLC_PHASE_CONNECT)
        *count = hello_piece(connection, *count);
    return bytes;
}

// After a stop point the server has had its share of work; there is nothing to finish.
static enum tlc_ask stop(struct tlc_load_connection *connection, uint64_t now_ns)
{
    connection->stopped = true;
    connection->times.done_ns = now_ns;
    return over(connection);
}

static enum tlc_ask say_goodbye(struct tlc_load_connection *connection)
{
    switch (connection->life->close) {
    case TLC_CLOSE_RESET:
        return over(connection);
    case TLC_CLOSE_FIN:
        connection->phase = TLC_PHASE_LINGER;
        return TLC_ASK_SHUTDOWN;
    case TLC_CLOSE_NOTIFY:
        break;
    }
    if (!connection->session->kind->close(connection->session))
        return session_failed(connection);
    connection->phase = TLC_PHASE_GOODBYE;
    return TLC_ASK_SEND;
}

static void count_tickets(struct tlc_load_connection *connection)
{
    unsigned tickets = connection->session->kind->tickets(connection->session);
    connection->life->tally->counters->tickets += tickets - connection->tickets_counted;
    connection->tickets_counted = tickets;
}

static unsigned tickets_expected(const struct tlc_load_connection *connection)
{
    const struct tlc_life *life = connection->life;
    if (life->tickets_expected == life->tickets_expected_resumed)
        return life->tickets_expected;
    return connection->session->kind->resumed(connection->session) ? life->tickets_expected_resumed
                                                                   : life->tickets_expected;
}

// The handshake is finished: waits for what was asked for behind it, then ends.
static enum tlc_ask settle(struct tlc_load_connection *connection)
{
    const struct tlc_life *life = connection->life;
    count_tickets(connection);
    connection->phase = TLC_PHASE_SETTLE;
    if (connection->tickets_counted < tickets_expected(connection))
        return TLC_ASK_RECEIVE;
    if (life->echo_bytes) {
        size_t count;
        const uint8_t *data = connection->session->kind->received(connection->session, &count);
        if (count < life->echo_bytes)
            return TLC_ASK_RECEIVE;
        if (count > life->echo_bytes || memcmp(data, life->echo, count) != 0)
            return fail(connection, "echo-differs");
    }
    return say_goodbye(connection);
}

static enum tlc_ask finish(struct tlc_load_connection *connection, uint64_t now_ns)
{
    const struct tlc_life *life = connection->life;
    connection->times.done_ns = now_ns;
    if (life->echo_bytes &&
        !connection->session->kind->write(connection->session, life->echo, life->echo_bytes))
        return session_failed(connection);
    connection->phase = TLC_PHASE_FINISH;
    // A TLS 1.2 client's handshake ends with the server's Finished: nothing is left to send.
    return has_output(connection) ? TLC_ASK_SEND : settle(connection);
}

enum tlc_ask tlc_load_connection_sent(struct tlc_load_connection *connection, size_t count,
                                      uint64_t now_ns)
{
    if (!connection->connected) {
        connection->connected = true;
        connection->times.connected_ns = now_ns;
    }
    connection->session->kind->output_sent(connection->session, count);
    connection->life->tally->counters->bytes_sent += count;
    if (connection->phase == TLC_PHASE_CONNECT)
        connection->hello_sent += count;
    if (has_output(connection))
        return TLC_ASK_SEND;
    switch (connection->phase) {
    case TLC_PHASE_CONNECT:
        connection->phase = TLC_PHASE_HANDSHAKE;
        return TLC_ASK_RECEIVE;
    case TLC_PHASE_FINISH:
        return settle(connection);
    case TLC_PHASE_GOODBYE:
        connection->phase = TLC_PHASE_LINGER;
        return TLC_ASK_SHUTDOWN;
    case TLC_PHASE_ALERT:
        return over(connection);
    default:
        return TLC_ASK_RECEIVE;
    }
}

// Whether the server's alert says that it does not take the client's certificate, or none: in TLS
// 1.3 that comes after the client believes the handshake complete (RFC 8446, 4.4.2.4).
static bool refuses_certificate(const struct tlc_session *session)
{
    char kind[TLC_FAILURE_BYTES];
    session->kind->failure(session, kind);
    return strstr(kind, "alert") && (strstr(kind, "certificate") || strstr(kind, "unknown ca") ||
                                     strstr(kind, "unknown_ca"));
}

enum tlc_ask tlc_load_connection_input(struct tlc_load_connection *connection, const uint8_t *bytes,
                                       size_t count, uint64_t now_ns)
{
    const struct tlc_engine_kind *kind = connection->session->kind;
    connection->life->tally->counters->bytes_received += count;
    bool at_first_bytes = connection->life->stop == TLC_STOP_AFTER_CLIENT_HELLO && !kind->stops;
    if (at_first_bytes && connection->phase == TLC_PHASE_HANDSHAKE) {
        connection->times.hello_ns = now_ns;
        return stop(connection, now_ns);
    }
    enum tlc_session_state state = kind->input(connection->session, bytes, count, now_ns / 1000000);
    if (!connection->times.hello_ns && kind->hello_seen(connection->session))
        connection->times.hello_ns = now_ns;
    if (connection->phase == TLC_PHASE_LINGER) {
        // Some servers answer a bare FIN by an alert; the handshake is complete all the same.
        if (state == TLC_SESSION_FAILED && refuses_certificate(connection->session))
            return session_failed(connection);
        count_tickets(connection);
        return TLC_ASK_RECEIVE;
    }
    if (state == TLC_SESSION_FAILED)
        return session_failed(connection);
    if (state == TLC_SESSION_STOPPED)
        return stop(connection, now_ns);
    if (connection->phase == TLC_PHASE_SETTLE) {
        if (connection->life->echo_bytes)
            connection->times.echoed_ns = now_ns; // the last bytes to come complete it
        return settle(connection);
    }
    if (state == TLC_SESSION_DONE && connection->phase == TLC_PHASE_HANDSHAKE)
        return finish(connection, now_ns);
    // A HelloRetryRequest asks for another ClientHello, TLS 1.2 for a second flight.
    return has_output(connection) ? TLC_ASK_SEND : TLC_ASK_RECEIVE;
}

enum tlc_ask tlc_load_connection_ended(struct tlc_load_connection *connection)
{
    if (connection->phase == TLC_PHASE_LINGER) {
        connection->orderly = true;
        return over(connection);
    }
    if (connection->phase == TLC_PHASE_HANDSHAKE && connection->life->expect->refusal)
        return refused(connection, "closed");
    return fail(connection,
                connection->phase == TLC_PHASE_SETTLE ? "closed-before-tickets" : "closed-early");
}

static void name_connect_error(int code, char *kind, size_t capacity)
{
    switch (code) {
    case ECONNREFUSED:
    case ENOENT: // a Unix socket that is not there
        snprintf(kind, capacity, "connect-refused");
        return;
    case ETIMEDOUT:
        snprintf(kind, capacity, "connect-timeout");
        return;
    case EAGAIN: // a Unix socket; TCP drops the SYN instead
        snprintf(kind, capacity, "connect-backlog-full");
        return;
    case ENETUNREACH:
    case EHOSTUNREACH:
        snprintf(kind, capacity, "connect-unreachable");
        return;
    case EADDRNOTAVAIL:
    case EADDRINUSE:
        snprintf(kind, capacity, "connect-no-free-port");
        return;
    default:
        snprintf(kind, capacity, "connect-%s", strerrorname_np(code) ? strerrorname_np(code) : "?");
    }
    for (char *at = kind; *at; at++)
        *at = (char)tolower((unsigned char)*at);
}

enum tlc_ask tlc_load_connection_broke(struct tlc_load_connection *connection, int code)
{
    bool reset = code == ECONNRESET || code == EPIPE;
    if (connection->phase == TLC_PHASE_LINGER && reset)
        return over(connection); // the handshake is complete; how the server ends is its affair
    if (connection->phase == TLC_PHASE_ALERT)
        return over(connection);
    if (reset)
        return fail(connection,
                    connection->phase == TLC_PHASE_SETTLE ? "reset-before-tickets" : "reset");
    char kind[TLC_FAILURE_BYTES];
    if (!connection->connected)
        name_connect_error(code, kind, sizeof kind);
    else
        snprintf(kind, sizeof kind, "socket-%s",
                 strerrorname_np(code) ? strerrorname_np(code) : "error");
    return fail(connection, kind);
}

enum tlc_ask tlc_load_connection_expired(struct tlc_load_connection *connection)
{
    if (connection->phase == TLC_PHASE_ALERT)
        return over(connection);
    if (connection->phase == TLC_PHASE_LINGER)
        return fail(connection, "close-timeout");
    return fail(connection, connection->connected ? "timeout" : "connect-timeout");
}

enum tlc_ask tlc_load_connection_shut(struct tlc_load_connection *connection)
{
    (void)connection;
    return TLC_ASK_RECEIVE;
}

bool tlc_load_connection_waits_after_output(const struct tlc_load_connection *connection)
{
    const struct tlc_life *life = connection->life;
    switch (connection->phase) {
    case TLC_PHASE_CONNECT:
        return !life->split_at && !life->split_every;
    case TLC_PHASE_HANDSHAKE:
        return true;
    case TLC_PHASE_FINISH:
        return life->echo_bytes || connection->session->kind->tickets(connection->session) <
                                       tickets_expected(connection);
    default:
        return false;
    }
}

static void count_stopped(struct tlc_load_connection *connection)
{
    const struct tlc_life *life = connection->life;
    const struct tlc_engine_kind *kind = connection->session->kind;
    struct tlc_facts facts;
    if (connection->refused)
        tlc_tally_answered(life->tally, connection->failure, connection->times.done_ns);
    else if (kind->stops && kind->facts(connection->session, &facts))
        tlc_tally_stopped(life->tally, life->expect, &facts, &connection->times);
    else
        tlc_tally_answered(life->tally, "bytes", connection->times.done_ns);
}

void tlc_load_connection_closed(struct tlc_load_connection *connection)
{
    struct tlc_tally *tally = connection->life->tally;
    struct tlc_facts facts;
    connection->phase = TLC_PHASE_IDLE;
    if (connection->failed)
        tlc_tally_error(tally, connection->failure);
    else if (connection->stopped)
        count_stopped(connection);
    else if (connection->session->kind->facts(connection->session, &facts))
        tlc_tally_handshake(tally, connection->life->expect, &facts, &connection->times);
    else {
        char kind[TLC_FAILURE_BYTES];
        connection->session->kind->failure(connection->session, kind);
        tlc_tally_error(tally, kind);
    }
}

bool tlc_load_connection_keep(struct tlc_load_connection *connection,
                              struct tlc_kept_handshake *kept)
{
    bool complete = !connection->failed && !connection->stopped;
    if (!complete || !connection->session->kind->facts(connection->session, &kept->facts)) {
        tlc_load_connection_closed(connection);
        return false;
    }
    connection->phase = TLC_PHASE_IDLE;
    kept->times = connection->times;
    // The facts point into the session, which the next handshake writes over.
    snprintf(kept->alpn, sizeof kept->alpn, "%s", kept->facts.alpn);
    kept->facts.alpn = kept->alpn;
    if (kept->facts.certificate_sha256) {
        memcpy(kept->certificate_sha256, kept->facts.certificate_sha256,
               sizeof kept->certificate_sha256);
        kept->facts.certificate_sha256 = kept->certificate_sha256;
    }
    return true;
}
