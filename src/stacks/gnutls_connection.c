// Connections: transports, handshake, application data.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/gnutls_plugin.h"

static ssize_t tell(gnutls_session_t session, ssize_t moved)
{
    if (moved >= 0)
        return moved;
    gnutls_transport_set_errno(session, moved == TLC_WOULD_BLOCK ? EAGAIN : ECONNRESET);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t argument, void *bytes, size_t count)
{
    struct tlc_stack_connection *connection = argument;
    return tell(connection->session, tlc_transport_receive(&connection->transport, bytes, count));
}

static ssize_t push(gnutls_transport_ptr_t argument, const giovec_t *pieces, int count)
{
    struct tlc_stack_connection *connection = argument;
    return tell(connection->session,
                tlc_transport_send_pieces(&connection->transport, pieces, (size_t)count));
}

// The library asks before it waits; connections never wait.
static int is_readable(gnutls_transport_ptr_t argument, unsigned timeout_ms)
{
    (void)argument;
    (void)timeout_ms;
    return 1;
}

// Chooses the certificate by server name (RFC 6066, 3).
static int choose_certificate(gnutls_session_t session)
{
    struct tlc_stack_connection *connection = gnutls_session_get_ptr(session);
    char name[256];
    size_t size = sizeof name;
    unsigned type;
    if (gnutls_server_name_get(session, name, &size, &type, 0))
        return 0;
    return gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE,
                                  gtls_credentials_of_name(connection->context, name));
}

static unsigned flags_of(const struct tlc_stack_context *context)
{
    unsigned flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
    if (context->ticket_mode == TLC_TICKETS_OFF)
        flags |= GNUTLS_NO_TICKETS;
    if (context->role == TLC_STACK_CLIENT)
        return flags | GNUTLS_CLIENT | GNUTLS_KEY_SHARE_TOP;
    if (gtls_sends_tickets_itself(context))
        flags |= GNUTLS_NO_AUTO_SEND_TICKET;
    return flags | GNUTLS_SERVER;
}

static int set_alpn(const struct tlc_stack_connection *connection)
{
    const struct tlc_stack_context *context = connection->context;
    gnutls_datum_t *protocols = calloc(context->alpn_count, sizeof *protocols);
    if (!protocols)
        return GNUTLS_E_MEMORY_ERROR;
    for (size_t i = 0; i < context->alpn_count; i++)
        protocols[i] = (gnutls_datum_t){.data = (unsigned char *)context->alpn[i],
                                        .size = (unsigned)strlen(context->alpn[i])};
    // RFC 7301, 3.2: no protocol in common ends in a no_application_protocol alert.
    int code =
        gnutls_alpn_set_protocols(connection->session, protocols, (unsigned)context->alpn_count,
                                  GNUTLS_ALPN_MANDATORY | GNUTLS_ALPN_SERVER_PRECEDENCE);
    free(protocols);
    return code;
}

static int apply_options(struct tlc_stack_connection *connection,
                         const struct tlc_stack_connection_options *options)
{
    const char *name = options->server_name;
    int code = 0;
    if (name && connection->context->verifies && !(connection->server_name = strdup(name)))
        return GNUTLS_E_MEMORY_ERROR;
    if (name && !tlc_neutral_is_address(name)) {
        snprintf(connection->sent_name, sizeof connection->sent_name, "%s", name);
        code = gnutls_server_name_set(connection->session, GNUTLS_NAME_DNS, name, strlen(name));
    }
    if (!code && options->session)
        code =
            gnutls_session_set_data(connection->session, options->session, options->session_bytes);
    return code;
}

static int start(struct tlc_stack_connection *connection,
                 const struct tlc_stack_connection_options *options)
{
    struct tlc_stack_context *context = connection->context;
    int code = gnutls_init(&connection->session, flags_of(context));
    if (code)
        return code;
    gnutls_session_t session = connection->session;
    gnutls_session_set_ptr(session, connection);
    gnutls_transport_set_ptr(session, connection);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_transport_set_pull_timeout_function(session, is_readable);
    gnutls_transport_set_vec_push_function(session, push);
    code = gnutls_priority_set(session, context->priorities);
    if (!code)
        code = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, context->credentials);
    if (!code && context->alpn_count)
        code = set_alpn(connection);
    if (!connection->transport.client)
        gnutls_certificate_server_set_request(session, context->request);
    if (context->named_count)
        gnutls_handshake_set_post_client_hello_function(session, choose_certificate);
    if (!code)
        code = gtls_tickets_attach(connection);
    return code || !options ? code : apply_options(connection, options);
}

static struct tlc_stack_connection *
new_connection(struct tlc_stack_context *context, int fd,
               const struct tlc_stack_connection_options *options, struct tlc_stack_error *error)
{
    struct tlc_stack_connection *connection = calloc(1, sizeof *connection);
    int code = GNUTLS_E_MEMORY_ERROR;
    if (connection) {
        bool client = context->role == TLC_STACK_CLIENT;
        connection->context = context;
        tlc_transport_open(&connection->transport, fd, client);
        code = start(connection, client ? options : NULL);
    }
    if (!code)
        return connection;
    gtls_explain(error, "connection", code);
    gtls_connection_free(connection);
    return NULL;
}

struct tlc_stack_connection *
gtls_connection_on_socket(struct tlc_stack_context *context, int fd,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error)
{
    return new_connection(context, fd, options, error);
}

struct tlc_stack_connection *
gtls_connection_on_memory(struct tlc_stack_context *context,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error)
{
    return new_connection(context, -1, options, error);
}

bool gtls_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes, size_t count)
{
    return tlc_transport_feed(&connection->transport, bytes, count);
}

size_t gtls_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity)
{
    return tlc_transport_take(&connection->transport, bytes, capacity);
}

static void explain_alert(const struct tlc_stack_connection *connection, const char *what,
                          struct tlc_stack_error *error)
{
    const char *name = gnutls_alert_get_name(gnutls_alert_get(connection->session));
    if (error)
        snprintf(error->text, sizeof error->text, "%s: the peer sent an alert: %s", what,
                 name ? name : "unknown");
}

// What a call that returned `code` has to wait for.
static enum tlc_stack_step step_after(const struct tlc_stack_connection *connection, int code,
                                      const char *what, struct tlc_stack_error *error)
{
    if (code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED)
        return gnutls_record_get_direction(connection->session) ? TLC_STEP_WANT_WRITE
                                                                : TLC_STEP_WANT_READ;
    if (code == GNUTLS_E_FATAL_ALERT_RECEIVED)
        explain_alert(connection, what, error);
    else
        gtls_explain(error, what, code);
    return TLC_STEP_FAILED;
}

// The library takes a message in (a ticket, a warning) and then says that it wants to read, though
// more may be there already.
static bool goes_on(const struct tlc_stack_connection *connection, int code)
{
    if (code == GNUTLS_E_AGAIN)
        return !connection->transport.starved && !gnutls_record_get_direction(connection->session);
    return code < 0 && !gnutls_error_is_fatal(code) && code != GNUTLS_E_INTERRUPTED;
}

// The library leaves it to its caller to tell the peer (RFC 8446, 6.2).
static enum tlc_stack_step fail_handshake(struct tlc_stack_connection *connection, int code,
                                          struct tlc_stack_error *error)
{
    enum tlc_stack_step step = step_after(connection, code, "handshake", error);
    if (step != TLC_STEP_FAILED)
        return step;
    size_t used = error ? strlen(error->text) : 0;
    if (error && connection->why[0])
        snprintf(error->text + used, sizeof error->text - used, " %s", connection->why);
    if (code != GNUTLS_E_FATAL_ALERT_RECEIVED && !connection->transport.gone)
        gnutls_alert_send_appropriate(connection->session, code);
    return step;
}

enum tlc_stack_step gtls_step_handshake(struct tlc_stack_connection *connection,
                                        struct tlc_stack_error *error)
{
    int code = 0;
    while (!connection->finished) {
        connection->transport.starved = false;
        code = gnutls_handshake(connection->session);
        if (goes_on(connection, code))
            continue;
        if (code)
            return fail_handshake(connection, code, error);
        connection->finished = true;
    }
    code = gtls_tickets_send(connection);
    // A client may go once it has sent its Finished; that no ticket reaches it any more takes
    // nothing from the handshake.
    if (!code || connection->transport.gone)
        return TLC_STEP_DONE;
    return step_after(connection, code, "tickets", error);
}

enum tlc_stack_step gtls_step_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                   size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    ssize_t got;
    do {
        connection->transport.starved = false;
        got = gnutls_record_recv(connection->session, bytes, capacity);
    } while (goes_on(connection, (int)got));
    if (got == 0)
        return TLC_STEP_CLOSED;
    if (got < 0)
        return step_after(connection, (int)got, "read", error);
    *done = (size_t)got;
    return TLC_STEP_DONE;
}

enum tlc_stack_step gtls_step_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                    size_t count, size_t *done, struct tlc_stack_error *error)
{
    ssize_t sent = gnutls_record_send(connection->session, bytes, count);
    if (sent < 0)
        return step_after(connection, (int)sent, "write", error);
    *done = (size_t)sent;
    return TLC_STEP_DONE;
}

enum tlc_stack_step gtls_step_close(struct tlc_stack_connection *connection,
                                    struct tlc_stack_error *error)
{
    int code = gnutls_bye(connection->session, GNUTLS_SHUT_WR);
    return code == 0 ? TLC_STEP_DONE : step_after(connection, code, "close", error);
}

void gtls_connection_free(struct tlc_stack_connection *connection)
{
    if (!connection)
        return;
    if (connection->session)
        gnutls_deinit(connection->session);
    tlc_transport_close(&connection->transport);
    gtls_forget_session(connection);
    free(connection->server_name);
    free(connection);
}
