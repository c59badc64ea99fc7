// Connections: transports, handshake, application data.
#include <mbedtls/net_sockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/mbedtls_plugin.h"

static int receive(void *transport, unsigned char *bytes, size_t count)
{
    ssize_t got = tlc_transport_receive(transport, bytes, count);
    if (got >= 0)
        return (int)got;
    return got == TLC_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_NET_CONN_RESET;
}

static int transmit(void *transport, const unsigned char *bytes, size_t count)
{
    ssize_t sent = tlc_transport_send(transport, bytes, count);
    if (sent >= 0)
        return (int)sent;
    return sent == TLC_WOULD_BLOCK ? MBEDTLS_ERR_SSL_WANT_WRITE : MBEDTLS_ERR_NET_CONN_RESET;
}

static bool apply_options(struct tlc_stack_connection *connection,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error)
{
    if (!connection->transport.client)
        return true;
    const char *name = options ? options->server_name : NULL;
    // RFC 6066, 3: literal addresses are not permitted in SNI; Mbed TLS verifies only what it
    // sends.
    if (name && tlc_neutral_is_address(name) && !connection->context->verifies)
        name = NULL;
    // NULL says that no name is to be verified; without the call the library refuses to verify.
    int code = mbedtls_ssl_set_hostname(&connection->ssl, name);
    if (code) {
        mbedtls_explain(error, "server name", code);
        return false;
    }
    if (name)
        snprintf(connection->server_name, sizeof connection->server_name, "%s", name);
    return !options || !options->session ||
           mbedtls_offer_session(connection, options->session, options->session_bytes, error);
}

static struct tlc_stack_connection *
new_connection(struct tlc_stack_context *context, int fd,
               const struct tlc_stack_connection_options *options, struct tlc_stack_error *error)
{
    struct tlc_stack_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        mbedtls_explain(error, "connection: out of memory", 0);
        return NULL;
    }
    connection->context = context;
    tlc_transport_open(&connection->transport, fd, context->role == TLC_STACK_CLIENT);
    mbedtls_ssl_init(&connection->ssl);
    int code = mbedtls_ssl_setup(&connection->ssl, &context->config);
    if (code)
        mbedtls_explain(error, "connection", code);
    mbedtls_ssl_set_user_data_p(&connection->ssl, connection);
    mbedtls_ssl_set_bio(&connection->ssl, &connection->transport, transmit, receive, NULL);
    if (code || !apply_options(connection, options, error)) {
        mbedtls_connection_free(connection);
        return NULL;
    }
    return connection;
}

struct tlc_stack_connection *
mbedtls_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    return new_connection(context, fd, options, error);
}

struct tlc_stack_connection *
mbedtls_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    return new_connection(context, -1, options, error);
}

bool mbedtls_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count)
{
    return tlc_transport_feed(&connection->transport, bytes, count);
}

size_t mbedtls_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity)
{
    return tlc_transport_take(&connection->transport, bytes, capacity);
}

// What a call that returned `code` has to wait for.
static enum tlc_stack_step step_after(int code, const char *what, struct tlc_stack_error *error)
{
    switch (code) {
    case MBEDTLS_ERR_SSL_WANT_READ:
        return TLC_STEP_WANT_READ;
    case MBEDTLS_ERR_SSL_WANT_WRITE:
        return TLC_STEP_WANT_WRITE;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
        return TLC_STEP_CLOSED;
    default:
        mbedtls_explain(error, what, code);
        return TLC_STEP_FAILED;
    }
}

// Before it takes a ticket in, Mbed TLS says that it wants to read though it has the message; no
// more bytes need come for it.
static bool waits_for_nothing(const struct tlc_stack_connection *connection, int code)
{
    return code == MBEDTLS_ERR_SSL_WANT_READ && !connection->transport.starved;
}

enum tlc_stack_step mbedtls_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error)
{
    int code;
    do {
        connection->transport.starved = false;
        code = mbedtls_ssl_handshake(&connection->ssl);
    } while (waits_for_nothing(connection, code));
    // A client may go once it has sent its Finished; that no ticket reaches it any more takes
    // nothing from the handshake.
    bool only_tickets = !connection->transport.client && connection->transport.gone &&
                        mbedtls_ssl_is_handshake_over(&connection->ssl);
    if (code == 0 || only_tickets) {
        connection->finished = true;
        return TLC_STEP_DONE;
    }
    enum tlc_stack_step step = step_after(code, "handshake", error);
    if (step == TLC_STEP_CLOSED)
        mbedtls_explain(error, "handshake: the peer closed the connection", 0);
    return step == TLC_STEP_CLOSED ? TLC_STEP_FAILED : step;
}

enum tlc_stack_step mbedtls_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    int code;
    do {
        connection->transport.starved = false;
        code = mbedtls_ssl_read(&connection->ssl, bytes, capacity);
        if (code == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET)
            mbedtls_take_session(connection);
    } while (code == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET ||
             waits_for_nothing(connection, code));
    if (code <= 0)
        return step_after(code ? code : MBEDTLS_ERR_SSL_CONN_EOF, "read", error);
    *done = (size_t)code;
    return TLC_STEP_DONE;
}

enum tlc_stack_step mbedtls_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error)
{
    int code = mbedtls_ssl_write(&connection->ssl, bytes, count);
    if (code > 0) {
        *done = (size_t)code;
        return TLC_STEP_DONE;
    }
    enum tlc_stack_step step = step_after(code, "write", error);
    return step == TLC_STEP_CLOSED ? TLC_STEP_FAILED : step;
}

enum tlc_stack_step mbedtls_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error)
{
    int code = mbedtls_ssl_close_notify(&connection->ssl);
    return code == 0 ? TLC_STEP_DONE : step_after(code, "close", error);
}

void mbedtls_connection_free(struct tlc_stack_connection *connection)
{
    if (!connection)
        return;
    mbedtls_ssl_free(&connection->ssl);
    tlc_transport_close(&connection->transport);
    if (connection->session)
        explicit_bzero(connection->session, connection->session_bytes);
    free(connection->session);
    free(connection);
}
