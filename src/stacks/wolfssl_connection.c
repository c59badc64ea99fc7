// Connections: transports, handshake, application data, evidence.
#include "stacks/wolfssl_plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

int wolfssl_receive(WOLFSSL *ssl, char *bytes, int count, void *transport)
{
    (void)ssl;
    ssize_t got = tlc_transport_receive(transport, bytes, (size_t)count);
    if (got > 0)
        return (int)got;
    return got == TLC_WOULD_BLOCK ? WOLFSSL_CBIO_ERR_WANT_READ
           : got == 0             ? WOLFSSL_CBIO_ERR_CONN_CLOSE
                                  : WOLFSSL_CBIO_ERR_CONN_RST;
}

int wolfssl_send(WOLFSSL *ssl, char *bytes, int count, void *transport)
{
    (void)ssl;
    ssize_t sent = tlc_transport_send(transport, bytes, (size_t)count);
    if (sent >= 0)
        return (int)sent;
    return sent == TLC_WOULD_BLOCK ? WOLFSSL_CBIO_ERR_WANT_WRITE : WOLFSSL_CBIO_ERR_CONN_RST;
}

static bool set_peer_name(WOLFSSL *ssl, const char *name, bool verifies)
{
    // RFC 6066, 3: literal addresses are not permitted in SNI; they are verified all the same.
    if (tlc_neutral_is_address(name))
        return !verifies || wolfSSL_check_ip_address(ssl, name) == WOLFSSL_SUCCESS;
    return wolfSSL_UseSNI(ssl, WOLFSSL_SNI_HOST_NAME, name, (unsigned short)strlen(name)) ==
               WOLFSSL_SUCCESS &&
           (!verifies || wolfSSL_check_domain_name(ssl, name) == WOLFSSL_SUCCESS);
}

static bool apply_options(struct tlc_stack_connection *connection,
                          const struct tlc_stack_context *context,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error)
{
    if (context->alpn) {
        // RFC 7301, 3.2: no protocol in common ends in a no_application_protocol alert.
        int code = wolfSSL_UseALPN(connection->ssl, context->alpn, (word32)strlen(context->alpn),
                                   WOLFSSL_ALPN_FAILED_ON_MISMATCH);
        if (code != WOLFSSL_SUCCESS) {
            wolfssl_explain(error, "ALPN", code);
            return false;
        }
    }
    if (!connection->transport.client || !options)
        return true;
    if (options->server_name &&
        !set_peer_name(connection->ssl, options->server_name, context->verifies)) {
        wolfssl_explain(error, "server name: wolfSSL does not take it", 0);
        return false;
    }
    return !options->session ||
           wolfssl_offer_session(connection, options->session, options->session_bytes, error);
}

static bool start(struct tlc_stack_connection *connection, WOLFSSL_CTX *ctx,
                  const struct tlc_stack_connection_options *options, struct tlc_stack_error *error)
{
    connection->ssl = wolfSSL_new(ctx);
    if (!connection->ssl) {
        wolfssl_explain(error, "connection: out of memory", 0);
        return false;
    }
    wolfSSL_SetIOReadCtx(connection->ssl, &connection->transport);
    wolfSSL_SetIOWriteCtx(connection->ssl, &connection->transport);
    return apply_options(connection, connection->context, options, error);
}

static struct tlc_stack_connection *
new_connection(struct tlc_stack_context *context, int fd,
               const struct tlc_stack_connection_options *options, struct tlc_stack_error *error)
{
    struct tlc_stack_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        wolfssl_explain(error, "connection: out of memory", 0);
        return NULL;
    }
    connection->context = context;
    tlc_transport_open(&connection->transport, fd, context->role == TLC_STACK_CLIENT);
    if (!context->named_count && !start(connection, context->ctx, options, error)) {
        wolfssl_connection_free(connection);
        return NULL;
    }
    return connection;
}

struct tlc_stack_connection *
wolfssl_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    return new_connection(context, fd, options, error);
}

struct tlc_stack_connection *
wolfssl_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error)
{
    return new_connection(context, -1, options, error);
}

bool wolfssl_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count)
{
    return tlc_transport_feed(&connection->transport, bytes, count);
}

size_t wolfssl_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity)
{
    return tlc_transport_take(&connection->transport, bytes, capacity);
}

// What a call that returned `result` <= 0 has to wait for.
static enum tlc_stack_step step_after(const struct tlc_stack_connection *connection, int result,
                                      const char *what, struct tlc_stack_error *error)
{
    int code = wolfSSL_get_error(connection->ssl, result);
    if (code == WOLFSSL_ERROR_WANT_READ)
        return TLC_STEP_WANT_READ;
    if (code == WOLFSSL_ERROR_WANT_WRITE)
        return TLC_STEP_WANT_WRITE;
    if (code == WOLFSSL_ERROR_ZERO_RETURN)
        return TLC_STEP_CLOSED;
    wolfssl_explain(error, what, code);
    return TLC_STEP_FAILED;
}

// Makes the connection of the context that its ClientHello asks for.
static enum tlc_stack_step start_by_name(struct tlc_stack_connection *connection,
                                         struct tlc_stack_error *error)
{
    WOLFSSL_CTX *ctx = NULL;
    enum tlc_stack_step step = wolfssl_choose(connection, &ctx);
    if (step == TLC_STEP_FAILED)
        wolfssl_explain(error, "handshake: the peer closed the connection", 0);
    if (step != TLC_STEP_DONE)
        return step;
    return start(connection, ctx, NULL, error) ? TLC_STEP_DONE : TLC_STEP_FAILED;
}

enum tlc_stack_step wolfssl_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error)
{
    if (!connection->ssl) {
        enum tlc_stack_step step = start_by_name(connection, error);
        if (step != TLC_STEP_DONE)
            return step;
    }
    int result = connection->transport.client ? wolfSSL_connect(connection->ssl)
                                              : wolfSSL_accept(connection->ssl);
    // A client may go once it has sent its Finished; that no ticket reaches it any more takes
    // nothing from the handshake.
    bool only_tickets = !connection->transport.client && connection->transport.gone &&
                        wolfSSL_is_init_finished(connection->ssl);
    if (result == WOLFSSL_SUCCESS || only_tickets)
        return TLC_STEP_DONE;
    enum tlc_stack_step step = step_after(connection, result, "handshake", error);
    if (step != TLC_STEP_CLOSED)
        return step;
    if (error)
        snprintf(error->text, sizeof error->text, "handshake: the peer closed the connection");
    return TLC_STEP_FAILED;
}

static int int_size(size_t size)
{
    return size > INT32_MAX ? INT32_MAX : (int)size;
}

enum tlc_stack_step wolfssl_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    if (!connection->ssl)
        return wolfssl_handshake(connection, error) == TLC_STEP_FAILED ? TLC_STEP_FAILED
                                                                       : TLC_STEP_WANT_READ;
    int result = wolfSSL_read(connection->ssl, bytes, int_size(capacity));
    if (result <= 0)
        return step_after(connection, result, "read", error);
    *done = (size_t)result;
    return TLC_STEP_DONE;
}

enum tlc_stack_step wolfssl_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error)
{
    if (!connection->ssl)
        return TLC_STEP_WANT_READ;
    int result = wolfSSL_write(connection->ssl, bytes, int_size(count));
    if (result > 0) {
        *done = (size_t)result;
        return TLC_STEP_DONE;
    }
    enum tlc_stack_step step = step_after(connection, result, "write", error);
    return step == TLC_STEP_CLOSED ? TLC_STEP_FAILED : step;
}

enum tlc_stack_step wolfssl_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error)
{
    if (!connection->ssl)
        return TLC_STEP_DONE; // nothing was said yet
    int result = wolfSSL_shutdown(connection->ssl);
    if (result == WOLFSSL_SUCCESS || result == WOLFSSL_SHUTDOWN_NOT_DONE || result == 0)
        return TLC_STEP_DONE; // ours is sent, the peer's need not have come
    return step_after(connection, result, "close", error);
}

void wolfssl_connection_free(struct tlc_stack_connection *connection)
{
    if (!connection)
        return;
    for (size_t i = 0; i < connection->chain_count; i++)
        free(connection->chain_der[i]);
    wolfSSL_free(connection->ssl);
    tlc_transport_close(&connection->transport);
    free(connection);
}

static void keep_chain(struct tlc_stack_connection *connection)
{
    WOLFSSL_X509_CHAIN *chain = wolfSSL_get_peer_chain(connection->ssl);
    int count = chain ? wolfSSL_get_chain_count(chain) : 0;
    for (int i = 0; i < count && connection->chain_count < TLC_STACK_MAX_CHAIN; i++) {
        int size = wolfSSL_get_chain_length(chain, i);
        uint8_t *copy = size > 0 ? malloc((size_t)size) : NULL;
        if (!copy)
            return;
        memcpy(copy, wolfSSL_get_chain_cert(chain, i), (size_t)size);
        connection->chain_der[connection->chain_count] = copy;
        connection->chain_der_bytes[connection->chain_count++] = (size_t)size;
    }
}

static void copy_names(WOLFSSL *ssl, struct tlc_stack_evidence *evidence)
{
    char *protocol = NULL;
    unsigned short size = 0;
    if (wolfSSL_ALPN_GetProtocol(ssl, &protocol, &size) == WOLFSSL_SUCCESS && protocol)
        snprintf(evidence->alpn, sizeof evidence->alpn, "%.*s", (int)size, protocol);
    const char *name = wolfSSL_get_servername(ssl, WOLFSSL_SNI_HOST_NAME);
    if (name)
        snprintf(evidence->server_name, sizeof evidence->server_name, "%s", name);
}

bool wolfssl_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence)
{
    WOLFSSL *ssl = connection->ssl;
    const struct tlc_hello *hello = &connection->transport.watch.hello;
    if (!ssl || !wolfSSL_is_init_finished(ssl))
        return false;
    *evidence = (struct tlc_stack_evidence){
        .version = (uint16_t)wolfSSL_version(ssl),
        .cipher = (uint16_t)wolfSSL_get_current_cipher_suite(ssl),
        .group = hello->group,
        .hello_retry_request = hello->hello_retry_request,
        .resumed = wolfSSL_session_reused(ssl) == 1,
        .psk_mode = -1,
    };
    if (evidence->resumed && evidence->version == TLC_TLS13)
        evidence->psk_mode = evidence->group ? 1 : 0;
    // In a resumed handshake the peer sends no certificate; the session's is not evidence of it.
    if (!evidence->resumed && !connection->chain_count)
        keep_chain(connection);
    if (connection->chain_count) {
        evidence->peer_signature = wolfssl_peer_signature(ssl);
        // A certificate that does not verify ends the handshake.
        evidence->verified = connection->context->verifies;
    }
    copy_names(ssl, evidence);
    evidence->chain_count = connection->chain_count;
    for (size_t i = 0; i < connection->chain_count; i++) {
        evidence->chain_der[i] = connection->chain_der[i];
        evidence->chain_der_bytes[i] = connection->chain_der_bytes[i];
    }
    return true;
}
