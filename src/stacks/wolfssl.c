// The plug-in's table, start-up, errors, lists of names, and what the library supports.
#include "base/names.h"
#include "stacks/plain_operations.h"
#include "stacks/wolfssl_plugin.h"

#include <stdio.h>
#include <string.h>

static void start_once(void)
{
    wolfSSL_Init();
}

void wolfssl_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_once);
}

void wolfssl_explain(struct tlc_stack_error *error, const char *what, int code)
{
    if (!error)
        return;
    const char *words = code ? wolfSSL_ERR_reason_error_string((unsigned long)code) : NULL;
    if (words && *words)
        snprintf(error->text, sizeof error->text, "%s: %s (%d)", what, words, code);
    else
        snprintf(error->text, sizeof error->text, "%s", what);
    error->text[strcspn(error->text, "\r\n")] = '\0';
}

bool wolfssl_set_groups(WOLFSSL_CTX *ctx, const uint16_t *groups, size_t count)
{
    int list[WOLFSSL_MAX_GROUP_COUNT];
    if (count > WOLFSSL_MAX_GROUP_COUNT)
        return false;
    for (size_t i = 0; i < count; i++)
        list[i] = groups[i]; // its group numbers are the registry's
    return wolfSSL_CTX_set_groups(ctx, list, (int)count) == WOLFSSL_SUCCESS;
}

// Schemes and what the library's lists and getters call them.
static const struct scheme {
    uint16_t code;
    const char *name; // of its signature algorithm lists; NULL: these do not know it
    int key, hash;    // of its getters
} schemes[] = {
    {0x0401, "RSA+SHA256", WC_NID_rsaEncryption, WC_NID_sha256},
    {0x0501, "RSA+SHA384", WC_NID_rsaEncryption, WC_NID_sha384},
    {0x0601, "RSA+SHA512", WC_NID_rsaEncryption, WC_NID_sha512},
    {0x0403, "ECDSA+SHA256", WC_NID_X9_62_id_ecPublicKey, WC_NID_sha256},
    {0x0503, "ECDSA+SHA384", WC_NID_X9_62_id_ecPublicKey, WC_NID_sha384},
    {0x0603, "ECDSA+SHA512", WC_NID_X9_62_id_ecPublicKey, WC_NID_sha512},
    {0x0804, "RSA-PSS+SHA256", WC_NID_rsassaPss, WC_NID_sha256},
    {0x0805, "RSA-PSS+SHA384", WC_NID_rsassaPss, WC_NID_sha384},
    {0x0806, "RSA-PSS+SHA512", WC_NID_rsassaPss, WC_NID_sha512},
#ifdef HAVE_ED25519
    {0x0807, "ED25519", WC_NID_ED25519, 0},
#endif
#ifdef HAVE_ED448
    {0x0808, "ED448", WC_NID_ED448, 0},
#endif
#ifdef WOLFSSL_HAVE_MLDSA
    {0x0904, NULL, CTC_ML_DSA_44, 0},
    {0x0905, NULL, CTC_ML_DSA_65, 0},
    {0x0906, NULL, CTC_ML_DSA_87, 0},
#endif
};
#define SCHEMES (sizeof schemes / sizeof *schemes)

static const struct scheme *find_scheme(uint16_t code)
{
    for (size_t i = 0; i < SCHEMES; i++)
        if (schemes[i].code == code)
            return &schemes[i];
    return NULL;
}

bool wolfssl_set_signatures(WOLFSSL_CTX *ctx, const uint16_t *codes, size_t count)
{
    char list[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct scheme *scheme = find_scheme(codes[i]);
        if (!scheme)
            return false;
        if (!scheme->name) // only its default list has ML-DSA, and it has all of it
            return true;
        int wrote =
            snprintf(list + used, sizeof list - used, "%s%s", used ? ":" : "", scheme->name);
        if (wrote < 0 || (size_t)wrote >= sizeof list - used)
            return false;
        used += (size_t)wrote;
    }
    return wolfSSL_CTX_set1_sigalgs_list(ctx, list) == WOLFSSL_SUCCESS;
}

uint16_t wolfssl_peer_signature(WOLFSSL *ssl)
{
    int key = 0, hash = 0;
    if (wolfSSL_get_peer_signature_type_nid(ssl, &key) != WOLFSSL_SUCCESS)
        return 0;
    // Schemes with a hash of their own have none to tell.
    if (wolfSSL_get_peer_signature_nid(ssl, &hash) != WOLFSSL_SUCCESS)
        hash = 0;
    for (size_t i = 0; i < SCHEMES; i++)
        if (schemes[i].key == key && (!schemes[i].hash || schemes[i].hash == hash))
            return schemes[i].code;
    return 0;
}

bool wolfssl_has_cipher(uint16_t code)
{
    const char *name = wolfSSL_get_cipher_name_from_suite((unsigned char)(code >> 8),
                                                          (unsigned char)(code & 0xff));
    return name && strcmp(name, "None") != 0;
}

// Makes a share of the group: its lists take names of groups that are not in the build.
static bool has_group(uint16_t code)
{
    WOLFSSL_CTX *ctx = wolfSSL_CTX_new(wolfTLSv1_3_client_method());
    WOLFSSL *ssl = ctx ? wolfSSL_new(ctx) : NULL;
    bool yes = ssl && wolfssl_set_groups(ctx, &code, 1) &&
               wolfSSL_UseKeyShare(ssl, code) == WOLFSSL_SUCCESS;
    wolfSSL_free(ssl);
    wolfSSL_CTX_free(ctx);
    return yes;
}

static bool has_signature(uint16_t code)
{
    WOLFSSL_CTX *ctx = wolfSSL_CTX_new(wolfTLS_client_method());
    bool yes = ctx && wolfssl_set_signatures(ctx, &code, 1);
    wolfSSL_CTX_free(ctx);
    return yes;
}

static bool ask(enum tlc_stack_feature kind, uint16_t code)
{
    switch (kind) {
    case TLC_FEATURE_VERSION:
        return code == TLC_TLS12 || code == TLC_TLS13;
    case TLC_FEATURE_GROUP:
        return has_group(code);
    case TLC_FEATURE_SIGNATURE:
        return has_signature(code);
    case TLC_FEATURE_CIPHER:
        return wolfssl_has_cipher(code);
    case TLC_FEATURE_PSK_MODE:
        return code <= 1;
    case TLC_FEATURE_TICKETS:
        return code <= TLC_TICKETS_STATEFUL;
    default:
        return tlc_neutral_supports(kind);
    }
}

static void say_why(struct tlc_stack_error *why, enum tlc_stack_feature kind, uint16_t code)
{
    if (kind == TLC_FEATURE_COOKIE) {
        snprintf(
            why->text, sizeof why->text,
            "wolfSSL %s sends a cookie only where the key share does not suit; OpenSSL has one "
            "for every first hello",
            wolfSSL_lib_version());
        return;
    }
    bool mldsa = kind == TLC_FEATURE_SIGNATURE && code >> 8 == 0x09;
    tlc_neutral_lacks(why, "wolfSSL", wolfSSL_lib_version(), kind, code,
                      mldsa ? "; one with -DWOLFSSL_MLDSA=yes has it (recipe wolfssl-5)" : "");
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    wolfssl_start();
    bool yes = ask(kind, code);
    if (!yes && why)
        say_why(why, kind, code);
    return yes;
}

static const char *version(void)
{
    return wolfSSL_lib_version();
}

// What decides its speed, from the settings that the library was built with (options.h is the
// build's own).
static const char *build(void)
{
    return "wolfSSL " LIBWOLFSSL_VERSION_STRING
#if defined(WOLFSSL_NO_ASM)
           "; no assembly"
#elif defined(USE_INTEL_SPEEDUP)
           "; assembly for AVX"
#endif
#ifdef WOLFSSL_AESNI
           "; AES-NI"
#endif
#if defined(WOLFSSL_HAVE_SP_ECC)
           "; SP curves"
#endif
#ifdef WOLFSSL_SP_X86_64_ASM
           " in assembly"
#endif
#ifdef FP_ECC
           "; cached points (FP_ECC)"
#endif
#ifdef WOLFSSL_HAVE_MLDSA
           "; ML-DSA"
#endif
        ;
}

__attribute__((visibility("default"))) extern const struct tlc_stack tlc_stack;

const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "wolfssl",
    .version = version,
    .build = build,
    .supports = supports,
    .context_new = wolfssl_context_new,
    .context_free = wolfssl_context_free,
    .connection_on_socket = wolfssl_connection_on_socket,
    .connection_on_memory = wolfssl_connection_on_memory,
    .memory_feed = wolfssl_memory_feed,
    .memory_take = wolfssl_memory_take,
    .handshake = wolfssl_handshake,
    .read = wolfssl_read,
    .write = wolfssl_write,
    .close = wolfssl_close,
    .connection_free = wolfssl_connection_free,
    .evidence = wolfssl_evidence,
    .tickets_received = wolfssl_tickets_received,
    .session_export = wolfssl_session_export,
    .ticket_keys_replace = wolfssl_ticket_keys_replace,
    .operations = &tlc_plain_operations,
};
