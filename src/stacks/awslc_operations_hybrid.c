// The hybrid groups (docs/speed.md). AWS-LC has no key for them: its libssl makes a share of a
// curve's key and one of ML-KEM, and so do these. The two parts stay in buffers of their own.
#include <openssl/evp.h>
#include <openssl/mem.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/awslc_operations.h"

enum { KEM, CURVE, HALVES };

static const struct hybrid {
    const char *name;
    struct openssl_operation_row half[HALVES];
} hybrids[] = {
    {"X25519MLKEM768",
     {{.algorithm = "ML-KEM-768", .detail = "ML-KEM-768"},
      {.algorithm = "X25519", .detail = "X25519"}}},
    {"SecP256r1MLKEM768",
     {{.algorithm = "ML-KEM-768", .detail = "ML-KEM-768"},
      {.algorithm = "EC", .detail = "prime256v1"}}},
    {"SecP384r1MLKEM1024",
     {{.algorithm = "ML-KEM-1024", .detail = "ML-KEM-1024"},
      {.algorithm = "EC", .detail = "secp384r1"}}},
};

static const struct hybrid *hybrid_of(const struct openssl_operation_row *row)
{
    for (size_t i = 0; i < sizeof hybrids / sizeof *hybrids; i++)
        if (!strcmp(hybrids[i].name, row->algorithm))
            return &hybrids[i];
    return NULL;
}

// Passes on what a half says; its words stay.
static bool is_well(struct tlc_stack_operation *operation, int half, bool good)
{
    return good || openssl_failed(operation, operation->half[half]->failed);
}

static bool once(struct tlc_stack_operation *operation, int half)
{
    struct tlc_stack_operation *part = operation->half[half];
    return is_well(operation, half, part->kind->once(part));
}

static bool check(struct tlc_stack_operation *operation, int half)
{
    struct tlc_stack_operation *part = operation->half[half];
    return is_well(operation, half, part->kind->check(part));
}

static bool prepare(struct tlc_stack_operation *operation,
                    const struct openssl_operation_kind *const kinds[HALVES])
{
    const struct hybrid *hybrid = hybrid_of(operation->row);
    for (int i = 0; i < HALVES; i++) {
        struct tlc_stack_operation *part = operation->half[i] = calloc(1, sizeof *part);
        if (!part)
            return openssl_failed(operation, "operation: out of memory");
        part->row = &hybrid->half[i];
        part->kind = kinds[i];
        if (!is_well(operation, i, part->kind->prepare(part)))
            return false;
    }
    return true;
}

static bool both(struct tlc_stack_operation *operation)
{
    return once(operation, KEM) && once(operation, CURVE);
}

// ---- the client's share

static bool share_prepare(struct tlc_stack_operation *operation)
{
    return prepare(operation, (const struct openssl_operation_kind *const[HALVES]){
                                  &openssl_key_share, &openssl_key_share});
}

static bool share_check(struct tlc_stack_operation *operation)
{
    return check(operation, KEM) && check(operation, CURVE);
}

// ---- the server's parse of it, and its own share

// Of the curve's half `peer` is the client's key pair and `input` what it sent, `key` the server's
// own pair, made in each.
static bool accept_prepare(struct tlc_stack_operation *operation)
{
    return prepare(operation, (const struct openssl_operation_kind *const[HALVES]){
                                  &openssl_accept, &openssl_derive});
}

static bool curve_accept(struct tlc_stack_operation *part)
{
    struct openssl_bytes sent = {0};
    EVP_PKEY *client = openssl_import(part, &part->input);
    EVP_PKEY_free(part->key);
    part->key = openssl_make_key(part);
    part->output_bytes = sizeof part->output;
    bool good = client && part->key && openssl_public_bytes(part->key, &sent) &&
                openssl_agree(part, part->key, client, part->output, &part->output_bytes);
    EVP_PKEY_free(client);
    OPENSSL_free(sent.data);
    return good || openssl_failed(part, "the server's share of the curve");
}

static bool accept_once(struct tlc_stack_operation *operation)
{
    return once(operation, KEM) && is_well(operation, CURVE, curve_accept(operation->half[CURVE]));
}

static bool accept_check(struct tlc_stack_operation *operation)
{
    struct tlc_stack_operation *curve = operation->half[CURVE];
    unsigned char secret[256];
    size_t count = sizeof secret;
    return check(operation, KEM) &&
           ((openssl_agree(curve, curve->peer, curve->key, secret, &count) &&
             count == curve->output_bytes && !memcmp(secret, curve->output, count)) ||
            openssl_failed(operation, "the two sides have different secrets"));
}

// ---- the client's end

static bool decapsulate_prepare(struct tlc_stack_operation *operation)
{
    return prepare(operation, (const struct openssl_operation_kind *const[HALVES]){
                                  &openssl_decapsulate, &openssl_derive});
}

const struct openssl_operation_kind *awslc_hybrid_kind(const struct openssl_operation_row *row)
{
    static const struct openssl_operation_kind share = {NEEDS_KEY, share_prepare, both,
                                                        share_check},
                                               accept = {NEEDS_KEY, accept_prepare, accept_once,
                                                         accept_check},
                                               decapsulate = {NEEDS_KEY, decapsulate_prepare, both,
                                                              NULL};
    return !hybrid_of(row)                   ? NULL
           : row->kind == &openssl_accept    ? &accept
           : row->kind == &openssl_key_share ? &share
                                             : &decapsulate;
}
