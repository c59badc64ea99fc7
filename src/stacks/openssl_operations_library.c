// What OpenSSL 3 and later call in their own way for raw operations: library contexts, fetched
// algorithms, providers, the key schedule by TLS13-KDF, records by a cipher context.
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/openssl_operations.h"

const struct openssl_operation_kind *
openssl_operation_kind_of(const struct openssl_operation_row *row)
{
    return row->kind;
}

bool openssl_operation_is_there(const struct openssl_operation_row *row, OSSL_LIB_CTX *library)
{
    enum openssl_operation_needs needs = row->kind->needs;
    EVP_CIPHER *cipher = NULL;
    EVP_MD *digest = NULL;
    EVP_KEYMGMT *keys = NULL;
    EVP_KDF *kdf = NULL;
    if (needs == NEEDS_CIPHER)
        cipher = EVP_CIPHER_fetch(library, row->algorithm, NULL);
    else if (needs == NEEDS_DIGEST || needs == NEEDS_KDF)
        digest = EVP_MD_fetch(library, row->algorithm, NULL);
    else
        keys = EVP_KEYMGMT_fetch(library, row->algorithm, NULL);
    if (needs == NEEDS_KDF)
        kdf = EVP_KDF_fetch(library, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    bool found = (cipher || digest || keys) && (needs != NEEDS_KDF || kdf);
    EVP_CIPHER_free(cipher);
    EVP_MD_free(digest);
    EVP_KEYMGMT_free(keys);
    EVP_KDF_free(kdf);
    ERR_clear_error();
    return found;
}

void openssl_operation_lacks(const struct openssl_operation_row *row, struct tlc_stack_error *error)
{
    snprintf(error->text, sizeof error->text, "OpenSSL %s has no %s",
             OpenSSL_version(OPENSSL_VERSION_STRING), row->algorithm);
}

static void served_by(struct tlc_stack_operation *operation, const OSSL_PROVIDER *provider)
{
    if (provider)
        snprintf(operation->provider, sizeof operation->provider, "%s",
                 OSSL_PROVIDER_get0_name(provider));
}

static void exchange_served_by(struct tlc_stack_operation *operation)
{
    const char *name = strcmp(operation->row->algorithm, "EC") ? operation->row->algorithm : "ECDH";
    EVP_KEYEXCH *exchange = EVP_KEYEXCH_fetch(operation->library, name, NULL);
    if (exchange)
        served_by(operation, EVP_KEYEXCH_get0_provider(exchange));
    EVP_KEYEXCH_free(exchange);
}

static void kdf_served_by(struct tlc_stack_operation *operation)
{
    EVP_KDF *kdf = EVP_KDF_fetch(operation->library, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    if (kdf)
        served_by(operation, EVP_KDF_get0_provider(kdf));
    EVP_KDF_free(kdf);
}

void openssl_note_provider(struct tlc_stack_operation *operation)
{
    switch (operation->row->kind->needs) {
    case NEEDS_KEY:
        served_by(operation, EVP_PKEY_get0_provider(operation->key));
        break;
    case NEEDS_EXCHANGE:
        exchange_served_by(operation);
        break;
    case NEEDS_CIPHER:
        served_by(operation,
                  EVP_CIPHER_get0_provider(EVP_CIPHER_CTX_get0_cipher(operation->cipher)));
        break;
    case NEEDS_DIGEST:
        served_by(operation, EVP_MD_get0_provider(operation->digest));
        break;
    case NEEDS_KDF:
        kdf_served_by(operation);
        break;
    }
}

void openssl_operation_release(struct tlc_stack_operation *operation)
{
    EVP_CIPHER_CTX_free(operation->cipher);
    EVP_MD_free((EVP_MD *)(uintptr_t)operation->digest); // fetched here, so it is ours
    if (operation->loaded)
        OSSL_PROVIDER_unload(operation->loaded);
    OSSL_LIB_CTX_free(operation->library);
}

// ---- keys

// As ssl_generate_pkey_group of libssl: the group is set for every algorithm that has one.
EVP_PKEY_CTX *openssl_new_maker(const struct openssl_operation_row *row, OSSL_LIB_CTX *library)
{
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(library, row->algorithm, NULL);
    bool good = maker && EVP_PKEY_keygen_init(maker) == 1;
    if (good && !strcmp(row->algorithm, "RSA"))
        good = EVP_PKEY_CTX_set_rsa_keygen_bits(maker, (int)strtol(row->detail, NULL, 10)) == 1;
    else if (good && row->detail)
        good = EVP_PKEY_CTX_set_group_name(maker, row->detail) == 1;
    if (good)
        return maker;
    EVP_PKEY_CTX_free(maker);
    return NULL;
}

EVP_PKEY_CTX *openssl_use_key(struct tlc_stack_operation *operation, EVP_PKEY *key)
{
    return EVP_PKEY_CTX_new_from_pkey(operation->library, key, NULL);
}

bool openssl_start_encapsulation(EVP_PKEY_CTX *ctx)
{
    return EVP_PKEY_encapsulate_init(ctx, NULL) == 1;
}

bool openssl_start_decapsulation(EVP_PKEY_CTX *ctx)
{
    return EVP_PKEY_decapsulate_init(ctx, NULL) == 1;
}

bool openssl_public_bytes(EVP_PKEY *key, struct openssl_bytes *bytes)
{
    bytes->count = EVP_PKEY_get1_encoded_public_key(key, &bytes->data);
    return bytes->count > 0;
}

EVP_PKEY *openssl_import(struct tlc_stack_operation *operation, const struct openssl_bytes *bytes)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *ctx =
        EVP_PKEY_CTX_new_from_name(operation->library, operation->row->algorithm, NULL);
    bool good = ctx && EVP_PKEY_paramgen_init(ctx) == 1 &&
                EVP_PKEY_CTX_set_group_name(ctx, operation->row->detail) == 1 &&
                EVP_PKEY_paramgen(ctx, &key) == 1 &&
                EVP_PKEY_set1_encoded_public_key(key, bytes->data, bytes->count) == 1;
    EVP_PKEY_CTX_free(ctx);
    if (good)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

// ---- signatures and certificates

bool openssl_start_signature(struct tlc_stack_operation *operation, EVP_MD_CTX *ctx,
                             EVP_PKEY_CTX **of_key, bool verify)
{
    size_t size = operation->row->size;
    const char *digest = size == 32 ? "SHA256" : size == 48 ? "SHA384" : NULL;
    int result = verify ? EVP_DigestVerifyInit_ex(ctx, of_key, digest, operation->library, NULL,
                                                  operation->key, NULL)
                        : EVP_DigestSignInit_ex(ctx, of_key, digest, operation->library, NULL,
                                                operation->key, NULL);
    return result == 1;
}

X509 *openssl_new_certificate(struct tlc_stack_operation *operation)
{
    return X509_new_ex(operation->library, NULL);
}

X509_STORE_CTX *openssl_new_verification(struct tlc_stack_operation *operation)
{
    return X509_STORE_CTX_new_ex(operation->library, NULL);
}

// ---- the key schedule by the KDF that libssl uses, fetched each time as libssl does

const EVP_MD *openssl_find_digest(struct tlc_stack_operation *operation)
{
    return EVP_MD_fetch(operation->library, operation->row->detail, NULL);
}

static bool derive_key(struct tlc_stack_operation *operation, const OSSL_PARAM *parameters,
                       size_t count)
{
    EVP_KDF *kdf = EVP_KDF_fetch(operation->library, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    bool good = ctx && EVP_KDF_derive(ctx, operation->output, count, parameters) == 1;
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    return good || openssl_failed(operation, "TLS13-KDF");
}

static char prefix[] = "tls13 ", derived[] = "derived";

bool openssl_extract(struct tlc_stack_operation *operation, unsigned char *before,
                     unsigned char *key, size_t count)
{
    int mode = EVP_KDF_HKDF_MODE_EXTRACT_ONLY;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)operation->row->detail, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, before, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix, 6),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, derived, 7),
        OSSL_PARAM_construct_end()};
    return derive_key(operation, parameters, count);
}

bool openssl_expand_label(struct tlc_stack_operation *operation, unsigned char *secret, char *label,
                          unsigned char *context, size_t count)
{
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)operation->row->detail, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix, 6),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, label, strlen(label)),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_DATA, context, count),
        OSSL_PARAM_construct_end()};
    return derive_key(operation, parameters, count);
}

// ---- records

bool openssl_record_keys(struct tlc_stack_operation *operation, const struct openssl_record *record)
{
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(operation->library, operation->row->algorithm, NULL);
    operation->cipher = EVP_CIPHER_CTX_new();
    bool good = cipher && operation->cipher &&
                EVP_EncryptInit_ex2(operation->cipher, cipher, record->key, NULL, NULL) == 1;
    EVP_CIPHER_free(cipher);
    return good;
}

bool openssl_record_seal(struct tlc_stack_operation *operation, const struct openssl_record *record)
{
    EVP_CIPHER_CTX *ctx = operation->cipher;
    int size = (int)operation->input.count, count = 0;
    return EVP_EncryptInit_ex2(ctx, NULL, NULL, record->nonce, NULL) == 1 &&
           EVP_EncryptUpdate(ctx, NULL, &count, record->header, OPENSSL_RECORD_HEADER) == 1 &&
           EVP_EncryptUpdate(ctx, operation->output, &count, operation->input.data, size) == 1 &&
           count == size && EVP_EncryptFinal_ex(ctx, operation->output + size, &count) == 1 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, OPENSSL_RECORD_TAG,
                               operation->output + size) == 1;
}

bool openssl_record_open(struct tlc_stack_operation *operation, const struct openssl_record *record,
                         unsigned char *opened)
{
    int size = (int)operation->input.count, count = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(operation->library, operation->row->algorithm, NULL);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    bool good = cipher && ctx &&
                EVP_DecryptInit_ex2(ctx, cipher, record->key, record->nonce, NULL) == 1 &&
                EVP_DecryptUpdate(ctx, NULL, &count, record->header, OPENSSL_RECORD_HEADER) == 1 &&
                EVP_DecryptUpdate(ctx, opened, &count, operation->output, size) == 1 &&
                EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, OPENSSL_RECORD_TAG,
                                    operation->output + size) == 1 &&
                EVP_DecryptFinal_ex(ctx, opened + size, &count) == 1;
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good;
}
