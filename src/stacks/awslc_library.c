// What AWS-LC does in its own way, for the files of the OpenSSL plug-in.
#include <openssl/pem.h>

#include "stacks/openssl_plugin.h"

SSL_CTX *openssl_new_ctx(const struct tlc_stack_context *context, unsigned psk_modes)
{
    (void)psk_modes; // psk_dhe_ke is the only one it has
    return SSL_CTX_new(context->role == TLC_STACK_SERVER ? TLS_server_method()
                                                         : TLS_client_method());
}

bool openssl_set_library_options(SSL_CTX *ctx, enum tlc_stack_role role, const char *options,
                                 struct tlc_stack_error *error)
{
    (void)ctx;
    (void)role;
    (void)options;
    return tlc_neutral_refuse(error, "library options: AWS-LC has no settings by name");
}

X509 *openssl_next_certificate(const struct tlc_stack_context *context, BIO *bio)
{
    (void)context;
    return PEM_read_bio_X509(bio, NULL, NULL, NULL);
}

EVP_PKEY *openssl_read_key(const struct tlc_stack_context *context, BIO *bio)
{
    (void)context;
    return PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
}

SSL_SESSION *openssl_read_session(const struct tlc_stack_context *context, const uint8_t *bytes,
                                  size_t count)
{
    // It is parsed for a context, whose role it must fit.
    return SSL_SESSION_from_bytes(bytes, count, context->ctx);
}

X509 *openssl_peer_leaf(const SSL *ssl)
{
    return SSL_get_peer_certificate(ssl);
}

bool openssl_demand_cookie(SSL_CTX *ctx, struct tlc_stack_error *error)
{
    (void)ctx;
    return tlc_neutral_refuse(error, "cookie: AWS-LC has none for a server; OpenSSL has");
}

int openssl_admit(struct tlc_stack_connection *connection)
{
    (void)connection;
    return 1;
}

bool openssl_load_provider(const char *provider, struct ossl_lib_ctx_st **library,
                           struct ossl_provider_st **loaded, struct tlc_stack_error *error)
{
    (void)provider;
    (void)library;
    (void)loaded;
    return tlc_neutral_refuse(error, "provider: AWS-LC has none; OpenSSL has");
}

bool openssl_provider_load(struct tlc_stack_context *context, const char *provider,
                           struct tlc_stack_error *error)
{
    return openssl_load_provider(provider, &context->library, &context->provider, error);
}

void openssl_provider_unload(struct tlc_stack_context *context)
{
    (void)context;
}

// A server's tickets would wait for the first bytes that it writes: a client that only reads would
// get none. A write of no bytes sends them.
int openssl_after_handshake(struct tlc_stack_connection *connection)
{
    if (connection->client || SSL_version(connection->ssl) != TLS1_3_VERSION)
        return 1;
    int result = SSL_write(connection->ssl, "", 0);
    return result < 0 ? result : 1;
}
