// What OpenSSL 3 and later do in their own way: library contexts, settings by name.
#include <ctype.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static void set_psk_modes(SSL_CTX *ctx, unsigned modes)
{
    if (!(modes & TLC_PSK_KE))
        return;
    SSL_CTX_set_options(ctx, SSL_OP_ALLOW_NO_DHE_KEX);
#ifdef SSL_OP_PREFER_NO_DHE_KEX
    if (!(modes & TLC_PSK_DHE_KE))
        SSL_CTX_set_options(ctx, SSL_OP_PREFER_NO_DHE_KEX);
#endif
}

SSL_CTX *openssl_new_ctx(const struct tlc_stack_context *context, unsigned psk_modes)
{
    bool server = context->role == TLC_STACK_SERVER;
    SSL_CTX *ctx =
        SSL_CTX_new_ex(context->library, NULL, server ? TLS_server_method() : TLS_client_method());
    if (!ctx)
        return NULL;
    SSL_CTX_set_max_early_data(ctx, 0);
    SSL_CTX_set_recv_max_early_data(ctx, 0);
    set_psk_modes(ctx, psk_modes);
    return ctx;
}

// OpenSSL's own settings, "Name=value" separated by ';' as in its configuration files.
bool openssl_set_library_options(SSL_CTX *ctx, enum tlc_stack_role role, const char *options,
                                 struct tlc_stack_error *error)
{
    char *text = strdup(options), *rest = text, *name;
    SSL_CONF_CTX *conf = SSL_CONF_CTX_new();
    bool good = text && conf;
    if (good) {
        SSL_CONF_CTX_set_flags(
            conf, SSL_CONF_FLAG_FILE | SSL_CONF_FLAG_SHOW_ERRORS |
                      (role == TLC_STACK_SERVER ? SSL_CONF_FLAG_SERVER : SSL_CONF_FLAG_CLIENT));
        SSL_CONF_CTX_set_ssl_ctx(conf, ctx);
    }
    while (good && (name = strsep(&rest, ";"))) {
        while (isspace((unsigned char)*name))
            name++;
        char *value = strchr(name, '=');
        if (!*name)
            continue;
        if (value)
            *value++ = '\0';
        good = SSL_CONF_cmd(conf, name, value) > 0;
    }
    good = good && SSL_CONF_CTX_finish(conf) == 1;
    if (!good)
        openssl_explain(error, "library options");
    SSL_CONF_CTX_free(conf);
    free(text);
    return good;
}

X509 *openssl_next_certificate(const struct tlc_stack_context *context, BIO *bio)
{
    X509 *certificate = X509_new_ex(context->library, NULL);
    if (certificate && !PEM_read_bio_X509(bio, &certificate, NULL, NULL)) {
        X509_free(certificate);
        return NULL;
    }
    return certificate;
}

EVP_PKEY *openssl_read_key(const struct tlc_stack_context *context, BIO *bio)
{
    return PEM_read_bio_PrivateKey_ex(bio, NULL, NULL, NULL, context->library, NULL);
}

SSL_SESSION *openssl_read_session(const struct tlc_stack_context *context, const uint8_t *bytes,
                                  size_t count)
{
    const unsigned char *at = bytes;
    if (count > INT32_MAX)
        return NULL;
#if OPENSSL_VERSION_NUMBER >= 0x30200000L
    return d2i_SSL_SESSION_ex(NULL, &at, (long)count, context->library, NULL);
#else
    (void)context;
    return d2i_SSL_SESSION(NULL, &at, (long)count);
#endif
}

X509 *openssl_peer_leaf(const SSL *ssl)
{
    return SSL_get1_peer_certificate(ssl);
}
