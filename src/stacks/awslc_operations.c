// What AWS-LC calls in its own way for raw operations: key types by number, ML-KEM and ML-DSA by
// their own parameters, the key schedule by the function that its libssl uses, records by EVP_AEAD.
#include <openssl/aead.h>
#include <openssl/digest.h>
#include <openssl/ec_key.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hkdf.h>
#include <openssl/kdf.h>
#include <openssl/mem.h>
#include <openssl/nid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/awslc_operations.h"

// OpenSSL's names of algorithms, and of the groups of one that has several.
static const struct algorithm {
    const char *name, *group;
    int type, parameters; // parameters 0: the type says all
} algorithms[] = {
    {"X25519", NULL, EVP_PKEY_X25519, 0},
    {"ED25519", NULL, EVP_PKEY_ED25519, 0},
    {"RSA", NULL, EVP_PKEY_RSA, 0},
    {"EC", "prime256v1", EVP_PKEY_EC, NID_X9_62_prime256v1},
    {"EC", "secp384r1", EVP_PKEY_EC, NID_secp384r1},
    {"ML-KEM-512", NULL, EVP_PKEY_KEM, NID_MLKEM512},
    {"ML-KEM-768", NULL, EVP_PKEY_KEM, NID_MLKEM768},
    {"ML-KEM-1024", NULL, EVP_PKEY_KEM, NID_MLKEM1024},
    {"ML-DSA-44", NULL, EVP_PKEY_PQDSA, NID_MLDSA44},
    {"ML-DSA-65", NULL, EVP_PKEY_PQDSA, NID_MLDSA65},
    {"ML-DSA-87", NULL, EVP_PKEY_PQDSA, NID_MLDSA87},
};

static const struct algorithm *algorithm_of(const struct openssl_operation_row *row)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (!strcmp(algorithms[i].name, row->algorithm) &&
            (!algorithms[i].group || !strcmp(algorithms[i].group, row->detail)))
            return &algorithms[i];
    return NULL;
}

static const EVP_AEAD *aead_of(const struct openssl_operation_row *row)
{
    return !strcmp(row->algorithm, "AES-128-GCM")         ? EVP_aead_aes_128_gcm()
           : !strcmp(row->algorithm, "AES-256-GCM")       ? EVP_aead_aes_256_gcm()
           : !strcmp(row->algorithm, "ChaCha20-Poly1305") ? EVP_aead_chacha20_poly1305()
                                                          : NULL;
}

bool openssl_operation_is_there(const struct openssl_operation_row *row,
                                struct ossl_lib_ctx_st *library)
{
    enum openssl_operation_needs needs = row->kind->needs;
    if (awslc_hybrid_kind(row))
        return true;
    if (needs == NEEDS_CIPHER)
        return aead_of(row) != NULL;
    if (needs == NEEDS_DIGEST || needs == NEEDS_KDF)
        return EVP_get_digestbyname(row->algorithm) != NULL;
    EVP_PKEY_CTX *maker = openssl_new_maker(row, library);
    bool found = maker != NULL;
    EVP_PKEY_CTX_free(maker);
    ERR_clear_error();
    return found;
}

void openssl_operation_lacks(const struct openssl_operation_row *row, struct tlc_stack_error *error)
{
    snprintf(error->text, sizeof error->text, "AWS-LC %s has no %s", AWSLC_VERSION_NUMBER_STRING,
             row->algorithm);
}

void openssl_note_provider(struct tlc_stack_operation *operation)
{
    (void)operation; // it has none
}

void openssl_operation_release(struct tlc_stack_operation *operation)
{
    EVP_AEAD_CTX_free(operation->aead);
    for (size_t i = 0; i < 2; i++)
        openssl_operation_free(operation->half[i]);
}

const struct openssl_operation_kind *
openssl_operation_kind_of(const struct openssl_operation_row *row)
{
    const struct openssl_operation_kind *hybrid = awslc_hybrid_kind(row);
    return hybrid ? hybrid : row->kind;
}

// ---- keys

EVP_PKEY_CTX *openssl_new_maker(const struct openssl_operation_row *row,
                                struct ossl_lib_ctx_st *library)
{
    (void)library;
    const struct algorithm *one = algorithm_of(row);
    EVP_PKEY_CTX *maker = one ? EVP_PKEY_CTX_new_id(one->type, NULL) : NULL;
    bool good = maker && EVP_PKEY_keygen_init(maker) == 1;
    if (good && one->type == EVP_PKEY_RSA)
        good = EVP_PKEY_CTX_set_rsa_keygen_bits(maker, (int)strtol(row->detail, NULL, 10)) == 1;
    else if (good && one->type == EVP_PKEY_EC)
        good = EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker, one->parameters) == 1;
    else if (good && one->type == EVP_PKEY_KEM)
        good = EVP_PKEY_CTX_kem_set_params(maker, one->parameters) == 1;
    else if (good && one->type == EVP_PKEY_PQDSA)
        good = EVP_PKEY_CTX_pqdsa_set_params(maker, one->parameters) == 1;
    if (good)
        return maker;
    EVP_PKEY_CTX_free(maker);
    return NULL;
}

EVP_PKEY_CTX *openssl_use_key(struct tlc_stack_operation *operation, EVP_PKEY *key)
{
    (void)operation;
    return EVP_PKEY_CTX_new(key, NULL);
}

bool openssl_start_encapsulation(EVP_PKEY_CTX *ctx)
{
    return ctx != NULL; // a key is enough
}

bool openssl_start_decapsulation(EVP_PKEY_CTX *ctx)
{
    return ctx != NULL;
}

bool openssl_public_bytes(EVP_PKEY *key, struct openssl_bytes *bytes)
{
    if (EVP_PKEY_id(key) == EVP_PKEY_EC) {
        bytes->count = EVP_PKEY_get1_tls_encodedpoint(key, &bytes->data);
        return bytes->count > 0;
    }
    if (EVP_PKEY_get_raw_public_key(key, NULL, &bytes->count) != 1)
        return false;
    bytes->data = OPENSSL_malloc(bytes->count);
    return bytes->data && EVP_PKEY_get_raw_public_key(key, bytes->data, &bytes->count) == 1;
}

static EVP_PKEY *import_point(int curve, const struct openssl_bytes *bytes)
{
    EVP_PKEY *key = EVP_PKEY_new();
    EC_KEY *point = EC_KEY_new_by_curve_name(curve);
    bool good = key && point && EVP_PKEY_set1_EC_KEY(key, point) == 1 &&
                EVP_PKEY_set1_tls_encodedpoint(key, bytes->data, bytes->count) == 1;
    EC_KEY_free(point);
    if (good)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

EVP_PKEY *openssl_import(struct tlc_stack_operation *operation, const struct openssl_bytes *bytes)
{
    const struct algorithm *one = algorithm_of(operation->row);
    if (one->type == EVP_PKEY_EC)
        return import_point(one->parameters, bytes);
    if (one->type == EVP_PKEY_KEM)
        return EVP_PKEY_kem_new_raw_public_key(one->parameters, bytes->data, bytes->count);
    return EVP_PKEY_new_raw_public_key(one->type, NULL, bytes->data, bytes->count);
}

// ---- signatures and certificates

bool openssl_start_signature(struct tlc_stack_operation *operation, EVP_MD_CTX *ctx,
                             EVP_PKEY_CTX **of_key, bool verify)
{
    size_t size = operation->row->size;
    const EVP_MD *digest = size == 32 ? EVP_sha256() : size == 48 ? EVP_sha384() : NULL;
    int result = verify ? EVP_DigestVerifyInit(ctx, of_key, digest, NULL, operation->key)
                        : EVP_DigestSignInit(ctx, of_key, digest, NULL, operation->key);
    return result == 1;
}

X509 *openssl_new_certificate(struct tlc_stack_operation *operation)
{
    (void)operation;
    return X509_new();
}

X509_STORE_CTX *openssl_new_verification(struct tlc_stack_operation *operation)
{
    (void)operation;
    return X509_STORE_CTX_new();
}

// ---- the key schedule

const EVP_MD *openssl_find_digest(struct tlc_stack_operation *operation)
{
    return EVP_get_digestbyname(operation->row->detail);
}

bool openssl_extract(struct tlc_stack_operation *operation, unsigned char *before,
                     unsigned char *key, size_t count)
{
    static const uint8_t label[] = {'d', 'e', 'r', 'i', 'v', 'e', 'd'};
    unsigned char empty[EVP_MAX_MD_SIZE], salt[EVP_MAX_MD_SIZE];
    const EVP_MD *digest = operation->digest;
    unsigned hashed = 0;
    size_t wrote = 0;
    bool good = EVP_Digest("", 0, empty, &hashed, digest, NULL) == 1 &&
                CRYPTO_tls13_hkdf_expand_label(salt, count, digest, before, count, label,
                                               sizeof label, empty, hashed) == 1 &&
                HKDF_extract(operation->output, &wrote, digest, key, count, salt, count) == 1;
    return (good && wrote == count) || openssl_failed(operation, "HKDF-Extract");
}

bool openssl_expand_label(struct tlc_stack_operation *operation, unsigned char *secret, char *label,
                          unsigned char *context, size_t count)
{
    return CRYPTO_tls13_hkdf_expand_label(operation->output, count, operation->digest, secret,
                                          count, (const uint8_t *)label, strlen(label), context,
                                          count) == 1 ||
           openssl_failed(operation, "HKDF-Expand-Label");
}

// ---- records

static EVP_AEAD_CTX *new_keys(struct tlc_stack_operation *operation,
                              const struct openssl_record *record)
{
    const EVP_AEAD *aead = aead_of(operation->row);
    return EVP_AEAD_CTX_new(aead, record->key, EVP_AEAD_key_length(aead), OPENSSL_RECORD_TAG);
}

bool openssl_record_keys(struct tlc_stack_operation *operation, const struct openssl_record *record)
{
    operation->aead = new_keys(operation, record);
    return operation->aead != NULL;
}

bool openssl_record_seal(struct tlc_stack_operation *operation, const struct openssl_record *record)
{
    size_t wrote = 0;
    return EVP_AEAD_CTX_seal(operation->aead, operation->output, &wrote, sizeof operation->output,
                             record->nonce, OPENSSL_RECORD_NONCE, operation->input.data,
                             operation->input.count, record->header, OPENSSL_RECORD_HEADER) == 1 &&
           wrote == operation->input.count + OPENSSL_RECORD_TAG;
}

bool openssl_record_open(struct tlc_stack_operation *operation, const struct openssl_record *record,
                         unsigned char *opened)
{
    EVP_AEAD_CTX *keys = new_keys(operation, record);
    size_t wrote = 0;
    bool good = keys &&
                EVP_AEAD_CTX_open(keys, opened, &wrote, OPENSSL_OPERATION_OUTPUT, record->nonce,
                                  OPENSSL_RECORD_NONCE, operation->output,
                                  operation->input.count + OPENSSL_RECORD_TAG, record->header,
                                  OPENSSL_RECORD_HEADER) == 1 &&
                wrote == operation->input.count;
    EVP_AEAD_CTX_free(keys);
    return good;
}
