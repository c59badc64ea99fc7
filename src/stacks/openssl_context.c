// Contexts: one neutral configuration turned into SSL_CTX settings.
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stacks/openssl_plugin.h"

static int compare_names(const void *left, const void *right)
{
    const struct openssl_named_context *a = left, *b = right;
    return strcasecmp(a->name, b->name);
}

// Chooses the certificate by server name (RFC 6066, 3); an unknown name gets the default one.
// NOLINTNEXTLINE(readability-non-const-parameter): the signature is OpenSSL's
static int choose_certificate(SSL *ssl, int *alert, void *argument)
{
    (void)alert;
    struct tlc_stack_context *context = argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (!name)
        return SSL_TLSEXT_ERR_NOACK;
    const struct openssl_named_context wanted = {.name = (char *)(uintptr_t)name};
    const struct openssl_named_context *found = bsearch(
        &wanted, context->named, context->named_count, sizeof *context->named, compare_names);
    if (!found)
        return SSL_TLSEXT_ERR_NOACK;
    return SSL_set_SSL_CTX(ssl, found->ctx) ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_bytes,
                           const unsigned char *offered, unsigned offered_bytes, void *argument)
{
    (void)ssl;
    const struct tlc_stack_context *context = argument;
    unsigned char *selected;
    // RFC 7301, 3.2: no protocol in common ends in a no_application_protocol alert.
    if (SSL_select_next_proto(&selected, chosen_bytes, context->alpn, context->alpn_bytes, offered,
                              offered_bytes) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = selected;
    return SSL_TLSEXT_ERR_OK;
}

static bool set_alpn(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                     struct tlc_stack_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < config->alpn_count; i++) {
        size_t length = strlen(config->alpn[i].name);
        if (length == 0 || length > 255) {
            snprintf(error->text, sizeof error->text, "ALPN: a name has 1 to 255 bytes");
            return false;
        }
        total += 1 + length;
    }
    context->alpn = malloc(total);
    if (!context->alpn || total > UINT16_MAX) {
        snprintf(error->text, sizeof error->text, "ALPN: the list is too long");
        return false;
    }
    unsigned char *at = context->alpn;
    for (size_t i = 0; i < config->alpn_count; i++) {
        size_t length = strlen(config->alpn[i].name);
        *at++ = (unsigned char)length;
        memcpy(at, config->alpn[i].name, length);
        at += length;
    }
    context->alpn_bytes = (unsigned)total;
    return true;
}

static bool set_names(SSL_CTX *ctx, const struct tlc_stack_config *config,
                      struct tlc_stack_error *error)
{
    const char *what = NULL;
    if (SSL_CTX_set_min_proto_version(ctx, config->min_version) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, config->max_version) != 1)
        what = "versions";
    else if (config->group_count && !openssl_set_groups(ctx, config->groups, config->group_count))
        what = "groups";
    else if (config->signature_count &&
             !openssl_set_signatures(ctx, config->signatures, config->signature_count))
        what = "signature schemes";
    else if (config->cipher_count &&
             !openssl_set_ciphers(ctx, config->ciphers, config->cipher_count))
        what = "cipher suites";
    long low = SSL_CTX_get_min_proto_version(ctx), high = SSL_CTX_get_max_proto_version(ctx);
    if (!what && low && high && low > high)
        what = "cipher suites: none for the versions asked for";
    if (what)
        openssl_explain(error, what);
    return !what;
}

static bool set_verification(struct tlc_stack_context *context, SSL_CTX *ctx,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    bool asks;
    if (!tlc_neutral_client_auth(context->role, config, &asks, error))
        return false;
    bool verifies = asks || (context->role == TLC_STACK_CLIENT && config->trust_pem);
    int mode = verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE;
    if (asks && config->client_auth == TLC_CLIENT_AUTH_REQUIRE)
        mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(ctx, mode, NULL);
    return mode == SSL_VERIFY_NONE || openssl_trust(context, ctx, config->trust_pem, error);
}

// A context with every setting but its certificates.
static SSL_CTX *new_ctx(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                        struct tlc_stack_error *error)
{
    static const unsigned char session_scope[] = "tlscost";
    bool server = context->role == TLC_STACK_SERVER;
    SSL_CTX *ctx = openssl_new_ctx(context, config->psk_modes);
    if (!ctx) {
        openssl_explain(error, "context");
        return NULL;
    }
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_msg_callback(ctx, openssl_watch);
    if (server && (config->group_count || config->cipher_count))
        SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    if (server)
        SSL_CTX_set_session_id_context(ctx, session_scope, sizeof session_scope - 1);
    if (!server) {
        SSL_CTX_set_session_cache_mode(ctx,
                                       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
        SSL_CTX_sess_set_new_cb(ctx, openssl_keep_session);
    }
    if (server && config->cookie && !openssl_demand_cookie(ctx, error))
        goto fail;
    if (!set_names(ctx, config, error) || !set_verification(context, ctx, config, error))
        goto fail;
    if (context->alpn_bytes && server)
        SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, context);
    if (context->alpn_bytes && !server &&
        SSL_CTX_set_alpn_protos(ctx, context->alpn, context->alpn_bytes)) {
        openssl_explain(error, "ALPN");
        goto fail;
    }
    if (config->library_options &&
        !openssl_set_library_options(ctx, context->role, config->library_options, error))
        goto fail;
    return ctx;
fail:
    SSL_CTX_free(ctx);
    return NULL;
}

// The context that serves a name: the main one for NULL, else one of its own, made when missing.
static SSL_CTX *ctx_for_name(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, const char *name,
                             struct tlc_stack_error *error)
{
    if (!name)
        return context->ctx;
    // Certificates of one name (of several key types) stand together, so the last one is enough.
    size_t count = context->named_count;
    if (count && !strcasecmp(context->named[count - 1].name, name))
        return context->named[count - 1].ctx;
    struct openssl_named_context *entry = &context->named[count];
    entry->name = strdup(name);
    entry->ctx = entry->name ? new_ctx(context, config, error) : NULL;
    if (!entry->ctx) {
        free(entry->name);
        return NULL;
    }
    context->named_count++;
    return entry->ctx;
}

static bool add_certificates(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    context->named = calloc(config->certificate_count + 1, sizeof *context->named);
    if (!context->named)
        return false;
    for (size_t i = 0; i < config->certificate_count; i++) {
        const struct tlc_stack_certificate *certificate = &config->certificates[i];
        const char *name = context->role == TLC_STACK_SERVER ? certificate->server_name : NULL;
        SSL_CTX *ctx = ctx_for_name(context, config, name, error);
        if (!ctx || !openssl_use_certificate(context, ctx, certificate, error))
            return false;
    }
    if (context->named_count) {
        qsort(context->named, context->named_count, sizeof *context->named, compare_names);
        SSL_CTX_set_tlsext_servername_callback(context->ctx, choose_certificate);
        SSL_CTX_set_tlsext_servername_arg(context->ctx, context);
    }
    return true;
}

struct tlc_stack_context *openssl_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    if (!error)
        error = &unused;
    error->text[0] = '\0';
    openssl_start();
    ERR_clear_error();
    struct tlc_stack_context *context = calloc(1, sizeof *context);
    if (!context)
        goto fail;
    context->role = role;
    context->cookie = role == TLC_STACK_SERVER && config->cookie;
    tlc_ticket_keys_init(&context->tickets);
    if (role == TLC_STACK_SERVER && !config->certificate_count) {
        snprintf(error->text, sizeof error->text, "server: no certificate");
        goto fail;
    }
    if (config->provider && !openssl_provider_load(context, config->provider, error))
        goto fail;
    if (config->alpn_count && !set_alpn(context, config, error))
        goto fail;
    context->ctx = new_ctx(context, config, error);
    if (!context->ctx || !add_certificates(context, config, error))
        goto fail;
    if (role == TLC_STACK_SERVER && !openssl_tickets_set_up(context, config, error))
        goto fail;
    return context;
fail:
    if (!error->text[0])
        snprintf(error->text, sizeof error->text, "context: out of memory");
    openssl_context_free(context);
    return NULL;
}

void openssl_context_free(struct tlc_stack_context *context)
{
    if (!context)
        return;
    for (size_t i = 0; i < context->named_count; i++) {
        SSL_CTX_free(context->named[i].ctx);
        free(context->named[i].name);
    }
    free(context->named);
    SSL_CTX_free(context->ctx);
    openssl_tickets_clear(context);
    free(context->alpn);
    openssl_provider_unload(context);
    free(context);
}
