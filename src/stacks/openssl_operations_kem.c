// Key encapsulation: ML-KEM (FIPS 203) and the hybrid groups, by the calls that libssl makes.
#include <openssl/evp.h>
#include <string.h>

#include "stacks/openssl_operations.h"

enum { SECRET = 256 };

bool openssl_encapsulate_to(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            unsigned char *sealed, size_t *sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes)
{
    EVP_PKEY_CTX *ctx = openssl_use_key(operation, key);
    bool good = ctx && openssl_start_encapsulation(ctx) &&
                EVP_PKEY_encapsulate(ctx, sealed, sealed_bytes, secret, secret_bytes) == 1;
    EVP_PKEY_CTX_free(ctx);
    return good || openssl_failed(operation, "encapsulate");
}

bool openssl_decapsulate_by(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            const unsigned char *sealed, size_t sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes)
{
    EVP_PKEY_CTX *ctx = openssl_use_key(operation, key);
    bool good = ctx && openssl_start_decapsulation(ctx) &&
                EVP_PKEY_decapsulate(ctx, secret, secret_bytes, sealed, sealed_bytes) == 1;
    EVP_PKEY_CTX_free(ctx);
    return good || openssl_failed(operation, "decapsulate");
}

// `key` is the decapsulation key, `input` the bytes of its encapsulation key, `peer` those parsed.
static bool kem_prepare(struct tlc_stack_operation *operation)
{
    operation->key = openssl_make_key(operation);
    if (!operation->key || !openssl_public_bytes(operation->key, &operation->input))
        return openssl_failed(operation, "key generation");
    operation->peer = openssl_import(operation, &operation->input);
    return operation->peer || openssl_failed(operation, "parse of the encapsulation key");
}

static bool same_bytes(struct tlc_stack_operation *operation, EVP_PKEY *key)
{
    struct openssl_bytes bytes = {0};
    bool good = openssl_public_bytes(key, &bytes) && bytes.count == operation->input.count &&
                !memcmp(bytes.data, operation->input.data, bytes.count);
    OPENSSL_free(bytes.data);
    return good;
}

static bool parse_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY_free(operation->peer);
    operation->peer = openssl_import(operation, &operation->input);
    return operation->peer || openssl_failed(operation, "parse of the encapsulation key");
}

static bool parse_check(struct tlc_stack_operation *operation)
{
    return (operation->peer && same_bytes(operation, operation->peer)) ||
           openssl_failed(operation, "the parsed key is another");
}

// The ciphertext goes to `output`, the secret to `expected`.
static bool seal_to(struct tlc_stack_operation *operation, EVP_PKEY *key)
{
    operation->output_bytes = sizeof operation->output;
    operation->expected.count = SECRET;
    return openssl_encapsulate_to(operation, key, operation->output, &operation->output_bytes,
                                  operation->expected.data, &operation->expected.count);
}

static bool encapsulate_prepare(struct tlc_stack_operation *operation)
{
    operation->expected.data = OPENSSL_malloc(SECRET);
    return operation->expected.data && kem_prepare(operation);
}

static bool encapsulate_once(struct tlc_stack_operation *operation)
{
    return seal_to(operation, operation->peer);
}

static bool accept_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY *peer = openssl_import(operation, &operation->input);
    bool good = peer ? seal_to(operation, peer) : openssl_failed(operation, "parse of the share");
    EVP_PKEY_free(peer);
    return good;
}

// Opens `output` and compares with the secret in `expected`.
static bool opens(struct tlc_stack_operation *operation)
{
    unsigned char secret[SECRET];
    size_t count = sizeof secret;
    if (!openssl_decapsulate_by(operation, operation->key, operation->output,
                                operation->output_bytes, secret, &count))
        return false;
    return (count == operation->expected.count &&
            !memcmp(secret, operation->expected.data, count)) ||
           openssl_failed(operation, "the two sides have different secrets");
}

static bool decapsulate_prepare(struct tlc_stack_operation *operation)
{
    return encapsulate_prepare(operation) && encapsulate_once(operation);
}

const struct openssl_operation_kind openssl_parse = {NEEDS_KEY, kem_prepare, parse_once,
                                                     parse_check};
const struct openssl_operation_kind openssl_encapsulate = {NEEDS_KEY, encapsulate_prepare,
                                                           encapsulate_once, opens};
const struct openssl_operation_kind openssl_accept = {NEEDS_KEY, encapsulate_prepare, accept_once,
                                                      opens};
const struct openssl_operation_kind openssl_decapsulate = {NEEDS_KEY, decapsulate_prepare, opens,
                                                           NULL};

// ---- the round trip of study R: decapsulation key reused, encapsulation key imported each time,
// encapsulate, decapsulate, compare

static bool round_trip_once(struct tlc_stack_operation *operation)
{
    return accept_once(operation) && opens(operation);
}

const struct openssl_operation_kind openssl_kem_round_trip = {NEEDS_KEY, encapsulate_prepare,
                                                              round_trip_once, NULL};
