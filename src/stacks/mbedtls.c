// The plug-in's table, start-up, errors, and what the library supports.
#include <mbedtls/ecp.h>
#include <mbedtls/error.h>
#include <mbedtls/md.h>
#include <mbedtls/version.h>
#include <psa/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "stacks/mbedtls_plugin.h"
#include "stacks/plain_operations.h"

static psa_status_t started;

static void start_once(void)
{
    started = psa_crypto_init(); // TLS 1.3 needs it
}

bool mbedtls_start(struct tlc_stack_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
    if (started != PSA_SUCCESS && error)
        snprintf(error->text, sizeof error->text, "start: PSA status %d", (int)started);
    return started == PSA_SUCCESS;
}

void mbedtls_explain(struct tlc_stack_error *error, const char *what, int code)
{
    char words[160] = "";
    if (!error)
        return;
    if (code)
        mbedtls_strerror(code, words, sizeof words);
    snprintf(error->text, sizeof error->text, "%s%s%s", what, code ? ": " : "", words);
    error->text[strcspn(error->text, "\r\n")] = '\0';
}

bool mbedtls_has_group(uint16_t code)
{
    return mbedtls_ecp_curve_info_from_tls_id(code) != NULL;
}

bool mbedtls_has_cipher(uint16_t code)
{
    return mbedtls_ssl_ciphersuite_from_id(code) != NULL;
}

bool mbedtls_has_signature(uint16_t code)
{
    static const struct {
        uint16_t code;
        mbedtls_pk_type_t key;
        mbedtls_md_type_t hash;
        uint16_t group;
    } schemes[] = {{0x0401, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA256, 0},
                   {0x0501, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA384, 0},
                   {0x0601, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA512, 0},
                   {0x0804, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA256, 0},
                   {0x0805, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA384, 0},
                   {0x0806, MBEDTLS_PK_RSA, MBEDTLS_MD_SHA512, 0},
                   {0x0403, MBEDTLS_PK_ECKEY, MBEDTLS_MD_SHA256, TLC_GROUP_SECP256R1},
                   {0x0503, MBEDTLS_PK_ECKEY, MBEDTLS_MD_SHA384, TLC_GROUP_SECP384R1},
                   {0x0603, MBEDTLS_PK_ECKEY, MBEDTLS_MD_SHA512, TLC_GROUP_SECP521R1}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (schemes[i].code == code)
            return mbedtls_pk_info_from_type(schemes[i].key) &&
                   mbedtls_md_info_from_type(schemes[i].hash) &&
                   (!schemes[i].group || mbedtls_has_group(schemes[i].group));
    return false;
}

static bool has_feature(const char *name)
{
    return mbedtls_version_check_feature(name) == 0;
}

static bool ask(enum tlc_stack_feature kind, uint16_t code)
{
    switch (kind) {
    case TLC_FEATURE_VERSION:
        return (code == TLC_TLS12 && has_feature("MBEDTLS_SSL_PROTO_TLS1_2")) ||
               (code == TLC_TLS13 && has_feature("MBEDTLS_SSL_PROTO_TLS1_3"));
    case TLC_FEATURE_GROUP:
        return mbedtls_has_group(code);
    case TLC_FEATURE_SIGNATURE:
        return mbedtls_has_signature(code);
    case TLC_FEATURE_CIPHER:
        return mbedtls_has_cipher(code);
    case TLC_FEATURE_PSK_MODE:
        return code == 1 &&
               has_feature("MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL_ENABLED");
    case TLC_FEATURE_TICKETS:
        return code == TLC_TICKETS_OFF ||
               (code == TLC_TICKETS_STATELESS && has_feature("MBEDTLS_SSL_SESSION_TICKETS"));
    case TLC_FEATURE_TICKET_KEYS:
        return has_feature("MBEDTLS_SSL_SESSION_TICKETS");
    default:
        return tlc_neutral_supports(kind);
    }
}

static void say_why(struct tlc_stack_error *why, enum tlc_stack_feature kind, uint16_t code)
{
    char number[18] = "";
    mbedtls_version_get_string(number);
    if (kind == TLC_FEATURE_PSK_MODE && code == 0)
        snprintf(why->text, sizeof why->text,
                 "Mbed TLS %s prefers a full handshake to psk_ke; OpenSSL 3.3 and wolfSSL serve it",
                 number);
    else
        tlc_neutral_lacks(why, "Mbed TLS", number, kind, code, "");
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    bool yes = mbedtls_start(why) && ask(kind, code);
    if (!yes && why)
        say_why(why, kind, code);
    return yes;
}

static char version_text[18], build_text[128];

static void make_texts(void)
{
    char full[32] = "";
    mbedtls_version_get_string(version_text);
    mbedtls_version_get_string_full(full);
    snprintf(build_text, sizeof build_text, "%s; assembly: %s; AES-NI: %s", full,
             has_feature("MBEDTLS_HAVE_ASM") ? "yes" : "no",
             has_feature("MBEDTLS_AESNI_C") ? "yes" : "no");
}

static pthread_once_t texts_once = PTHREAD_ONCE_INIT;

static const char *version(void)
{
    pthread_once(&texts_once, make_texts);
    return version_text;
}

static const char *build(void)
{
    pthread_once(&texts_once, make_texts);
    return build_text;
}

__attribute__((visibility("default"))) extern const struct tlc_stack tlc_stack;

const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "mbedtls",
    .version = version,
    .build = build,
    .supports = supports,
    .context_new = mbedtls_context_new,
    .context_free = mbedtls_context_free,
    .connection_on_socket = mbedtls_connection_on_socket,
    .connection_on_memory = mbedtls_connection_on_memory,
    .memory_feed = mbedtls_memory_feed,
    .memory_take = mbedtls_memory_take,
    .handshake = mbedtls_handshake,
    .read = mbedtls_read,
    .write = mbedtls_write,
    .close = mbedtls_close,
    .connection_free = mbedtls_connection_free,
    .evidence = mbedtls_evidence,
    .tickets_received = mbedtls_tickets_received,
    .session_export = mbedtls_session_export,
    .ticket_keys_replace = mbedtls_ticket_keys_replace,
    .operations = &tlc_plain_operations,
};
