// Contexts: one neutral configuration turned into settings of a WOLFSSL_CTX.
#include "stacks/wolfssl_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"

static bool set_alpn(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                     struct tlc_stack_error *error)
{
    size_t total = 1;
    for (size_t i = 0; i < config->alpn_count; i++) {
        size_t length = strlen(config->alpn[i].name);
        if (length == 0 || length > 255 || strchr(config->alpn[i].name, ','))
            return tlc_neutral_refuse(
                error, "ALPN: wolfSSL takes names of 1 to 255 bytes without a comma");
        total += 1 + length;
    }
    context->alpn = calloc(1, total);
    if (!context->alpn)
        return false;
    for (size_t i = 0; i < config->alpn_count; i++) {
        if (i)
            strcat(context->alpn, ",");
        strcat(context->alpn, config->alpn[i].name);
    }
    return true;
}

struct versions {
    uint16_t low, high;
};

static bool choose_versions(const struct tlc_stack_config *config, struct versions *versions,
                            struct tlc_stack_error *error)
{
    for (size_t i = 0; i < config->cipher_count; i++)
        if (!wolfssl_has_cipher(config->ciphers[i]))
            return tlc_neutral_refuse(error, "cipher suites: one is not in this build of wolfSSL");
    return tlc_neutral_versions(config, &versions->low, &versions->high, error);
}

static WOLFSSL_METHOD *method(enum tlc_stack_role role, const struct versions *versions)
{
    bool server = role == TLC_STACK_SERVER;
    if (versions->high == TLC_TLS12)
        return server ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method();
    if (versions->low == TLC_TLS13)
        return server ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method();
    return server ? wolfTLS_server_method() : wolfTLS_client_method();
}

static bool set_ciphers(WOLFSSL_CTX *ctx, const uint16_t *ciphers, size_t count)
{
    uint8_t list[256];
    if (2 * count > sizeof list)
        return false;
    for (size_t i = 0; i < count; i++) {
        list[2 * i] = (uint8_t)(ciphers[i] >> 8);
        list[2 * i + 1] = (uint8_t)ciphers[i];
    }
    return wolfSSL_CTX_set_cipher_list_bytes(ctx, list, (int)(2 * count)) == WOLFSSL_SUCCESS;
}

// A TLS 1.2 server of wolfSSL knows no list of curves: of the client's it takes the first of the
// wanted size, which is then the size of our first curve.
static void prefer_curve(WOLFSSL_CTX *ctx, const uint16_t *groups, size_t count)
{
    static const struct {
        uint16_t group, octets;
    } sizes[] = {{TLC_GROUP_X25519, 32},
                 {TLC_GROUP_SECP256R1, 32},
                 {TLC_GROUP_SECP384R1, 48},
                 {TLC_GROUP_X448, 56},
                 {TLC_GROUP_SECP521R1, 66}};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (sizes[k].group == groups[i]) {
                wolfSSL_CTX_SetTmpEC_DHE_Sz(ctx, sizes[k].octets);
                return;
            }
}

static bool set_names(WOLFSSL_CTX *ctx, const struct tlc_stack_config *config,
                      struct tlc_stack_error *error)
{
    if (config->cipher_count && !set_ciphers(ctx, config->ciphers, config->cipher_count))
        return tlc_neutral_refuse(error, "cipher suites: wolfSSL does not take the list");
    // A context that is given signature schemes alone would offer no cipher suite.
    if (!config->cipher_count && wolfSSL_CTX_set_cipher_list(ctx, "DEFAULT") != WOLFSSL_SUCCESS)
        return tlc_neutral_refuse(error, "cipher suites: wolfSSL has no default list");
    if (config->group_count && !wolfssl_set_groups(ctx, config->groups, config->group_count))
        return tlc_neutral_refuse(error, "groups: wolfSSL does not take the list");
    prefer_curve(ctx, config->groups, config->group_count);
    if (config->signature_count &&
        !wolfssl_set_signatures(ctx, config->signatures, config->signature_count))
        return tlc_neutral_refuse(error, "signature schemes: wolfSSL does not take the list");
    return true;
}

static bool set_verification(struct tlc_stack_context *context, WOLFSSL_CTX *ctx,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    bool asks;
    if (!tlc_neutral_client_auth(context->role, config, &asks, error))
        return false;
    context->verifies = asks || (context->role == TLC_STACK_CLIENT && config->trust_pem);
    int mode = context->verifies ? WOLFSSL_VERIFY_PEER : WOLFSSL_VERIFY_NONE;
    if (asks && config->client_auth == TLC_CLIENT_AUTH_REQUIRE)
        mode |= WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    wolfSSL_CTX_set_verify(ctx, mode, NULL);
    if (!context->verifies)
        return true;
    int code =
        wolfSSL_CTX_load_verify_buffer(ctx, (const unsigned char *)config->trust_pem,
                                       (long)strlen(config->trust_pem), WOLFSSL_FILETYPE_PEM);
    if (code != WOLFSSL_SUCCESS)
        wolfssl_explain(error, "trusted certificates", code);
    return code == WOLFSSL_SUCCESS;
}

static void set_psk_modes(WOLFSSL_CTX *ctx, enum tlc_stack_role role, unsigned modes)
{
    if (modes == TLC_PSK_KE)
        wolfSSL_CTX_no_dhe_psk(ctx);
    // A server with this setting would end a handshake that offers psk_ke alone instead of going on
    // without resumption; it takes psk_dhe_ke first anyway.
    if (modes == TLC_PSK_DHE_KE && role == TLC_STACK_CLIENT)
        wolfSSL_CTX_only_dhe_psk(ctx);
}

// A context with every setting but its certificates.
static WOLFSSL_CTX *new_ctx(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    struct versions versions;
    if (!choose_versions(config, &versions, error))
        return NULL;
    WOLFSSL_CTX *ctx = wolfSSL_CTX_new(method(context->role, &versions));
    if (!ctx)
        return NULL;
    wolfSSL_CTX_SetIORecv(ctx, wolfssl_receive);
    wolfSSL_CTX_SetIOSend(ctx, wolfssl_send);
    wolfSSL_CTX_set_mode(ctx, WOLFSSL_MODE_ENABLE_PARTIAL_WRITE);
    set_psk_modes(ctx, context->role, config->psk_modes);
    if (versions.low != versions.high && versions.low == TLC_TLS12)
        wolfSSL_CTX_SetMinVersion(ctx, WOLFSSL_TLSV1_2);
    if (context->role == TLC_STACK_SERVER && (config->group_count || config->cipher_count))
        wolfSSL_CTX_set_options(ctx, WOLFSSL_OP_CIPHER_SERVER_PREFERENCE);
    if (context->role == TLC_STACK_SERVER)
        wolfSSL_CTX_set_servername_callback(ctx, wolfssl_accept_name);
    if (context->role == TLC_STACK_CLIENT) {
        wolfSSL_CTX_UseSessionTicket(ctx);
        wolfSSL_CTX_set_session_cache_mode(ctx, WOLFSSL_SESS_CACHE_CLIENT |
                                                    WOLFSSL_SESS_CACHE_NO_INTERNAL);
        wolfSSL_CTX_sess_set_new_cb(ctx, wolfssl_count_session);
    }
    if (set_names(ctx, config, error) && set_verification(context, ctx, config, error))
        return ctx;
    wolfSSL_CTX_free(ctx);
    return NULL;
}

static bool use_certificate(WOLFSSL_CTX *ctx, const struct tlc_stack_certificate *certificate,
                            struct tlc_stack_error *error)
{
    const char *chain = certificate->chain_pem, *key = certificate->key_pem;
    int code = wolfSSL_CTX_use_certificate_chain_buffer_format(
        ctx, (const unsigned char *)chain, (long)strlen(chain), WOLFSSL_FILETYPE_PEM);
    if (code != WOLFSSL_SUCCESS) {
        wolfssl_explain(error, "certificate", code);
        return false;
    }
    code = wolfSSL_CTX_use_PrivateKey_buffer(ctx, (const unsigned char *)key, (long)strlen(key),
                                             WOLFSSL_FILETYPE_PEM);
    if (code != WOLFSSL_SUCCESS) {
        wolfssl_explain(error, "private key", code);
        return false;
    }
    return wolfSSL_CTX_check_private_key(ctx) == WOLFSSL_SUCCESS ||
           tlc_neutral_refuse(error, "certificate and key: they do not belong together");
}

// wolfSSL keeps one certificate in a context, so a name has one.
static bool is_second(const struct tlc_stack_config *config, size_t index)
{
    const char *name = config->certificates[index].server_name;
    for (size_t i = 0; i < index; i++) {
        const char *other = config->certificates[i].server_name;
        if (name == other || (name && other && !strcasecmp(name, other)))
            return true;
    }
    return false;
}

static bool add_certificate(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, size_t index,
                            struct tlc_stack_error *error)
{
    const struct tlc_stack_certificate *certificate = &config->certificates[index];
    bool named = context->role == TLC_STACK_SERVER && certificate->server_name;
    if (is_second(config, index))
        return tlc_neutral_refuse(error,
                                  "certificates: wolfSSL keeps one for a name; leave one key type");
    if (!named)
        return use_certificate(context->ctx, certificate, error);
    struct wolfssl_named_context *entry = &context->named[context->named_count];
    entry->name = strdup(certificate->server_name);
    entry->ctx = entry->name ? new_ctx(context, config, error) : NULL;
    if (!entry->ctx) {
        free(entry->name);
        return false;
    }
    context->named_count++;
    return use_certificate(entry->ctx, certificate, error);
}

static bool add_certificates(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    context->named = calloc(config->certificate_count + 1, sizeof *context->named);
    if (!context->named)
        return false;
    for (size_t i = 0; i < config->certificate_count; i++)
        if (!add_certificate(context, config, i, error))
            return false;
    qsort(context->named, context->named_count, sizeof *context->named, wolfssl_compare_names);
    return true;
}

static bool refuse_foreign(const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    if (config->provider)
        return tlc_neutral_refuse(error, "provider: wolfSSL has none; OpenSSL has");
    if (config->library_options)
        return tlc_neutral_refuse(error, "library options: the wolfSSL plug-in knows none");
    return true;
}

struct tlc_stack_context *wolfssl_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    if (!error)
        error = &unused;
    error->text[0] = '\0';
    wolfssl_start();
    struct tlc_stack_context *context = calloc(1, sizeof *context);
    if (!context)
        goto fail;
    context->role = role;
    tlc_ticket_keys_init(&context->tickets);
    if (role == TLC_STACK_SERVER && !config->certificate_count) {
        tlc_neutral_refuse(error, "server: no certificate");
        goto fail;
    }
    if (!refuse_foreign(config, error) || (config->alpn_count && !set_alpn(context, config, error)))
        goto fail;
    context->ctx = new_ctx(context, config, error);
    if (!context->ctx || !add_certificates(context, config, error))
        goto fail;
    if (role == TLC_STACK_SERVER && !wolfssl_tickets_set_up(context, config, error))
        goto fail;
    return context;
fail:
    if (!error->text[0])
        tlc_neutral_refuse(error, "context: out of memory");
    wolfssl_context_free(context);
    return NULL;
}

void wolfssl_context_free(struct tlc_stack_context *context)
{
    if (!context)
        return;
    for (size_t i = 0; i < context->named_count; i++) {
        wolfSSL_CTX_free(context->named[i].ctx);
        free(context->named[i].name);
    }
    free(context->named);
    wolfSSL_CTX_free(context->ctx);
    tlc_ticket_keys_clear(&context->tickets);
    free(context->alpn);
    free(context);
}
