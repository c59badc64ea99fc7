// Contexts: one neutral configuration turned into an mbedtls_ssl_config.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"
#include "stacks/mbedtls_plugin.h"

// Chooses the certificate by server name (RFC 6066, 3); an unknown name gets the default one.
static int choose_certificate(void *argument, mbedtls_ssl_context *ssl, const unsigned char *name,
                              size_t length)
{
    struct tlc_stack_context *context = argument;
    struct tlc_stack_connection *connection = mbedtls_ssl_get_user_data_p(ssl);
    char *seen = connection->server_name;
    int code = 0;
    snprintf(seen, sizeof connection->server_name, "%.*s", (int)length, (const char *)name);
    for (size_t i = 0; !code && i < context->credential_count; i++) {
        struct mbedtls_credentials *own = &context->credentials[i];
        if (own->name && !strcasecmp(own->name, seen))
            code = mbedtls_ssl_set_hs_own_cert(ssl, &own->chain, &own->key);
    }
    return code;
}

static uint16_t *copy_codes(const uint16_t *codes, size_t count)
{
    uint16_t *list = calloc(count + 1, sizeof *list);
    if (list)
        memcpy(list, codes, count * sizeof *list);
    return list;
}

static bool set_versions(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                         struct tlc_stack_error *error)
{
    uint16_t low, high;
    if (!tlc_neutral_versions(config, &low, &high, error))
        return false;
    mbedtls_ssl_conf_min_tls_version(&context->config, (mbedtls_ssl_protocol_version)low);
    mbedtls_ssl_conf_max_tls_version(&context->config, (mbedtls_ssl_protocol_version)high);
    return true;
}

static bool set_ciphers(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                        struct tlc_stack_error *error)
{
    if (!config->cipher_count)
        return true;
    context->ciphers = calloc(config->cipher_count + 1, sizeof *context->ciphers);
    if (!context->ciphers)
        return false;
    for (size_t i = 0; i < config->cipher_count; i++) {
        if (!mbedtls_has_cipher(config->ciphers[i]))
            return tlc_neutral_refuse(error, "cipher suites: one is not in this build of Mbed TLS");
        context->ciphers[i] = config->ciphers[i];
    }
    mbedtls_ssl_conf_ciphersuites(&context->config, context->ciphers);
    return true;
}

static bool set_groups(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                       struct tlc_stack_error *error)
{
    for (size_t i = 0; i < config->group_count; i++)
        if (!mbedtls_has_group(config->groups[i]))
            return tlc_neutral_refuse(error, "groups: one is not in this build of Mbed TLS");
    if (!config->group_count)
        return true;
    context->groups = copy_codes(config->groups, config->group_count);
    if (context->groups)
        mbedtls_ssl_conf_groups(&context->config, context->groups);
    return context->groups != NULL;
}

static bool set_signatures(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                           struct tlc_stack_error *error)
{
    for (size_t i = 0; i < config->signature_count; i++)
        if (!mbedtls_has_signature(config->signatures[i]))
            return tlc_neutral_refuse(error,
                                      "signature schemes: one is not in this build of Mbed TLS");
    if (!config->signature_count)
        return true;
    context->signatures = copy_codes(config->signatures, config->signature_count);
    if (context->signatures)
        mbedtls_ssl_conf_sig_algs(&context->config, context->signatures);
    return context->signatures != NULL;
}

static bool set_alpn(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                     struct tlc_stack_error *error)
{
    if (!config->alpn_count)
        return true;
    context->alpn = calloc(config->alpn_count + 1, sizeof *context->alpn);
    for (size_t i = 0; context->alpn && i < config->alpn_count; i++)
        if (!(context->alpn[i] = strdup(config->alpn[i].name)))
            return false;
    if (!context->alpn)
        return false;
    int code = mbedtls_ssl_conf_alpn_protocols(&context->config, (const char **)context->alpn);
    if (code)
        mbedtls_explain(error, "ALPN", code);
    return code == 0;
}

static bool set_verification(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    bool asks;
    if (!tlc_neutral_client_auth(context->role, config, &asks, error))
        return false;
    context->verifies = asks || (context->role == TLC_STACK_CLIENT && config->trust_pem);
    bool optional = asks && config->client_auth == TLC_CLIENT_AUTH_REQUEST;
    mbedtls_ssl_conf_authmode(&context->config, !context->verifies ? MBEDTLS_SSL_VERIFY_NONE
                                                : optional         ? MBEDTLS_SSL_VERIFY_OPTIONAL
                                                                   : MBEDTLS_SSL_VERIFY_REQUIRED);
    if (!context->verifies)
        return true;
    int code = mbedtls_x509_crt_parse(&context->trust, (const unsigned char *)config->trust_pem,
                                      strlen(config->trust_pem) + 1);
    if (code) {
        mbedtls_explain(error, "trusted certificates", code < 0 ? code : 0);
        return false;
    }
    mbedtls_ssl_conf_ca_chain(&context->config, &context->trust, NULL);
    return true;
}

// The modes include full handshakes: a resumption without the modes a peer wants becomes one.
static void set_psk_modes(struct tlc_stack_context *context, unsigned modes)
{
    unsigned wanted = MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL;
    if (!modes || (modes & TLC_PSK_DHE_KE))
        wanted |= MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL;
    if (!modes || (modes & TLC_PSK_KE))
        wanted |= MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK;
    mbedtls_ssl_conf_tls13_key_exchange_modes(&context->config, (int)wanted);
}

static bool read_credentials(struct tlc_stack_context *context, struct mbedtls_credentials *own,
                             const struct tlc_stack_certificate *certificate,
                             struct tlc_stack_error *error)
{
    const char *chain = certificate->chain_pem, *key = certificate->key_pem;
    int code = mbedtls_x509_crt_parse(&own->chain, (const unsigned char *)chain, strlen(chain) + 1);
    if (code) {
        mbedtls_explain(error, "certificate", code < 0 ? code : 0);
        return false;
    }
    code = mbedtls_pk_parse_key(&own->key, (const unsigned char *)key, strlen(key) + 1, NULL, 0,
                                mbedtls_ctr_drbg_random, &context->random);
    if (!code)
        code = mbedtls_pk_check_pair(&own->chain.pk, &own->key, mbedtls_ctr_drbg_random,
                                     &context->random);
    if (code)
        mbedtls_explain(error, "private key", code);
    return code == 0;
}

static bool add_certificates(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    context->credentials = calloc(config->certificate_count + 1, sizeof *context->credentials);
    if (!context->credentials)
        return false;
    for (size_t i = 0; i < config->certificate_count; i++) {
        const struct tlc_stack_certificate *certificate = &config->certificates[i];
        struct mbedtls_credentials *own = &context->credentials[context->credential_count++];
        mbedtls_x509_crt_init(&own->chain);
        mbedtls_pk_init(&own->key);
        if (!read_credentials(context, own, certificate, error))
            return false;
        if (context->role == TLC_STACK_SERVER && certificate->server_name) {
            own->name = strdup(certificate->server_name);
            if (!own->name)
                return false;
            continue;
        }
        int code = mbedtls_ssl_conf_own_cert(&context->config, &own->chain, &own->key);
        if (code) {
            mbedtls_explain(error, "certificate and key", code);
            return false;
        }
    }
    return true;
}

static bool set_up(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                   struct tlc_stack_error *error)
{
    bool server = context->role == TLC_STACK_SERVER;
    static const unsigned char purpose[] = "tlscost";
    int code = mbedtls_ctr_drbg_seed(&context->random, mbedtls_entropy_func, &context->entropy,
                                     purpose, sizeof purpose);
    if (!code)
        code = mbedtls_ssl_config_defaults(
            &context->config, server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
            MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    if (code) {
        mbedtls_explain(error, "context", code);
        return false;
    }
    mbedtls_ssl_conf_rng(&context->config, mbedtls_ctr_drbg_random, &context->random);
    set_psk_modes(context, config->psk_modes);
    if (server)
        mbedtls_ssl_conf_sni(&context->config, choose_certificate, context);
    return set_versions(context, config, error) && set_ciphers(context, config, error) &&
           set_groups(context, config, error) && set_signatures(context, config, error) &&
           set_alpn(context, config, error) && set_verification(context, config, error) &&
           add_certificates(context, config, error) &&
           mbedtls_tickets_set_up(context, config, error);
}

static bool refuse_foreign(enum tlc_stack_role role, const struct tlc_stack_config *config,
                           struct tlc_stack_error *error)
{
    if (role == TLC_STACK_SERVER && !config->certificate_count)
        return tlc_neutral_refuse(error, "server: no certificate");
    if (config->provider)
        return tlc_neutral_refuse(error, "provider: Mbed TLS has none; OpenSSL has");
    if (config->library_options)
        return tlc_neutral_refuse(error, "library options: the Mbed TLS plug-in knows none");
    return true;
}

struct tlc_stack_context *mbedtls_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    if (!error)
        error = &unused;
    error->text[0] = '\0';
    struct tlc_stack_context *context = NULL;
    if (!refuse_foreign(role, config, error) || !mbedtls_start(error))
        return NULL;
    context = calloc(1, sizeof *context);
    if (context) {
        context->role = role;
        mbedtls_ssl_config_init(&context->config);
        mbedtls_entropy_init(&context->entropy);
        mbedtls_ctr_drbg_init(&context->random);
        mbedtls_x509_crt_init(&context->trust);
        mbedtls_ssl_ticket_init(&context->own_tickets);
        tlc_ticket_keys_init(&context->tickets);
        if (set_up(context, config, error))
            return context;
    }
    if (!error->text[0])
        tlc_neutral_refuse(error, "context: out of memory");
    mbedtls_context_free(context);
    return NULL;
}

void mbedtls_context_free(struct tlc_stack_context *context)
{
    if (!context)
        return;
    mbedtls_ssl_config_free(&context->config);
    for (size_t i = 0; i < context->credential_count; i++) {
        mbedtls_x509_crt_free(&context->credentials[i].chain);
        mbedtls_pk_free(&context->credentials[i].key);
        free(context->credentials[i].name);
    }
    free(context->credentials);
    for (char **name = context->alpn; name && *name; name++)
        free(*name);
    free(context->alpn);
    free(context->groups);
    free(context->signatures);
    free(context->ciphers);
    mbedtls_x509_crt_free(&context->trust);
    mbedtls_ssl_ticket_free(&context->own_tickets);
    tlc_ticket_keys_clear(&context->tickets);
    mbedtls_ctr_drbg_free(&context->random);
    mbedtls_entropy_free(&context->entropy);
    free(context);
}
