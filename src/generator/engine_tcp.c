// No TLS at all: the byte counts of a handshake, see floor.h.
#include <stdio.h>
#include <stdlib.h>

#include "generator/engine.h"
#include "generator/floor.h"

struct tcp_context {
    struct tlc_engine_context base;
    struct tlc_floor floor;
    uint8_t *output; // a ClientHello's worth of bytes, or what finishes, whichever is longer
};

struct tcp_session {
    struct tlc_session base;
    struct tcp_context *context;
    size_t pending, sent, received;
    bool done;
};

static struct tcp_session *tcp(const struct tlc_session *session)
{
    return (struct tcp_session *)(uintptr_t)session;
}

static enum tlc_status tcp_context_new(const struct tlc_target_options *options,
                                       struct tlc_engine_context **context, struct tlc_error *error)
{
    const struct tlc_floor *floor = &options->floor;
    if (!tlc_floor_sound(floor))
        return tlc_fail(error, TLC_USAGE,
                        "target: engine tcp: byte counts %u:%u:%u:%u: a ClientHello of at least %d "
                        "bytes, a flight and a Finished are needed, each at most 65536",
                        floor->client_hello_bytes, floor->server_flight_bytes,
                        floor->finished_bytes, floor->ticket_bytes, TLC_FLOOR_HEADER_BYTES);
    struct tcp_context *made = calloc(1, sizeof *made);
    size_t longest = floor->client_hello_bytes > floor->finished_bytes ? floor->client_hello_bytes
                                                                       : floor->finished_bytes;
    uint8_t *output = calloc(1, longest);
    if (!made || !output) {
        free(made);
        free(output);
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    }
    made->base.kind = &tlc_engine_tcp;
    made->floor = *floor;
    made->output = output;
    tlc_floor_header(floor, output);
    *context = &made->base;
    return TLC_OK;
}

static void tcp_context_free(struct tlc_engine_context *context)
{
    free(((struct tcp_context *)context)->output);
    free(context);
}

static struct tlc_session *tcp_session_new(struct tlc_engine_context *context)
{
    struct tcp_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->base.kind = &tlc_engine_tcp;
    session->context = (struct tcp_context *)context;
    return &session->base;
}

static void tcp_session_free(struct tlc_session *session)
{
    free(session);
}

static enum tlc_session_state tcp_start(struct tlc_session *session, uint64_t now_ms, bool *offered)
{
    (void)now_ms;
    struct tcp_session *mine = tcp(session);
    *offered = mine->done = false;
    mine->sent = mine->received = 0;
    mine->pending = mine->context->floor.client_hello_bytes;
    return TLC_SESSION_WAIT;
}

static const uint8_t *tcp_output(struct tlc_session *session, size_t *count)
{
    *count = tcp(session)->pending;
    return tcp(session)->context->output + tcp(session)->sent;
}

static void tcp_output_sent(struct tlc_session *session, size_t count)
{
    tcp(session)->pending -= count;
    tcp(session)->sent += count;
}

static enum tlc_session_state tcp_input(struct tlc_session *session, const uint8_t *bytes,
                                        size_t count, uint64_t now_ms)
{
    (void)bytes;
    (void)now_ms;
    struct tcp_session *mine = tcp(session);
    const struct tlc_floor *floor = &mine->context->floor;
    mine->received += count;
    if (mine->received > (size_t)floor->server_flight_bytes + floor->ticket_bytes)
        return TLC_SESSION_FAILED;
    if (!mine->done && mine->received >= floor->server_flight_bytes) {
        mine->done = true;
        mine->sent = 0;
        mine->pending = floor->finished_bytes;
    }
    return mine->done ? TLC_SESSION_DONE : TLC_SESSION_WAIT;
}

static bool tcp_hello_seen(const struct tlc_session *session)
{
    return tcp(session)->received > 0;
}

static bool tcp_facts(struct tlc_session *session, struct tlc_facts *facts)
{
    *facts = (struct tlc_facts){.psk_mode = -1, .alpn = ""};
    return tcp(session)->done;
}

static bool tcp_resumed(struct tlc_session *session)
{
    (void)session;
    return false;
}

// All ticket bytes together count as one ticket.
static unsigned tcp_tickets(struct tlc_session *session)
{
    const struct tlc_floor *floor = &tcp(session)->context->floor;
    return floor->ticket_bytes &&
           tcp(session)->received == (size_t)floor->server_flight_bytes + floor->ticket_bytes;
}

static void tcp_failure(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES])
{
    (void)session;
    snprintf(kind, TLC_FAILURE_BYTES, "too-many-bytes");
}

static bool tcp_write(struct tlc_session *session, const uint8_t *bytes, size_t count)
{
    (void)session;
    (void)bytes;
    (void)count;
    return false; // there is no echo without TLS
}

static const uint8_t *tcp_received(struct tlc_session *session, size_t *count)
{
    (void)session;
    *count = 0;
    return NULL;
}

static bool tcp_close(struct tlc_session *session)
{
    (void)session;
    return true;
}

const struct tlc_engine_kind tlc_engine_tcp = {
    .name = "tcp",
    .output_stays = true,
    .context_new = tcp_context_new,
    .context_free = tcp_context_free,
    .session_new = tcp_session_new,
    .session_free = tcp_session_free,
    .start = tcp_start,
    .output = tcp_output,
    .output_sent = tcp_output_sent,
    .input = tcp_input,
    .hello_seen = tcp_hello_seen,
    .facts = tcp_facts,
    .resumed = tcp_resumed,
    .tickets = tcp_tickets,
    .failure = tcp_failure,
    .write = tcp_write,
    .received = tcp_received,
    .close = tcp_close,
};
