// The symmetric part of a handshake: key schedule, transcript hash, records.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <string.h>

#include "stacks/openssl_operations.h"

// ---- HKDF by the KDF that libssl uses, fetched each time as libssl does

static size_t hash_bytes(const struct tlc_stack_operation *operation)
{
    return strcmp(operation->row->detail, "SHA384") ? 32 : 48;
}

static bool derive_key(struct tlc_stack_operation *operation, const OSSL_PARAM *parameters)
{
    EVP_KDF *kdf = EVP_KDF_fetch(operation->library, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    operation->output_bytes = hash_bytes(operation);
    bool good =
        ctx && EVP_KDF_derive(ctx, operation->output, operation->output_bytes, parameters) == 1;
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    return good || openssl_failed(operation, "TLS13-KDF");
}

static unsigned char secret[48] = "the secret that the schedule starts with......";
static unsigned char transcript[48] = "the hash of the transcript so far..............";
static unsigned char prefix[] = "tls13 ", label[] = "c hs traffic";

static bool extract_once(struct tlc_stack_operation *operation)
{
    int mode = EVP_KDF_HKDF_MODE_EXTRACT_ONLY;
    size_t count = hash_bytes(operation);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)operation->row->detail, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, transcript, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix, 6),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, "derived", 7),
        OSSL_PARAM_construct_end()};
    return derive_key(operation, parameters);
}

static bool expand_once(struct tlc_stack_operation *operation)
{
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    size_t count = hash_bytes(operation);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST,
                                         (char *)(uintptr_t)operation->row->detail, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, prefix, 6),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, label, sizeof label - 1),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_DATA, transcript, count),
        OSSL_PARAM_construct_end()};
    return derive_key(operation, parameters);
}

// HKDF-Expand-Label by HMAC alone (RFC 8446, 7.1; RFC 5869, 2.3): one block is enough.
static bool expand_check(struct tlc_stack_operation *operation)
{
    unsigned char info[128], want[EVP_MAX_MD_SIZE];
    size_t hash = hash_bytes(operation), used = 0, wrote = 0;
    info[used++] = 0;
    info[used++] = (unsigned char)hash;
    info[used++] = (unsigned char)(6 + sizeof label - 1);
    memcpy(info + used, prefix, 6);
    memcpy(info + used + 6, label, sizeof label - 1);
    used += 6 + sizeof label - 1;
    info[used++] = (unsigned char)hash;
    memcpy(info + used, transcript, hash);
    used += hash;
    info[used++] = 1;
    bool good = EVP_Q_mac(operation->library, "HMAC", NULL, operation->row->detail, NULL, secret,
                          hash, info, used, want, sizeof want, &wrote) &&
                wrote == hash && !memcmp(want, operation->output, hash);
    return good || openssl_failed(operation, "HKDF-Expand-Label gave another key");
}

// HKDF-Extract(Derive-Secret(salt, "derived", ""), key), as the key schedule chains its secrets.
static bool extract_check(struct tlc_stack_operation *operation)
{
    unsigned char info[128], empty[EVP_MAX_MD_SIZE], salt[EVP_MAX_MD_SIZE], want[EVP_MAX_MD_SIZE];
    size_t hash = hash_bytes(operation), used = 0, wrote = 0;
    info[used++] = 0;
    info[used++] = (unsigned char)hash;
    info[used++] = 13;
    memcpy(info + used, "tls13 derived", 13);
    used += 13;
    info[used++] = (unsigned char)hash;
    bool good =
        EVP_Q_digest(operation->library, operation->row->detail, NULL, "", 0, empty, &wrote) == 1;
    memcpy(info + used, empty, hash);
    used += hash;
    info[used++] = 1;
    good = good &&
           EVP_Q_mac(operation->library, "HMAC", NULL, operation->row->detail, NULL, transcript,
                     hash, info, used, salt, sizeof salt, &wrote) &&
           EVP_Q_mac(operation->library, "HMAC", NULL, operation->row->detail, NULL, salt, hash,
                     secret, hash, want, sizeof want, &wrote) &&
           !memcmp(want, operation->output, hash);
    return good || openssl_failed(operation, "HKDF-Extract gave another secret");
}

static bool kdf_prepare(struct tlc_stack_operation *operation)
{
    EVP_KDF *kdf = EVP_KDF_fetch(operation->library, OSSL_KDF_NAME_TLS1_3_KDF, NULL);
    if (kdf)
        openssl_served_by(operation, EVP_KDF_get0_provider(kdf));
    EVP_KDF_free(kdf);
    return kdf || openssl_failed(operation, "TLS13-KDF");
}

const struct openssl_operation_kind openssl_hkdf_extract = {NEEDS_DIGEST, kdf_prepare, extract_once,
                                                            extract_check};
const struct openssl_operation_kind openssl_hkdf_expand_label = {NEEDS_DIGEST, kdf_prepare,
                                                                 expand_once, expand_check};

// ---- a record: keys are there, a nonce and a header for each (RFC 8446, 5.2)

enum { NONCE = 12, HEADER = 5, TAG = 16 };

static unsigned char record_key[32] = "the traffic key of the server.";

static bool seal_prepare(struct tlc_stack_operation *operation)
{
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(operation->library, operation->row->algorithm, NULL);
    operation->cipher = EVP_CIPHER_CTX_new();
    operation->input =
        (struct openssl_bytes){OPENSSL_malloc(operation->row->size), operation->row->size};
    bool good = cipher && operation->cipher && operation->input.data &&
                EVP_EncryptInit_ex2(operation->cipher, cipher, record_key, NULL, NULL) == 1;
    if (good) {
        memset(operation->input.data, 0x16, operation->input.count);
        openssl_served_by(operation, EVP_CIPHER_get0_provider(cipher));
    }
    EVP_CIPHER_free(cipher);
    return good || openssl_failed(operation, operation->row->algorithm);
}

static const unsigned char nonce[NONCE] = {1}, header[HEADER] = {23, 3, 3};

static bool seal_once(struct tlc_stack_operation *operation)
{
    int size = (int)operation->input.count, count = 0;
    bool good = EVP_EncryptInit_ex2(operation->cipher, NULL, NULL, nonce, NULL) == 1 &&
                EVP_EncryptUpdate(operation->cipher, NULL, &count, header, HEADER) == 1 &&
                EVP_EncryptUpdate(operation->cipher, operation->output, &count,
                                  operation->input.data, size) == 1 &&
                count == size &&
                EVP_EncryptFinal_ex(operation->cipher, operation->output + size, &count) == 1 &&
                EVP_CIPHER_CTX_ctrl(operation->cipher, EVP_CTRL_AEAD_GET_TAG, TAG,
                                    operation->output + size) == 1;
    return good || openssl_failed(operation, "seal");
}

static bool seal_check(struct tlc_stack_operation *operation)
{
    unsigned char opened[OPENSSL_OPERATION_OUTPUT];
    int size = (int)operation->input.count, count = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(operation->library, operation->row->algorithm, NULL);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    bool good =
        cipher && ctx && EVP_DecryptInit_ex2(ctx, cipher, record_key, nonce, NULL) == 1 &&
        EVP_DecryptUpdate(ctx, NULL, &count, header, HEADER) == 1 &&
        EVP_DecryptUpdate(ctx, opened, &count, operation->output, size) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, operation->output + size) == 1 &&
        EVP_DecryptFinal_ex(ctx, opened + size, &count) == 1 &&
        !memcmp(opened, operation->input.data, operation->input.count);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good || openssl_failed(operation, "the record does not open");
}

const struct openssl_operation_kind openssl_seal = {NEEDS_CIPHER, seal_prepare, seal_once,
                                                    seal_check};

// ---- the transcript: sizes of a full handshake's messages, hashes taken where TLS 1.3 takes them

static const struct {
    size_t bytes;
    bool hashed; // a hash of the transcript so far is needed after it (RFC 8446, 7.1 and 4.4)
} messages[] = {{1500, false}, {1200, true}, {10, false}, {800, true},
                {80, true},    {36, true},   {36, true}};

static bool transcript_prepare(struct tlc_stack_operation *operation)
{
    operation->digest = EVP_MD_fetch(operation->library, operation->row->detail, NULL);
    operation->input = (struct openssl_bytes){OPENSSL_zalloc(1500), 1500};
    if (operation->digest)
        openssl_served_by(operation, EVP_MD_get0_provider(operation->digest));
    return (operation->digest && operation->input.data) || openssl_failed(operation, "digest");
}

static bool transcript_once(struct tlc_stack_operation *operation)
{
    EVP_MD_CTX *running = EVP_MD_CTX_new(), *copy = EVP_MD_CTX_new();
    unsigned count = 0;
    bool good = running && copy && EVP_DigestInit_ex(running, operation->digest, NULL) == 1;
    for (size_t i = 0; good && i < sizeof messages / sizeof *messages; i++) {
        good = EVP_DigestUpdate(running, operation->input.data, messages[i].bytes) == 1;
        if (good && messages[i].hashed)
            good = EVP_MD_CTX_copy_ex(copy, running) == 1 &&
                   EVP_DigestFinal_ex(copy, operation->output, &count) == 1;
    }
    operation->output_bytes = count;
    EVP_MD_CTX_free(running);
    EVP_MD_CTX_free(copy);
    return good || openssl_failed(operation, "digest");
}

static bool transcript_check(struct tlc_stack_operation *operation)
{
    unsigned char all[4096] = {0}, want[EVP_MAX_MD_SIZE];
    size_t total = 0, count = 0;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        total += messages[i].bytes;
    bool good = total <= sizeof all &&
                EVP_Q_digest(operation->library, operation->row->detail, NULL, all, total, want,
                             &count) == 1 &&
                count == operation->output_bytes && !memcmp(want, operation->output, count);
    return good || openssl_failed(operation, "the transcript's hash is wrong");
}

const struct openssl_operation_kind openssl_transcript = {NEEDS_DIGEST, transcript_prepare,
                                                          transcript_once, transcript_check};
