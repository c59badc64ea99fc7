// The AWS-LC plug-in's table, start-up, errors, lists of names, and what the library supports. The
// rest of it are files of the OpenSSL plug-in.
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "stacks/openssl_plugin.h"

static void start_once(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

void openssl_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
}

void openssl_explain(struct tlc_stack_error *error, const char *what)
{
    const char *data = NULL;
    int flags = 0;
    uint32_t code = ERR_peek_error_line_data(NULL, NULL, &data, &flags);
    if (error) {
        const char *reason = code ? ERR_reason_error_string(code) : NULL;
        bool detail = data && *data && (flags & ERR_FLAG_STRING);
        snprintf(error->text, sizeof error->text, "%s%s%s%s%s", what, code ? ": " : "",
                 !code    ? ""
                 : reason ? reason
                          : "error without words",
                 detail ? ": " : "", detail ? data : "");
        error->text[strcspn(error->text, "\r\n")] = '\0';
    }
    ERR_clear_error();
}

// Its lists take names, and not always the registry's.
static const char *group_name(uint16_t code)
{
    switch (code) {
    case TLC_GROUP_SECP256R1:
        return "P-256";
    case TLC_GROUP_SECP384R1:
        return "P-384";
    case TLC_GROUP_SECP521R1:
        return "P-521";
    default:
        return tlc_name(TLC_NAME_GROUP, code);
    }
}

bool openssl_set_groups(SSL_CTX *ctx, const uint16_t *groups, size_t count)
{
    char list[512];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        int wrote =
            snprintf(list + used, sizeof list - used, "%s%s", i ? ":" : "", group_name(groups[i]));
        if (wrote < 0 || (size_t)wrote >= sizeof list - used)
            return false;
        used += (size_t)wrote;
    }
    return SSL_CTX_set1_groups_list(ctx, list) == 1;
}

bool openssl_set_signatures(SSL_CTX *ctx, const uint16_t *schemes, size_t count)
{
    return SSL_CTX_set_verify_algorithm_prefs(ctx, schemes, count) == 1 &&
           SSL_CTX_set_signing_algorithm_prefs(ctx, schemes, count) == 1;
}

static bool has_version(SSL_CTX *ctx, uint16_t code)
{
    return SSL_CTX_set_min_proto_version(ctx, code) == 1 &&
           SSL_CTX_set_max_proto_version(ctx, code) == 1;
}

static bool ask(SSL_CTX *ctx, enum tlc_stack_feature kind, uint16_t code)
{
    switch (kind) {
    case TLC_FEATURE_VERSION:
        return has_version(ctx, code);
    case TLC_FEATURE_GROUP:
        return openssl_set_groups(ctx, &code, 1);
    case TLC_FEATURE_SIGNATURE:
        return openssl_set_signatures(ctx, &code, 1);
    case TLC_FEATURE_CIPHER:
        return SSL_get_cipher_by_value(code) != NULL;
    case TLC_FEATURE_PSK_MODE:
        return code == 1;
    case TLC_FEATURE_TICKETS:
        return code == TLC_TICKETS_OFF || code == TLC_TICKETS_STATELESS;
    default:
        return tlc_neutral_supports(kind);
    }
}

static void say_why(struct tlc_stack_error *why, enum tlc_stack_feature kind, uint16_t code)
{
    if (kind == TLC_FEATURE_PSK_MODE && code == 0)
        snprintf(why->text, sizeof why->text,
                 "AWS-LC %s resumes with a key exchange alone; OpenSSL 3.3, wolfSSL and GnuTLS "
                 "serve psk_ke",
                 AWSLC_VERSION_NUMBER_STRING);
    else
        tlc_neutral_lacks(why, "AWS-LC", AWSLC_VERSION_NUMBER_STRING, kind, code, "");
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    openssl_start();
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool yes = ctx && ask(ctx, kind, code);
    SSL_CTX_free(ctx);
    ERR_clear_error();
    if (!yes && why)
        say_why(why, kind, code);
    return yes;
}

// The header and the library come of one build.
static const char *version(void)
{
    return AWSLC_VERSION_NUMBER_STRING;
}

static const char *build(void)
{
    static char text[256];
    snprintf(text, sizeof text, "%s; assembly: %s", OpenSSL_version(OPENSSL_VERSION),
             CRYPTO_has_asm() ? "yes" : "no");
    return text;
}

__attribute__((visibility("default"))) extern const struct tlc_stack tlc_stack;

const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "awslc",
    .version = version,
    .build = build,
    .supports = supports,
    .context_new = openssl_context_new,
    .context_free = openssl_context_free,
    .connection_on_socket = openssl_connection_on_socket,
    .connection_on_memory = openssl_connection_on_memory,
    .memory_feed = openssl_memory_feed,
    .memory_take = openssl_memory_take,
    .handshake = openssl_handshake,
    .read = openssl_read,
    .write = openssl_write,
    .close = openssl_close,
    .connection_free = openssl_connection_free,
    .evidence = openssl_evidence,
    .tickets_received = openssl_tickets_received,
    .session_export = openssl_session_export,
    .ticket_keys_replace = openssl_ticket_keys_replace,
    .operations = &openssl_operations,
};
