// Connections: transports, handshake, application data.
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static bool set_peer_name(SSL *ssl, const char *name)
{
    // RFC 6066, 3: literal addresses are not permitted in SNI; they are verified all the same.
    if (tlc_neutral_is_address(name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set_tlsext_host_name(ssl, name) == 1 &&
           X509_VERIFY_PARAM_set1_host(SSL_get0_param(ssl), name, 0) == 1;
}

static bool apply_options(struct tlc_stack_connection *connection,
                          const struct tlc_stack_context *context,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error)
{
    if (!connection->client || !options)
        return true;
    if (options->server_name && !set_peer_name(connection->ssl, options->server_name)) {
        openssl_explain(error, "server name");
        return false;
    }
    return !options->session || openssl_offer_session(connection, context, options->session,
                                                      options->session_bytes, error);
}

static struct tlc_stack_connection *
new_connection(struct tlc_stack_context *context,
               const struct tlc_stack_connection_options *options, struct tlc_stack_error *error)
{
    ERR_clear_error();
    struct tlc_stack_connection *connection = calloc(1, sizeof *connection);
    if (connection)
        connection->ssl = SSL_new(context->ctx);
    if (!connection || !connection->ssl) {
        openssl_explain(error, "connection");
        free(connection);
        return NULL;
    }
    connection->client = context->role == TLC_STACK_CLIENT;
    connection->waits = context->cookie;
    if (context->provider && !context->provider_counts)
        connection->watched = context;
    SSL_set_app_data(connection->ssl, connection);
    SSL_set_msg_callback_arg(connection->ssl, connection);
    if (connection->client)
        SSL_set_connect_state(connection->ssl);
    else
        SSL_set_accept_state(connection->ssl);
    if (!apply_options(connection, context, options, error)) {
        openssl_connection_free(connection);
        return NULL;
    }
    return connection;
}

struct tlc_stack_connection *
openssl_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    struct tlc_stack_connection *connection = new_connection(context, options, error);
    if (connection && SSL_set_fd(connection->ssl, fd) != 1) {
        openssl_explain(error, "socket");
        openssl_connection_free(connection);
        return NULL;
    }
    return connection;
}

struct tlc_stack_connection *
openssl_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    struct tlc_stack_connection *connection = new_connection(context, options, error);
    if (!connection)
        return NULL;
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (!in || !out) {
        openssl_explain(error, "memory transport");
        BIO_free(in);
        BIO_free(out);
        openssl_connection_free(connection);
        return NULL;
    }
    connection->in = in;
    connection->out = out;
    SSL_set_bio(connection->ssl, in, out);
    return connection;
}

bool openssl_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count)
{
    size_t written = 0;
    return count == 0 ||
           (BIO_write_ex(connection->in, bytes, count, &written) == 1 && written == count);
}

size_t openssl_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity)
{
    size_t taken = 0;
    if (BIO_ctrl_pending(connection->out) == 0)
        return 0;
    return BIO_read_ex(connection->out, bytes, capacity, &taken) == 1 ? taken : 0;
}

static void explain_failure(const struct tlc_stack_connection *connection, const char *what,
                            int system_error, struct tlc_stack_error *error)
{
    long verify = SSL_get_verify_result(connection->ssl);
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED && verify != X509_V_OK)
        ERR_add_error_data(1, X509_verify_cert_error_string(verify));
    bool queued = ERR_peek_error() != 0;
    openssl_explain(error, what);
    if (error && !queued)
        snprintf(error->text, sizeof error->text, "%s: %s", what,
                 system_error ? strerror(system_error) : "the peer closed the connection");
}

// What a call that returned `result` <= 0 has to wait for. `system_error` is errno right after it.
static enum tlc_stack_step step_after(const struct tlc_stack_connection *connection, int result,
                                      const char *what, struct tlc_stack_error *error)
{
    int system_error = errno;
    switch (SSL_get_error(connection->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return TLC_STEP_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLC_STEP_WANT_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TLC_STEP_CLOSED;
    default:
        explain_failure(connection, what, system_error, error);
        return TLC_STEP_FAILED;
    }
}

enum tlc_stack_step openssl_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error)
{
    ERR_clear_error();
    errno = 0;
    int result = connection->waits ? openssl_admit(connection) : 1;
    if (result == 0)
        return TLC_STEP_WANT_READ;
    connection->waits = result < 0;
    if (result == 1)
        result = SSL_do_handshake(connection->ssl);
    if (result == 1)
        result = openssl_after_handshake(connection);
    if (result == 1)
        return TLC_STEP_DONE;
    enum tlc_stack_step step = step_after(connection, result, "handshake", error);
    if (step != TLC_STEP_CLOSED)
        return step;
    if (error)
        snprintf(error->text, sizeof error->text, "handshake: the peer closed the connection");
    return TLC_STEP_FAILED;
}

enum tlc_stack_step openssl_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    ERR_clear_error();
    errno = 0;
    int result = SSL_read_ex(connection->ssl, bytes, capacity, done);
    return result == 1 ? TLC_STEP_DONE : step_after(connection, result, "read", error);
}

enum tlc_stack_step openssl_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error)
{
    ERR_clear_error();
    errno = 0;
    int result = SSL_write_ex(connection->ssl, bytes, count, done);
    if (result == 1)
        return TLC_STEP_DONE;
    enum tlc_stack_step step = step_after(connection, result, "write", error);
    return step == TLC_STEP_CLOSED ? TLC_STEP_FAILED : step;
}

enum tlc_stack_step openssl_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error)
{
    ERR_clear_error();
    errno = 0;
    int result = SSL_shutdown(connection->ssl);
    if (result >= 0)
        return TLC_STEP_DONE; // 0: ours is sent, the peer's has not come
    return step_after(connection, result, "close", error);
}

void openssl_connection_free(struct tlc_stack_connection *connection)
{
    if (!connection)
        return;
    for (size_t i = 0; i < connection->chain_count; i++)
        OPENSSL_free(connection->chain_der[i]);
    SSL_SESSION_free(connection->session);
    // OpenSSL drops the cached session of a connection freed without a close_notify; clients that
    // just go (or reset) must not cost others the resumption. A fatal alert has dropped it already.
    SSL_set_shutdown(connection->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(connection->ssl);
    free(connection);
}
