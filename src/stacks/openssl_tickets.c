// Resumption: ticket modes and keys of servers, sessions of clients.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static bool set_mac(EVP_MAC_CTX *mac, struct tlc_ticket_key *key)
{
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->hmac, sizeof key->hmac),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// Ticket key callback; the return values are OpenSSL's: -1 error, 0 unknown key, 1 good, 2 good
// and a new ticket is to be sent.
static int use_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                          EVP_MAC_CTX *mac, int encrypt)
{
    struct tlc_stack_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tlc_ticket_key key;
    ptrdiff_t index = tlc_ticket_keys_find(&context->tickets, encrypt ? NULL : name, &key);
    if (index < 0)
        return 0;
    bool good = set_mac(mac, &key);
    if (encrypt) {
        memcpy(name, key.name, sizeof key.name);
        good = good && RAND_bytes_ex(context->library, iv, 16, 0) == 1 &&
               EVP_EncryptInit_ex(cipher, context->ticket_cipher, NULL, key.aes, iv) == 1;
    } else {
        good = good && EVP_DecryptInit_ex(cipher, context->ticket_cipher, NULL, key.aes, iv) == 1;
    }
    OPENSSL_cleanse(&key, sizeof key);
    if (!good)
        return -1;
    // With its built-in keys OpenSSL renews every TLS 1.3 ticket; explicit keys must not differ.
    return index > 0 || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1;
}

static void install_ticket_keys(struct tlc_stack_context *context)
{
    // The callback is asked with the connection's current context, which SNI may have changed.
    SSL_CTX_set_app_data(context->ctx, context);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context->ctx, use_ticket_key);
    for (size_t i = 0; i < context->named_count; i++) {
        SSL_CTX_set_app_data(context->named[i].ctx, context);
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context->named[i].ctx, use_ticket_key);
    }
    context->has_ticket_keys = true;
}

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
    context->ticket_cipher = EVP_CIPHER_fetch(context->library, "AES-256-CBC", NULL);
    if (!context->ticket_cipher) {
        openssl_explain(error, "ticket keys");
        return false;
    }
    install_ticket_keys(context);
    return openssl_ticket_keys_replace(context, config->ticket_keys, config->ticket_key_count,
                                       error);
}

void openssl_tickets_clear(struct tlc_stack_context *context)
{
    tlc_ticket_keys_clear(&context->tickets);
    EVP_CIPHER_free(context->ticket_cipher);
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
    const unsigned char *at = bytes;
#if OPENSSL_VERSION_NUMBER >= 0x30200000L
    SSL_SESSION *session = count > INT32_MAX
                               ? NULL
                               : d2i_SSL_SESSION_ex(NULL, &at, (long)count, context->library, NULL);
#else
    (void)context;
    SSL_SESSION *session = count > INT32_MAX ? NULL : d2i_SSL_SESSION(NULL, &at, (long)count);
#endif
    bool good = session && SSL_set_session(connection->ssl, session) == 1;
    if (!good)
        openssl_explain(error, "session");
    SSL_SESSION_free(session);
    return good;
}
