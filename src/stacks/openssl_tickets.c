// Resumption: ticket modes and keys of servers, sessions of clients.
#include "stacks/openssl_plugin.h"

static void set_mode(SSL_CTX *ctx, const struct tlc_stack_config *config)
{
    if (config->ticket_mode != TLC_TICKETS_STATELESS)
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ctx, config->ticket_mode == TLC_TICKETS_STATEFUL
                                            ? SSL_SESS_CACHE_SERVER
                                            : SSL_SESS_CACHE_OFF);
    if (config->session_cache_entries)
        SSL_CTX_sess_set_cache_size(ctx, (long)config->session_cache_entries);
    if (config->session_lifetime_s)
        SSL_CTX_set_timeout(ctx, (long)config->session_lifetime_s);
    // RFC 8446, 4.6.1: a server that sends no NewSessionTicket offers no resumption.
    if (config->ticket_mode == TLC_TICKETS_OFF)
        SSL_CTX_set_num_tickets(ctx, 0);
    else if (config->tickets_per_handshake >= 0)
        SSL_CTX_set_num_tickets(ctx, (size_t)config->tickets_per_handshake);
}

bool openssl_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    set_mode(context->ctx, config);
    for (size_t i = 0; i < context->named_count; i++)
        set_mode(context->named[i].ctx, config);
    if (config->ticket_mode != TLC_TICKETS_STATELESS || !config->ticket_key_count)
        return true;
    context->has_ticket_keys = true;
    return openssl_install_ticket_keys(context, error) &&
           openssl_ticket_keys_replace(context, config->ticket_keys, config->ticket_key_count,
                                       error);
}

void openssl_tickets_clear(struct tlc_stack_context *context)
{
    tlc_ticket_keys_clear(&context->tickets);
    openssl_remove_ticket_keys(context);
}

bool openssl_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error)
{
    return tlc_ticket_keys_renew(&context->tickets, context->has_ticket_keys, keys, count, error);
}

int openssl_keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct tlc_stack_connection *connection = SSL_get_app_data(ssl);
    SSL_SESSION_free(connection->session);
    connection->session = session;
    connection->tickets++;
    return 1; // the reference is ours now
}

// OpenSSL does not call back for a ticket renewed in a TLS 1.2 resumption (RFC 5077, 3.3).
static void take_renewed_session(struct tlc_stack_connection *connection)
{
    if (connection->session || !connection->wire.ticket || !SSL_is_init_finished(connection->ssl))
        return;
    connection->session = SSL_get1_session(connection->ssl);
    connection->tickets += connection->session != NULL;
}

size_t openssl_tickets_received(struct tlc_stack_connection *connection)
{
    take_renewed_session(connection);
    return connection->tickets;
}

size_t openssl_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity)
{
    take_renewed_session(connection);
    if (!connection->session || !SSL_SESSION_is_resumable(connection->session))
        return 0;
    int needed = i2d_SSL_SESSION(connection->session, NULL);
    if (needed <= 0)
        return 0;
    if (!bytes)
        return (size_t)needed;
    if ((size_t)needed > capacity)
        return 0;
    unsigned char *at = bytes;
    return i2d_SSL_SESSION(connection->session, &at) == needed ? (size_t)needed : 0;
}

bool openssl_offer_session(struct tlc_stack_connection *connection,
                           const struct tlc_stack_context *context, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error)
{
    SSL_SESSION *session = openssl_read_session(context, bytes, count);
    bool good = session && SSL_set_session(connection->ssl, session) == 1;
    if (!good)
        openssl_explain(error, "session");
    SSL_SESSION_free(session);
    return good;
}
