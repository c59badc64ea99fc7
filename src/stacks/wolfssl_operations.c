// The table of wolfCrypt's raw operations.
#include "stacks/wolfssl_operations.h"

#define MLKEM(name, type)                                                                          \
    {name "-keygen", &wolfssl_mlkem_keygen, type, 0},                                              \
        {name "-parse", &wolfssl_mlkem_parsed, type, 0},                                           \
        {name "-encapsulate", &wolfssl_mlkem_encapsulate, type, 0},                                \
        {name "-decapsulate", &wolfssl_mlkem_decapsulate, type, 0},                                \
    {                                                                                              \
        name "-round-trip", &wolfssl_mlkem_round_trip, type, 0                                     \
    }
#define HYBRID(name, curve, bytes)                                                                 \
    {name "-key-share", &wolfssl_hybrid_share, curve, bytes},                                      \
        {name "-accept", &wolfssl_hybrid_accept, curve, bytes},                                    \
    {                                                                                              \
        name "-decapsulate", &wolfssl_hybrid_decapsulate, curve, bytes                             \
    }
#define ECC(name, curve, bytes)                                                                    \
    {"ecdh-" name "-keygen", &wolfssl_ecc_keygen, curve, bytes},                                   \
        {"ecdh-" name "-key-share", &wolfssl_ecc_share, curve, bytes},                             \
        {"ecdh-" name "-derive", &wolfssl_ecc_derive, curve, bytes},                               \
        {"ecdh-" name "-round-trip", &wolfssl_ecc_round_trip, curve, bytes},                       \
        {"ecdsa-" name "-sign", &wolfssl_ecdsa_sign, curve, bytes},                                \
    {                                                                                              \
        "ecdsa-" name "-verify", &wolfssl_ecdsa_verify, curve, bytes                               \
    }
#define SIGNATURE(name, kind, parameter)                                                           \
    {name "-sign", &kind##_sign, parameter, 0},                                                    \
    {                                                                                              \
        name "-verify", &kind##_verify, parameter, 0                                               \
    }
#define HASHED(name, digest, bytes)                                                                \
    {"transcript-" name, &tlc_plain_transcript, digest, bytes},                                    \
        {"hkdf-extract-" name, &tlc_plain_hkdf_extract, digest, bytes},                            \
    {                                                                                              \
        "hkdf-expand-label-" name, &tlc_plain_hkdf_expand_label, digest, bytes                     \
    }
#define SEAL(name, kind, key_bytes)                                                                \
    {name "-seal-flight", kind, key_bytes, 1024},                                                  \
    {                                                                                              \
        name "-seal-large-flight", kind, key_bytes, 10240                                          \
    }

static const struct tlc_plain_row rows[] = {
#ifdef HAVE_CURVE25519
    {"x25519-keygen", &wolfssl_x25519_keygen, 0, CURVE25519_KEYSIZE},
    {"x25519-key-share", &wolfssl_x25519_share, 0, CURVE25519_KEYSIZE},
    {"x25519-derive", &wolfssl_x25519_derive, 0, CURVE25519_KEYSIZE},
    {"x25519-round-trip", &wolfssl_x25519_round_trip, 0, CURVE25519_KEYSIZE},
#endif
    ECC("p256", ECC_SECP256R1, 32),
    ECC("p384", ECC_SECP384R1, 48),
#ifdef HAVE_ED25519
    SIGNATURE("ed25519", wolfssl_ed25519, 0),
#endif
#ifdef WC_RSA_PSS
    SIGNATURE("rsa-2048", wolfssl_rsa, 2048),
    SIGNATURE("rsa-3072", wolfssl_rsa, 3072),
    SIGNATURE("rsa-4096", wolfssl_rsa, 4096),
#endif
#ifdef WOLFSSL_HAVE_MLDSA
    SIGNATURE("mldsa-44", wolfssl_mldsa, WC_ML_DSA_44),
    SIGNATURE("mldsa-65", wolfssl_mldsa, WC_ML_DSA_65),
    SIGNATURE("mldsa-87", wolfssl_mldsa, WC_ML_DSA_87),
#endif
    {"certificate-parse", &tlc_plain_certificate_parse, 0, 0},
    {"chain-verify-1", &tlc_plain_chain_verify, 0, 1},
    {"chain-verify-2", &tlc_plain_chain_verify, 0, 2},
    {"chain-verify-3", &tlc_plain_chain_verify, 0, 3},
#ifdef WOLFSSL_HAVE_MLKEM
    MLKEM("mlkem-512", WC_ML_KEM_512),
    MLKEM("mlkem-768", WC_ML_KEM_768),
    MLKEM("mlkem-1024", WC_ML_KEM_1024),
#ifdef HAVE_CURVE25519
    HYBRID("x25519mlkem768", WOLFSSL_HYBRID_X25519, CURVE25519_KEYSIZE),
#endif
    HYBRID("secp256r1mlkem768", ECC_SECP256R1, 32),
    HYBRID("secp384r1mlkem1024", ECC_SECP384R1, 48),
#endif
    HASHED("sha256", WC_SHA256, 32),
    HASHED("sha384", WC_SHA384, 48),
    SEAL("aes-128-gcm", &wolfssl_seal_gcm, 16),
    SEAL("aes-256-gcm", &wolfssl_seal_gcm, 32),
    SEAL("chacha20-poly1305", &wolfssl_seal_chacha, 32),
};

static bool open_random(struct tlc_stack_operation *operation)
{
    wolfssl_start();
    operation->has_rng = tlc_plain_works(operation, "wc_InitRng", wc_InitRng(&operation->rng));
    return operation->has_rng;
}

static void close_random(struct tlc_stack_operation *operation)
{
    if (operation->has_rng)
        wc_FreeRng(&operation->rng);
}

// What the library has and this build has not.
static const struct {
    const char *start, *why;
} absent[] = {
#ifndef HAVE_CURVE25519
    {"x25519", "was built without HAVE_CURVE25519; OpenSSL, Mbed TLS, GnuTLS and AWS-LC have it"},
#endif
#ifndef HAVE_ED25519
    {"ed25519-", "was built without HAVE_ED25519; OpenSSL, GnuTLS and AWS-LC have it"},
#endif
#ifndef WC_RSA_PSS
    {"rsa-", "was built without WC_RSA_PSS; OpenSSL, Mbed TLS, GnuTLS and AWS-LC have it"},
#endif
#ifndef WOLFSSL_HAVE_MLDSA
    {"mldsa-", "was built without WOLFSSL_HAVE_MLDSA; OpenSSL 3.5 and AWS-LC have ML-DSA"},
#endif
#ifndef WOLFSSL_HAVE_MLKEM
    {"mlkem-", "was built without WOLFSSL_HAVE_MLKEM; OpenSSL 3.5 and AWS-LC have ML-KEM"},
    {"x25519mlkem", "was built without WOLFSSL_HAVE_MLKEM; OpenSSL 3.5 has hybrids"},
    {"secp", "was built without WOLFSSL_HAVE_MLKEM; OpenSSL 3.5 has hybrids"},
#endif
    {NULL, NULL}};

static const char *lacks(const char *operation)
{
    for (size_t i = 0; absent[i].start; i++)
        if (tlc_plain_begins(operation, absent[i].start))
            return absent[i].why;
    return NULL;
}

const struct tlc_plain_library tlc_plain_library = {
    .name = "wolfSSL",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .bytes = sizeof(struct tlc_stack_operation),
    .open = open_random,
    .close = close_random,
    .words = wc_GetErrorString,
    .digest_nothing = wolfssl_digest_nothing,
    .expand_label = wolfssl_expand_label,
    .extract = wolfssl_extract,
    .hash = &wolfssl_hash,
    .certificates = &wolfssl_certificates,
    .lacks = lacks,
};
