// Contexts: one neutral configuration turned into priorities and credentials.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stacks/gnutls_plugin.h"

gnutls_certificate_credentials_t gtls_credentials_of_name(const struct tlc_stack_context *context,
                                                          const char *name)
{
    for (size_t i = 0; i < context->named_count; i++)
        if (!strcasecmp(context->named[i].name, name))
            return context->named[i].credentials;
    return context->credentials; // an unknown name gets the default certificate
}

// Several key types may stand behind one name: these share its credentials.
static gnutls_certificate_credentials_t *slot_of(struct tlc_stack_context *context,
                                                 const char *name)
{
    if (context->role == TLC_STACK_CLIENT || !name)
        return &context->credentials;
    for (size_t i = 0; i < context->named_count; i++)
        if (!strcasecmp(context->named[i].name, name))
            return &context->named[i].credentials;
    struct gnutls_named_credentials *fresh = &context->named[context->named_count];
    fresh->name = strdup(name);
    if (!fresh->name)
        return NULL;
    context->named_count++;
    return &fresh->credentials;
}

static int verify_peer(gnutls_session_t session)
{
    struct tlc_stack_connection *connection = gnutls_session_get_ptr(session);
    unsigned status = 0, count = 0;
    gnutls_datum_t words = {NULL, 0};
    if (!gnutls_certificate_get_peers(session, &count) || !count)
        return 0; // a client that was only asked
    connection->verified = -1;
    int code = gnutls_certificate_verify_peers3(session, connection->server_name, &status);
    if (code)
        return code;
    connection->verified = status ? -1 : 1;
    if (!status)
        return 0;
    if (!gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &words, 0))
        strncat(connection->why, (const char *)words.data, sizeof connection->why - 1);
    gnutls_free(words.data);
    return GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;
}

static gnutls_datum_t datum_of(const char *text)
{
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)text,
                            .size = (unsigned)strlen(text)};
}

// Credentials with the CAs that all of a context share.
static bool start_credentials(const struct tlc_stack_context *context,
                              gnutls_certificate_credentials_t *credentials, const char *trust_pem,
                              struct tlc_stack_error *error)
{
    if (*credentials)
        return true;
    int code = gnutls_certificate_allocate_credentials(credentials);
    if (code) {
        gtls_explain(error, "credentials", code);
        return false;
    }
    if (!context->verifies)
        return true;
    gnutls_datum_t trust = datum_of(trust_pem);
    code = gnutls_certificate_set_x509_trust_mem(*credentials, &trust, GNUTLS_X509_FMT_PEM);
    if (code <= 0) {
        gtls_explain(error, "trusted certificates", code);
        return false;
    }
    gnutls_certificate_set_verify_function(*credentials, verify_peer);
    return true;
}

static bool add_certificates(struct tlc_stack_context *context,
                             const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    context->named = calloc(config->certificate_count + 1, sizeof *context->named);
    if (!context->named ||
        !start_credentials(context, &context->credentials, config->trust_pem, error))
        return false;
    for (size_t i = 0; i < config->certificate_count; i++) {
        const struct tlc_stack_certificate *certificate = &config->certificates[i];
        gnutls_datum_t chain = datum_of(certificate->chain_pem);
        gnutls_datum_t key = datum_of(certificate->key_pem);
        gnutls_certificate_credentials_t *slot = slot_of(context, certificate->server_name);
        if (!slot || !start_credentials(context, slot, config->trust_pem, error))
            return false;
        int code =
            gnutls_certificate_set_x509_key_mem2(*slot, &chain, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
        if (code < 0) {
            gtls_explain(error, "certificate and key", code);
            return false;
        }
    }
    return true;
}

static bool set_alpn(struct tlc_stack_context *context, const struct tlc_stack_config *config)
{
    context->alpn = calloc(config->alpn_count + 1, sizeof *context->alpn);
    for (; context->alpn && context->alpn_count < config->alpn_count; context->alpn_count++) {
        context->alpn[context->alpn_count] = strdup(config->alpn[context->alpn_count].name);
        if (!context->alpn[context->alpn_count])
            return false;
    }
    return context->alpn != NULL;
}

static bool set_up(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                   struct tlc_stack_error *error)
{
    bool asks;
    if (!tlc_neutral_client_auth(context->role, config, &asks, error))
        return false;
    context->verifies = asks || (context->role == TLC_STACK_CLIENT && config->trust_pem);
    context->request = !asks                                            ? GNUTLS_CERT_IGNORE
                       : config->client_auth == TLC_CLIENT_AUTH_REQUEST ? GNUTLS_CERT_REQUEST
                                                                        : GNUTLS_CERT_REQUIRE;
    return gtls_make_priorities(context, config, error) && set_alpn(context, config) &&
           add_certificates(context, config, error) && gtls_tickets_set_up(context, config, error);
}

struct tlc_stack_context *gtls_context_new(enum tlc_stack_role role,
                                           const struct tlc_stack_config *config,
                                           struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    if (!error)
        error = &unused;
    error->text[0] = '\0';
    struct tlc_stack_context *context = calloc(1, sizeof *context);
    if (context) {
        context->role = role;
        tlc_ticket_keys_init(&context->tickets);
        if (role == TLC_STACK_SERVER && !config->certificate_count)
            tlc_neutral_refuse(error, "server: no certificate");
        else if (config->provider)
            tlc_neutral_refuse(error, "provider: GnuTLS has none; OpenSSL has");
        else if (set_up(context, config, error))
            return context;
    }
    if (!error->text[0])
        tlc_neutral_refuse(error, "context: out of memory");
    gtls_context_free(context);
    return NULL;
}

void gtls_context_free(struct tlc_stack_context *context)
{
    if (!context)
        return;
    for (size_t i = 0; i < context->named_count; i++) {
        if (context->named[i].credentials)
            gnutls_certificate_free_credentials(context->named[i].credentials);
        free(context->named[i].name);
    }
    free(context->named);
    if (context->credentials)
        gnutls_certificate_free_credentials(context->credentials);
    if (context->priorities)
        gnutls_priority_deinit(context->priorities);
    for (size_t i = 0; i < context->alpn_count; i++)
        free(context->alpn[i]);
    free(context->alpn);
    if (context->own_key.data)
        gnutls_memset(context->own_key.data, 0, context->own_key.size);
    gnutls_free(context->own_key.data);
    tlc_ticket_keys_clear(&context->tickets);
    free(context);
}
