// Key types by name: making them, and telling the type of a key.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

#include "certs/certs.h"
#include "certs/issue.h"

static const struct key_type {
    const char *name;
    const char *algorithm; // libcrypto's name of it
    const char *curve;     // EC only
    size_t bits;           // RSA only
} key_types[] = {
    {"ecdsa-p256", "EC", "P-256", 0},   {"ecdsa-p384", "EC", "P-384", 0},
    {"ed25519", "ED25519", NULL, 0},    {"rsa-2048", "RSA", NULL, 2048},
    {"rsa-3072", "RSA", NULL, 3072},    {"rsa-4096", "RSA", NULL, 4096},
    {"mldsa-44", "ML-DSA-44", NULL, 0}, {"mldsa-65", "ML-DSA-65", NULL, 0},
    {"mldsa-87", "ML-DSA-87", NULL, 0},
};

enum { KEY_TYPES = sizeof key_types / sizeof *key_types };

static bool available(const struct key_type *type)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type->algorithm, NULL);
    bool found = context && EVP_PKEY_keygen_init(context) > 0;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return found;
}

const char *tlc_certs_name_at(size_t index)
{
    for (size_t i = 0; i < KEY_TYPES; i++)
        if (available(&key_types[i]) && index-- == 0)
            return key_types[i].name;
    return NULL;
}

bool tlc_certs_name_known(const char *name)
{
    for (size_t i = 0; i < KEY_TYPES; i++)
        if (!strcmp(key_types[i].name, name))
            return available(&key_types[i]);
    return false;
}

enum tlc_status tlc_certs_fail(struct tlc_error *error, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return tlc_fail(error, TLC_ENVIRONMENT, "%s: %s", text,
                    reason ? reason : "libcrypto gave no reason");
}

enum tlc_status tlc_certs_name_unknown(const char *name, struct tlc_error *error)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; tlc_certs_name_at(i) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 tlc_certs_name_at(i));
    return tlc_fail(error, TLC_USAGE, "certs: '%s': not a known key type; use one of %s", name,
                    known);
}

static EVP_PKEY *generate(const struct key_type *type)
{
    if (type->curve)
        return EVP_PKEY_Q_keygen(NULL, NULL, type->algorithm, type->curve);
    if (type->bits) // the public exponent is 65537 unless told otherwise
        return EVP_PKEY_Q_keygen(NULL, NULL, type->algorithm, type->bits);
    return EVP_PKEY_Q_keygen(NULL, NULL, type->algorithm);
}

enum tlc_status tlc_certs_key_new(const char *name, EVP_PKEY **key, struct tlc_error *error)
{
    *key = NULL;
    if (!tlc_certs_name_known(name))
        return tlc_certs_name_unknown(name, error);
    for (size_t i = 0; i < KEY_TYPES && !*key; i++)
        if (!strcmp(key_types[i].name, name))
            *key = generate(&key_types[i]);
    return *key ? TLC_OK : tlc_certs_fail(error, "certs: make a key: %s", name);
}

static void lower(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

static void curve_name(const EVP_PKEY *key, char *name, size_t capacity)
{
    char group[64] = "unknown";
    EVP_PKEY_get_group_name(key, group, sizeof group, NULL);
    const char *nist = EC_curve_nid2nist(OBJ_sn2nid(group));
    if (nist && !strcmp(nist, "P-256"))
        snprintf(name, capacity, "ecdsa-p256");
    else if (nist && !strcmp(nist, "P-384"))
        snprintf(name, capacity, "ecdsa-p384");
    else
        snprintf(name, capacity, "ecdsa-%s", group);
}

void tlc_certs_key_name(const EVP_PKEY *key, char *name, size_t capacity)
{
    const char *algorithm = EVP_PKEY_get0_type_name(key);
    if (EVP_PKEY_is_a(key, "EC"))
        curve_name(key, name, capacity);
    else if (EVP_PKEY_is_a(key, "RSA"))
        snprintf(name, capacity, "rsa-%d", EVP_PKEY_get_bits(key));
    else if (algorithm && !strncmp(algorithm, "ML-DSA-", 7))
        snprintf(name, capacity, "mldsa-%s", algorithm + 7);
    else
        snprintf(name, capacity, "%s", algorithm ? algorithm : "unknown");
    lower(name);
}
