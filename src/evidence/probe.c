#include "evidence/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/names.h"
#include "evidence/connect.h"
#include "evidence/connection.h"
#include "evidence/wire.h"
#include "measure/clock.h"

enum { DEFAULT_TIMEOUT_MS = 5000, TICKET_IDLE_MS = 100, TICKETS_IN_ALL_MS = 1000, MAX_ALPN = 16 };

static const uint64_t NS_PER_MS = 1000000;

// One connection of the probe, from connect to close.
struct session {
    const struct tlc_probe_options *options;
    const struct tlc_stack *stack;
    struct tlc_stack_context *context;
    struct tlc_stack_connection *connection;
    char server_name[256]; // empty: neither SNI nor name check
    int fd;
    uint64_t started_ns, deadline_ns;
    uint64_t connect_ns, server_hello_ns, finished_ns, tickets_ns; // since `started_ns`; 0: not yet
    struct tlc_wire wire;
    uint8_t in[TLC_RECORD_MAX]; // bytes from the server that are not handed on yet
    size_t in_bytes;
    int alert;
};

enum received { RECORD, TOO_LATE, ENDED, BROKEN };

static uint64_t since_start(const struct session *session)
{
    return tlc_now_ns() - session->started_ns;
}

static enum tlc_status send_all(struct session *session, const uint8_t *bytes, size_t count,
                                struct tlc_error *error)
{
    while (count) {
        ssize_t sent = send(session->fd, bytes, count, MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int ready = tlc_wait_fd(session->fd, POLLOUT, session->deadline_ns);
            if (ready == 0)
                return tlc_fail(error, TLC_ENVIRONMENT, "the server takes no bytes in time");
            if (ready < 0)
                return tlc_fail_errno(error, "poll");
        } else if (errno != EINTR) {
            return tlc_fail_errno(error, "send");
        }
    }
    return TLC_OK;
}

// Carries what the library wants to send to the server.
static enum tlc_status flush_out(struct session *session, struct tlc_error *error)
{
    uint8_t bytes[4096];
    size_t count;
    while ((count = session->stack->memory_take(session->connection, bytes, sizeof bytes))) {
        if (!session->finished_ns)
            tlc_wire_client(&session->wire, bytes, count);
        enum tlc_status status = send_all(session, bytes, count, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static enum tlc_status not_tls(const struct session *session, struct tlc_error *error)
{
    char seen[24];
    size_t count = session->in_bytes < sizeof seen - 1 ? session->in_bytes : sizeof seen - 1;
    for (size_t i = 0; i < count; i++)
        seen[i] = (char)(session->in[i] < ' ' || session->in[i] > '~' ? '.' : session->in[i]);
    seen[count] = '\0';
    return tlc_fail(error, TLC_REFUSED, "the server answers '%s': not TLS", seen);
}

// Reads until one whole record is at the front of the buffer; *size gets its size.
static enum received receive_record(struct session *session, uint64_t deadline_ns, size_t *size,
                                    struct tlc_error *error)
{
    for (;;) {
        if (!tlc_wire_record_size(session->in, session->in_bytes, size)) {
            not_tls(session, error);
            return BROKEN;
        }
        if (*size && *size <= session->in_bytes)
            return RECORD;
        ssize_t got = recv(session->fd, session->in + session->in_bytes,
                           sizeof session->in - session->in_bytes, 0);
        if (got > 0) {
            session->in_bytes += (size_t)got;
        } else if (got == 0) {
            return ENDED;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int ready = tlc_wait_fd(session->fd, POLLIN, deadline_ns);
            if (ready == 0)
                return TOO_LATE;
            if (ready < 0) {
                tlc_fail_errno(error, "poll");
                return BROKEN;
            }
        } else if (errno != EINTR) {
            tlc_fail_errno(error, "receive");
            return BROKEN;
        }
    }
}

static void drop_record(struct session *session, size_t size)
{
    session->in_bytes -= size;
    memmove(session->in, session->in + size, session->in_bytes);
}

// Receives one record of the handshake and hands it to the library.
static enum tlc_status take_record(struct session *session, struct tlc_error *error)
{
    size_t size;
    switch (receive_record(session, session->deadline_ns, &size, error)) {
    case TOO_LATE:
        return tlc_fail(error, TLC_ENVIRONMENT, "no answer within %u ms",
                        session->options->timeout_ms ? session->options->timeout_ms
                                                     : DEFAULT_TIMEOUT_MS);
    case ENDED:
        return tlc_fail(error, TLC_REFUSED, "the server closed the connection in the handshake");
    case BROKEN:
        return error->status;
    case RECORD:
        break;
    }
    tlc_wire_server(&session->wire, session->in, size);
    if (session->wire.server_hello && !session->server_hello_ns)
        session->server_hello_ns = since_start(session);
    session->alert = tlc_wire_alert(session->in, size);
    if (!session->stack->memory_feed(session->connection, session->in, size))
        return tlc_fail(error, TLC_ENVIRONMENT, "out of memory");
    drop_record(session, size);
    return TLC_OK;
}

static enum tlc_status handshake_failed(const struct session *session,
                                        const struct tlc_stack_error *words,
                                        struct tlc_error *error)
{
    if (session->alert >= 0)
        return tlc_fail(error, TLC_REFUSED, "the server sent the alert %s",
                        tlc_name(TLC_NAME_ALERT, (uint16_t)session->alert));
    return tlc_fail(error, TLC_REFUSED, "%s",
                    words->text[0] ? words->text : "the library gave no reason");
}

// Records are handed over one by one, so that what comes behind the server's Finished in the same
// packet is not counted with it.
static enum tlc_status handshake(struct session *session, struct tlc_error *error)
{
    for (;;) {
        struct tlc_stack_error words = {{0}};
        enum tlc_stack_step step = session->stack->handshake(session->connection, &words);
        struct tlc_error sending;
        enum tlc_status status = flush_out(session, &sending);
        if (step != TLC_STEP_WANT_READ && step != TLC_STEP_WANT_WRITE && step != TLC_STEP_DONE)
            return handshake_failed(session, &words, error);
        if (status != TLC_OK)
            return tlc_fail(error, status, "%s", sending.text);
        if (step == TLC_STEP_DONE)
            break;
        if (step == TLC_STEP_WANT_READ)
            status = take_record(session, error);
        if (status != TLC_OK)
            return status;
    }
    session->finished_ns = since_start(session);
    return TLC_OK;
}

// An alert behind the client's Finished is encrypted: only the library can read it. OpenSSL's words
// end in its number.
static enum tlc_status ended_by_server(const struct tlc_stack_error *words, struct tlc_error *error)
{
    static const char marker[] = "alert number ";
    const char *at = strstr(words->text, marker);
    unsigned long number = at ? strtoul(at + strlen(marker), NULL, 10) : 256;
    if (number < 256)
        return tlc_fail(error, TLC_REFUSED,
                        "the server ended the connection after the client's Finished with the "
                        "alert %s",
                        tlc_name(TLC_NAME_ALERT, (uint16_t)number));
    return tlc_fail(error, TLC_REFUSED, "the connection broke after the client's Finished: %s",
                    words->text[0] ? words->text : "the library gave no reason");
}

// Takes in session tickets until the server is silent for a moment. In TLS 1.2 a ticket is part of
// the handshake (RFC 5077, 3.3), and nothing follows. In TLS 1.3 a server that refuses the client's
// certificate, or its lack of one, says so only here (RFC 8446, 4.4.2.4); other ends cost no
// evidence.
static enum tlc_status receive_tickets(struct session *session, struct tlc_error *error)
{
    uint64_t end = tlc_now_ns() + TICKETS_IN_ALL_MS * NS_PER_MS;
    size_t tickets = session->stack->tickets_received(session->connection);
    size_t awaited = session->options->tickets_awaited;
    while (!awaited || tickets < awaited) {
        size_t size, done;
        uint8_t bytes[2048];
        struct tlc_error ignored;
        struct tlc_stack_error words = {{0}};
        uint64_t until = tlc_now_ns() + TICKET_IDLE_MS * NS_PER_MS;
        if (receive_record(session, until < end ? until : end, &size, &ignored) != RECORD ||
            !session->stack->memory_feed(session->connection, session->in, size))
            return TLC_OK;
        enum tlc_stack_step step =
            session->stack->read(session->connection, bytes, sizeof bytes, &done, &words);
        size_t now = session->stack->tickets_received(session->connection);
        if (now > tickets) {
            session->wire.tickets += size;
            session->tickets_ns = since_start(session);
        }
        tickets = now;
        drop_record(session, size);
        if (step == TLC_STEP_FAILED)
            return ended_by_server(&words, error);
        if (step != TLC_STEP_WANT_READ && step != TLC_STEP_DONE)
            return TLC_OK;
    }
    return TLC_OK;
}

static enum tlc_status open_session(struct session *session, const char *trust_pem,
                                    struct tlc_error *error)
{
    const struct tlc_probe_options *options = session->options;
    struct tlc_stack_alpn alpn[MAX_ALPN];
    const struct tlc_stack_certificate own = {.chain_pem = options->client_chain_pem,
                                              .key_pem = options->client_key_pem};
    struct tlc_stack_config config = {.min_version = options->min_version,
                                      .max_version = options->max_version,
                                      .groups = options->groups,
                                      .group_count = options->group_count,
                                      .ciphers = options->ciphers,
                                      .cipher_count = options->cipher_count,
                                      .certificates = &own,
                                      .certificate_count = options->client_chain_pem ? 1 : 0,
                                      .trust_pem = trust_pem,
                                      .ticket_mode = TLC_TICKETS_STATELESS,
                                      .tickets_per_handshake = -1,
                                      .psk_modes = TLC_PSK_DHE_KE};
    while (options->alpn && config.alpn_count < MAX_ALPN && options->alpn[config.alpn_count]) {
        alpn[config.alpn_count].name = options->alpn[config.alpn_count];
        config.alpn_count++;
    }
    config.alpn = alpn;
    struct tlc_stack_error words = {{0}};
    session->context = session->stack->context_new(TLC_STACK_CLIENT, &config, &words);
    if (!session->context)
        return tlc_fail(error, TLC_USAGE, "%s: %s", options->plugin->id, words.text);
    struct tlc_stack_connection_options connection = {
        .server_name = session->server_name[0] ? session->server_name : NULL,
        .session = options->session,
        .session_bytes = options->session_bytes};
    session->connection =
        session->stack->connection_on_memory(session->context, &connection, &words);
    if (!session->connection)
        return tlc_fail(error, TLC_USAGE, "%s: %s", options->plugin->id, words.text);
    return TLC_OK;
}

static enum tlc_status choose_server_name(struct session *session, struct tlc_error *error)
{
    const char *asked = session->options->server_name;
    if (!asked)
        return tlc_address_host(session->options->address, session->server_name,
                                sizeof session->server_name, error);
    if (strlen(asked) >= sizeof session->server_name)
        return tlc_fail(error, TLC_USAGE, "server name: '%.60s...': longer than 255 bytes", asked);
    strcpy(session->server_name, asked);
    return TLC_OK;
}

static enum tlc_status keep_session(struct session *session, struct tlc_error *error)
{
    struct tlc_probe_session *kept = session->options->session_kept;
    const struct tlc_stack *stack = session->stack;
    size_t count =
        kept && stack->session_export ? stack->session_export(session->connection, NULL, 0) : 0;
    if (!kept)
        return TLC_OK;
    *kept = (struct tlc_probe_session){.ticket = session->wire.tickets > 0,
                                       .lifetime_s = session->wire.ticket_lifetime_s};
    if (!count)
        return TLC_OK;
    kept->bytes = malloc(count);
    if (!kept->bytes)
        return tlc_fail(error, TLC_ENVIRONMENT, "out of memory");
    kept->count = stack->session_export(session->connection, kept->bytes, count);
    return TLC_OK;
}

static void close_session(struct session *session)
{
    struct tlc_stack_error words;
    struct tlc_error ignored;
    if (session->connection && session->finished_ns && session->stack->close) {
        (void)session->stack->close(session->connection, &words);
        flush_out(session, &ignored);
    }
    session->stack->connection_free(session->connection);
    session->stack->context_free(session->context);
    if (session->fd >= 0)
        close(session->fd);
}

static json_t *microseconds(uint64_t ns)
{
    return ns ? json_integer((json_int_t)((ns + 500) / 1000)) : json_null();
}

static json_t *times_json(const struct session *session)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "connect", microseconds(session->connect_ns),
                     "server_hello", microseconds(session->server_hello_ns), "finished",
                     microseconds(session->finished_ns), "tickets",
                     microseconds(session->tickets_ns));
}

static enum tlc_status describe(const struct session *session, const char *trust_pem,
                                json_t **evidence, struct tlc_error *error)
{
    struct tlc_connection_facts facts = {.stack = session->stack,
                                         .connection = session->connection,
                                         .address = session->options->address,
                                         .server_name = session->server_name,
                                         .verification_asked = trust_pem != NULL,
                                         .wire = &session->wire};
    enum tlc_status status = tlc_evidence_of_connection(&facts, evidence, error);
    if (status == TLC_OK)
        json_object_set_new(*evidence, "time_us", times_json(session));
    return status;
}

static enum tlc_status probe_once(const struct tlc_probe_options *options, const char *trust_pem,
                                  json_t **evidence, struct tlc_error *error)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return tlc_fail(error, TLC_ENVIRONMENT, "probe: out of memory");
    unsigned timeout_ms = options->timeout_ms ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    session->options = options;
    session->stack = options->plugin->stack;
    session->fd = session->alert = -1;
    enum tlc_status status = choose_server_name(session, error);
    if (status == TLC_OK)
        status = open_session(session, trust_pem, error);
    session->started_ns = tlc_now_ns();
    session->deadline_ns = session->started_ns + timeout_ms * NS_PER_MS;
    if (status == TLC_OK)
        status = tlc_connect(options->address, options->socket, session->deadline_ns, &session->fd,
                             error);
    session->connect_ns = since_start(session);
    if (status == TLC_OK)
        status = handshake(session, error);
    if (status == TLC_OK)
        status = receive_tickets(session, error);
    if (status == TLC_OK)
        status = describe(session, trust_pem, evidence, error);
    if (status == TLC_OK)
        status = keep_session(session, error);
    close_session(session);
    free(session);
    return status;
}

static enum tlc_status check_stack(const struct tlc_stack_plugin *plugin, struct tlc_error *error)
{
    const struct tlc_stack *stack = plugin->stack;
    if (stack->connection_on_memory && stack->memory_feed && stack->memory_take &&
        stack->tickets_received && stack->evidence)
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "probe: stack %s: has no memory transport for a client; use another stack",
                    plugin->id);
}

enum tlc_status tlc_probe(const struct tlc_probe_options *options, json_t **evidence,
                          struct tlc_error *error)
{
    *evidence = NULL;
    enum tlc_status status = check_stack(options->plugin, error);
    if (status != TLC_OK)
        return status;
    status = probe_once(options, options->trust_pem, evidence, error);
    if (status == TLC_REFUSED && options->trust_pem) {
        // Only a handshake that succeeds without verifying shows that verifying is what failed.
        struct tlc_error second = {0};
        if (probe_once(options, NULL, evidence, &second) == TLC_OK) {
            json_object_set_new(*evidence, "verified", json_false());
            json_object_set_new(*evidence, "verification", json_string(error->text));
            return TLC_OK;
        }
    }
    return status == TLC_OK ? TLC_OK : tlc_fail_prefix(error, "probe: %.200s", options->address);
}
