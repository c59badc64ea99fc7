#include "base/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct entry {
    uint16_t code;
    const char *name;       // the registry's
    const char *aliases[3]; // other usual spellings
};

static const struct entry versions[] = {
    {TLC_TLS12, "TLSv1.2", {"1.2", "tls1.2", "TLS 1.2"}},
    {TLC_TLS13, "TLSv1.3", {"1.3", "tls1.3", "TLS 1.3"}},
    {0, NULL, {NULL}},
};

static const struct entry groups[] = {
    {TLC_GROUP_X25519, "X25519", {NULL}},
    {TLC_GROUP_SECP256R1, "secp256r1", {"P-256", "prime256v1", "P256"}},
    {TLC_GROUP_SECP384R1, "secp384r1", {"P-384", "P384", NULL}},
    {TLC_GROUP_SECP521R1, "secp521r1", {"P-521", "P521", NULL}},
    {TLC_GROUP_X448, "X448", {NULL}},
    {TLC_GROUP_X25519MLKEM768, "X25519MLKEM768", {NULL}},
    {TLC_GROUP_SECP256R1MLKEM768, "SecP256r1MLKEM768", {NULL}},
    {TLC_GROUP_SECP384R1MLKEM1024, "SecP384r1MLKEM1024", {NULL}},
    {TLC_GROUP_MLKEM512, "MLKEM512", {"ML-KEM-512", NULL}},
    {TLC_GROUP_MLKEM768, "MLKEM768", {"ML-KEM-768", NULL}},
    {TLC_GROUP_MLKEM1024, "MLKEM1024", {"ML-KEM-1024", NULL}},
    {0, NULL, {NULL}},
};

static const struct entry ciphers[] = {
    {0x1301, "TLS_AES_128_GCM_SHA256", {NULL}},
    {0x1302, "TLS_AES_256_GCM_SHA384", {NULL}},
    {0x1303, "TLS_CHACHA20_POLY1305_SHA256", {NULL}},
    {0xc02b, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", {"ECDHE-ECDSA-AES128-GCM-SHA256", NULL}},
    {0xc02c, "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", {"ECDHE-ECDSA-AES256-GCM-SHA384", NULL}},
    {0xc02f, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", {"ECDHE-RSA-AES128-GCM-SHA256", NULL}},
    {0xc030, "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", {"ECDHE-RSA-AES256-GCM-SHA384", NULL}},
    {0xcca9,
     "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
     {"ECDHE-ECDSA-CHACHA20-POLY1305", NULL}},
    {0xcca8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", {"ECDHE-RSA-CHACHA20-POLY1305", NULL}},
    {0, NULL, {NULL}},
};

static const struct entry signatures[] = {
    {0x0401, "rsa_pkcs1_sha256", {NULL}},
    {0x0501, "rsa_pkcs1_sha384", {NULL}},
    {0x0601, "rsa_pkcs1_sha512", {NULL}},
    {0x0403, "ecdsa_secp256r1_sha256", {NULL}},
    {0x0503, "ecdsa_secp384r1_sha384", {NULL}},
    {0x0603, "ecdsa_secp521r1_sha512", {NULL}},
    {0x0804, "rsa_pss_rsae_sha256", {NULL}},
    {0x0805, "rsa_pss_rsae_sha384", {NULL}},
    {0x0806, "rsa_pss_rsae_sha512", {NULL}},
    {0x0807, "ed25519", {NULL}},
    {0x0808, "ed448", {NULL}},
    {0x0904, "mldsa44", {"ml-dsa-44", NULL}},
    {0x0905, "mldsa65", {"ml-dsa-65", NULL}},
    {0x0906, "mldsa87", {"ml-dsa-87", NULL}},
    {0, NULL, {NULL}},
};

// RFC 8446, B.2. The code 0 (close_notify) ends the other tables, so this one has a size.
static const struct entry alerts[] = {
    {10, "unexpected_message", {NULL}},
    {20, "bad_record_mac", {NULL}},
    {22, "record_overflow", {NULL}},
    {40, "handshake_failure", {NULL}},
    {42, "bad_certificate", {NULL}},
    {43, "unsupported_certificate", {NULL}},
    {44, "certificate_revoked", {NULL}},
    {45, "certificate_expired", {NULL}},
    {46, "certificate_unknown", {NULL}},
    {47, "illegal_parameter", {NULL}},
    {48, "unknown_ca", {NULL}},
    {49, "access_denied", {NULL}},
    {50, "decode_error", {NULL}},
    {51, "decrypt_error", {NULL}},
    {70, "protocol_version", {NULL}},
    {71, "insufficient_security", {NULL}},
    {80, "internal_error", {NULL}},
    {86, "inappropriate_fallback", {NULL}},
    {90, "user_canceled", {NULL}},
    {109, "missing_extension", {NULL}},
    {110, "unsupported_extension", {NULL}},
    {112, "unrecognized_name", {NULL}},
    {113, "bad_certificate_status_response", {NULL}},
    {115, "unknown_psk_identity", {NULL}},
    {116, "certificate_required", {NULL}},
    {120, "no_application_protocol", {NULL}},
    {0, NULL, {NULL}},
};

static const struct entry *table_of(enum tlc_name_kind kind)
{
    switch (kind) {
    case TLC_NAME_VERSION:
        return versions;
    case TLC_NAME_GROUP:
        return groups;
    case TLC_NAME_CIPHER:
        return ciphers;
    case TLC_NAME_SIGNATURE:
        return signatures;
    case TLC_NAME_ALERT:
        return alerts;
    }
    return versions;
}

const char *tlc_name(enum tlc_name_kind kind, uint16_t code)
{
    static _Thread_local char unknown[4][16];
    static _Thread_local unsigned turn;
    if (kind == TLC_NAME_ALERT && code == 0)
        return "close_notify";
    for (const struct entry *entry = table_of(kind); entry->name; entry++)
        if (entry->code == code)
            return entry->name;
    char *text = unknown[turn++ % 4];
    snprintf(text, sizeof unknown[0], kind == TLC_NAME_ALERT ? "alert %u" : "0x%04x", code);
    return text;
}

static int entry_has(const struct entry *entry, const char *name)
{
    if (!strcasecmp(entry->name, name))
        return 1;
    for (size_t i = 0; i < 3 && entry->aliases[i]; i++)
        if (!strcasecmp(entry->aliases[i], name))
            return 1;
    return 0;
}

uint16_t tlc_code(enum tlc_name_kind kind, const char *name)
{
    for (const struct entry *entry = table_of(kind); entry->name; entry++)
        if (entry_has(entry, name))
            return entry->code;
    return 0;
}

const char *tlc_name_at(enum tlc_name_kind kind, size_t index)
{
    const struct entry *entry = table_of(kind);
    while (entry->name && index) {
        entry++;
        index--;
    }
    return entry->name;
}

static enum tlc_status unknown_name(enum tlc_name_kind kind, const char *word,
                                    struct tlc_error *error)
{
    static const char *const nouns[] = {"version", "group", "cipher", "signature scheme", "alert"};
    char known[640] = "";
    size_t used = 0;
    for (const struct entry *entry = table_of(kind); entry->name && used < sizeof known; entry++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 entry->name);
    return tlc_fail(error, TLC_USAGE, "%s: '%.64s': unknown name; known are %s", nouns[kind], word,
                    known);
}

enum tlc_status tlc_codes_parse(enum tlc_name_kind kind, const char *list, uint16_t *codes,
                                size_t capacity, size_t *count, struct tlc_error *error)
{
    *count = 0;
    while (*list) {
        char word[64];
        size_t length = strcspn(list, ":,");
        if (length == 0 || length >= sizeof word)
            return tlc_fail(error, TLC_USAGE, "list of names: '%.64s': empty or too long word",
                            list);
        memcpy(word, list, length);
        word[length] = '\0';
        uint16_t code = tlc_code(kind, word);
        if (!code)
            return unknown_name(kind, word, error);
        if (*count == capacity)
            return tlc_fail(error, TLC_USAGE, "list of names: '%.64s': more than %zu", list,
                            capacity);
        codes[(*count)++] = code;
        list += length;
        if (*list && !*++list)
            return tlc_fail(error, TLC_USAGE, "list of names: ends with a separator");
    }
    return TLC_OK;
}
