// The table of raw operations: which there are, how one is made, run and freed.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/openssl_operations.h"

#define KEM(name, algorithm)                                                                       \
    {name "-keygen", &openssl_keygen, algorithm, algorithm, 0},                                    \
        {name "-parse", &openssl_parse, algorithm, algorithm, 0},                                  \
        {name "-encapsulate", &openssl_encapsulate, algorithm, algorithm, 0},                      \
        {name "-decapsulate", &openssl_decapsulate, algorithm, algorithm, 0},                      \
    {                                                                                              \
        name "-round-trip", &openssl_kem_round_trip, algorithm, algorithm, 0                       \
    }
#define ECDH(name, algorithm, group)                                                               \
    {name "-keygen", &openssl_keygen, algorithm, group, 0},                                        \
        {name "-key-share", &openssl_key_share, algorithm, group, 0},                              \
        {name "-derive", &openssl_derive, algorithm, group, 0},                                    \
    {                                                                                              \
        name "-round-trip", &openssl_ecdh_round_trip, algorithm, group, 0                          \
    }
#define HYBRID(name, algorithm)                                                                    \
    {name "-key-share", &openssl_key_share, algorithm, algorithm, 0},                              \
        {name "-accept", &openssl_accept, algorithm, algorithm, 0},                                \
    {                                                                                              \
        name "-decapsulate", &openssl_decapsulate, algorithm, algorithm, 0                         \
    }
#define SIGNATURE(name, algorithm, detail, size)                                                   \
    {name "-sign", &openssl_sign, algorithm, detail, size},                                        \
    {                                                                                              \
        name "-verify", &openssl_verify, algorithm, detail, size                                   \
    }
#define SEAL(name, algorithm)                                                                      \
    {name "-seal-flight", &openssl_seal, algorithm, NULL, 1024},                                   \
    {                                                                                              \
        name "-seal-large-flight", &openssl_seal, algorithm, NULL, 10240                           \
    }
#define HASHED(name, digest)                                                                       \
    {"hkdf-extract-" name, &openssl_hkdf_extract, digest, digest, 0},                              \
        {"hkdf-expand-label-" name, &openssl_hkdf_expand_label, digest, digest, 0},                \
    {                                                                                              \
        "transcript-" name, &openssl_transcript, digest, digest, 0                                 \
    }

static const struct openssl_operation_row rows[] = {
    ECDH("x25519", "X25519", "X25519"),
    ECDH("ecdh-p256", "EC", "prime256v1"),
    ECDH("ecdh-p384", "EC", "secp384r1"),
    KEM("mlkem-512", "ML-KEM-512"),
    KEM("mlkem-768", "ML-KEM-768"),
    KEM("mlkem-1024", "ML-KEM-1024"),
    HYBRID("x25519mlkem768", "X25519MLKEM768"),
    HYBRID("secp256r1mlkem768", "SecP256r1MLKEM768"),
    HYBRID("secp384r1mlkem1024", "SecP384r1MLKEM1024"),
    SIGNATURE("ecdsa-p256", "EC", "prime256v1", 32),
    SIGNATURE("ecdsa-p384", "EC", "secp384r1", 48),
    SIGNATURE("ed25519", "ED25519", NULL, 0),
    SIGNATURE("rsa-2048", "RSA", "2048", 32),
    SIGNATURE("rsa-3072", "RSA", "3072", 32),
    SIGNATURE("rsa-4096", "RSA", "4096", 32),
    SIGNATURE("mldsa-44", "ML-DSA-44", NULL, 0),
    SIGNATURE("mldsa-65", "ML-DSA-65", NULL, 0),
    SIGNATURE("mldsa-87", "ML-DSA-87", NULL, 0),
    {"certificate-parse", &openssl_certificate_parse, "EC", "prime256v1", 0},
    {"chain-verify-1", &openssl_chain_verify, "EC", "prime256v1", 1},
    {"chain-verify-2", &openssl_chain_verify, "EC", "prime256v1", 2},
    {"chain-verify-3", &openssl_chain_verify, "EC", "prime256v1", 3},
    HASHED("sha256", "SHA256"),
    HASHED("sha384", "SHA384"),
    SEAL("aes-128-gcm", "AES-128-GCM"),
    SEAL("aes-256-gcm", "AES-256-GCM"),
    SEAL("chacha20-poly1305", "ChaCha20-Poly1305"),
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *found[ROWS];
static size_t found_count;

static void find_all(void)
{
    openssl_start();
    for (size_t i = 0; i < ROWS; i++)
        if (openssl_operation_is_there(&rows[i], NULL))
            found[found_count++] = rows[i].name;
}

static const char *name_at(size_t index)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_all);
    return index < found_count ? found[index] : NULL;
}

bool openssl_failed(struct tlc_stack_operation *operation, const char *what)
{
    operation->failed = what;
    return false;
}

void openssl_operation_free(struct tlc_stack_operation *operation)
{
    if (!operation)
        return;
    EVP_PKEY_CTX_free(operation->maker);
    EVP_PKEY_free(operation->key);
    EVP_PKEY_free(operation->peer);
    X509_free(operation->leaf);
    sk_X509_pop_free(operation->intermediates, X509_free);
    X509_STORE_free(operation->trust);
    OPENSSL_free(operation->input.data);
    OPENSSL_free(operation->expected.data);
    openssl_operation_release(operation);
    free(operation);
}

static const struct openssl_operation_row *row_of(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static struct tlc_stack_operation *operation_new(const char *name, const char *provider,
                                                 struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    error = error ? error : &unused;
    const struct openssl_operation_row *row = row_of(name);
    struct tlc_stack_operation *operation = row ? calloc(1, sizeof *operation) : NULL;
    error->text[0] = '\0';
    openssl_start();
    if (!row) {
        snprintf(error->text, sizeof error->text, "no operation is called '%.64s'", name);
        return NULL;
    }
    if (!operation)
        goto fail;
    operation->row = row;
    operation->kind = openssl_operation_kind_of(row);
    if (provider &&
        !openssl_load_provider(provider, &operation->library, &operation->loaded, error))
        goto fail;
    if (!openssl_operation_is_there(row, operation->library)) {
        openssl_operation_lacks(row, error);
        goto fail;
    }
    if (!operation->kind->prepare(operation)) {
        openssl_explain(error, operation->failed ? operation->failed : "prepare");
        goto fail;
    }
    openssl_note_provider(operation);
    return operation;
fail:
    if (!error->text[0])
        snprintf(error->text, sizeof error->text, "operation: out of memory");
    openssl_operation_free(operation);
    return NULL;
}

static bool run(struct tlc_stack_operation *operation, uint64_t count,
                struct tlc_stack_error *error)
{
    bool (*once)(struct tlc_stack_operation *) = operation->kind->once;
    for (uint64_t i = 0; i < count; i++)
        if (!once(operation)) {
            openssl_explain(error, operation->failed ? operation->failed : operation->row->name);
            return false;
        }
    return true;
}

static bool check(struct tlc_stack_operation *operation, struct tlc_stack_error *error)
{
    operation->failed = NULL;
    if (!operation->kind->check || operation->kind->check(operation))
        return true;
    openssl_explain(error, operation->failed ? operation->failed : "a wrong result");
    return false;
}

static const char *provider_of(struct tlc_stack_operation *operation)
{
    return operation->provider;
}

const struct tlc_stack_operations openssl_operations = {
    .name_at = name_at,
    .operation_new = operation_new,
    .run = run,
    .check = check,
    .provider = provider_of,
    .operation_free = openssl_operation_free,
};
