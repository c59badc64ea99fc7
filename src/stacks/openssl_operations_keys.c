// Key pairs and Diffie-Hellman: X25519, P-256, P-384, and the key shares of the hybrid groups.
#include <openssl/evp.h>
#include <string.h>

#include "stacks/openssl_operations.h"

enum { SECRET = 256 };

static bool is_kem(const struct tlc_stack_operation *operation)
{
    return strstr(operation->row->algorithm, "ML-KEM") ||
           strstr(operation->row->algorithm, "MLKEM");
}

EVP_PKEY *openssl_make_key(struct tlc_stack_operation *operation)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *maker = openssl_new_maker(operation->row, operation->library);
    if (maker && EVP_PKEY_keygen(maker, &key) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(maker);
    return key;
}

bool openssl_agree(struct tlc_stack_operation *operation, EVP_PKEY *own, EVP_PKEY *peer,
                   unsigned char *secret, size_t *count)
{
    EVP_PKEY_CTX *ctx = openssl_use_key(operation, own);
    bool good = ctx && EVP_PKEY_derive_init(ctx) == 1 && EVP_PKEY_derive_set_peer(ctx, peer) == 1 &&
                EVP_PKEY_derive(ctx, secret, count) == 1;
    EVP_PKEY_CTX_free(ctx);
    return good;
}

// Two keys agree when both sides come to one secret.
static bool both_agree(struct tlc_stack_operation *operation, EVP_PKEY *one, EVP_PKEY *other)
{
    unsigned char mine[SECRET], theirs[SECRET];
    size_t my_bytes = sizeof mine, their_bytes = sizeof theirs;
    if (!openssl_agree(operation, one, other, mine, &my_bytes) ||
        !openssl_agree(operation, other, one, theirs, &their_bytes))
        return openssl_failed(operation, "derive");
    if (my_bytes != their_bytes || memcmp(mine, theirs, my_bytes) != 0)
        return openssl_failed(operation, "the two sides have different secrets");
    return true;
}

// ---- key pairs

static bool keygen_prepare(struct tlc_stack_operation *operation)
{
    operation->key = openssl_make_key(operation);
    operation->maker = openssl_new_maker(operation->row, operation->library);
    return (operation->key && operation->maker) || openssl_failed(operation, "key generation");
}

// The key stays in `peer` until the next one, its public bytes in `input`.
static bool keep(struct tlc_stack_operation *operation, EVP_PKEY *made)
{
    EVP_PKEY_free(operation->peer);
    OPENSSL_free(operation->input.data);
    operation->input.data = NULL;
    operation->peer = made;
    return made && openssl_public_bytes(made, &operation->input)
               ? true
               : openssl_failed(operation, "key generation");
}

static bool keygen_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY *made = NULL;
    return EVP_PKEY_keygen(operation->maker, &made) == 1 ? keep(operation, made)
                                                         : openssl_failed(operation, "keygen");
}

static bool key_share_once(struct tlc_stack_operation *operation)
{
    return keep(operation, openssl_make_key(operation));
}

static bool kem_key_works(struct tlc_stack_operation *operation, EVP_PKEY *public_key)
{
    unsigned char sealed[4096], mine[SECRET], theirs[SECRET];
    size_t sealed_bytes = sizeof sealed, my_bytes = sizeof mine, their_bytes = sizeof theirs;
    return openssl_encapsulate_to(operation, public_key, sealed, &sealed_bytes, mine, &my_bytes) &&
           openssl_decapsulate_by(operation, operation->peer, sealed, sealed_bytes, theirs,
                                  &their_bytes) &&
           my_bytes == their_bytes && memcmp(mine, theirs, my_bytes) == 0;
}

// The last key pair is checked by what it is for: an agreement over the bytes that were sent.
static bool keygen_check(struct tlc_stack_operation *operation)
{
    EVP_PKEY *sent = operation->peer ? openssl_import(operation, &operation->input) : NULL;
    bool good = false;
    if (sent && is_kem(operation))
        good = kem_key_works(operation, sent);
    else if (sent) {
        unsigned char mine[SECRET], theirs[SECRET];
        size_t my_bytes = sizeof mine, their_bytes = sizeof theirs;
        good = openssl_agree(operation, operation->peer, operation->key, mine, &my_bytes) &&
               openssl_agree(operation, operation->key, sent, theirs, &their_bytes) &&
               my_bytes == their_bytes && memcmp(mine, theirs, my_bytes) == 0;
    }
    EVP_PKEY_free(sent);
    return good || openssl_failed(operation, "the last key pair does not agree with another");
}

const struct openssl_operation_kind openssl_keygen = {NEEDS_KEY, keygen_prepare, keygen_once,
                                                      keygen_check};
const struct openssl_operation_kind openssl_key_share = {NEEDS_KEY, keygen_prepare, key_share_once,
                                                         keygen_check};

// ---- agreement

static bool derive_prepare(struct tlc_stack_operation *operation)
{
    size_t count = SECRET;
    operation->key = openssl_make_key(operation);
    operation->peer = openssl_make_key(operation);
    operation->expected.data = OPENSSL_malloc(SECRET);
    if (!operation->key || !operation->peer || !operation->expected.data ||
        !openssl_public_bytes(operation->peer, &operation->input) ||
        !openssl_agree(operation, operation->peer, operation->key, operation->expected.data,
                       &count))
        return openssl_failed(operation, "derive");
    operation->expected.count = count;
    return true;
}

static bool derive_once(struct tlc_stack_operation *operation)
{
    operation->output_bytes = sizeof operation->output;
    EVP_PKEY *peer = openssl_import(operation, &operation->input);
    bool good = peer && openssl_agree(operation, operation->key, peer, operation->output,
                                      &operation->output_bytes);
    EVP_PKEY_free(peer);
    if (!good)
        return openssl_failed(operation, "derive");
    if (operation->output_bytes != operation->expected.count ||
        memcmp(operation->output, operation->expected.data, operation->expected.count) != 0)
        return openssl_failed(operation, "derive: a wrong secret");
    return true;
}

const struct openssl_operation_kind openssl_derive = {NEEDS_EXCHANGE, derive_prepare, derive_once,
                                                      NULL};

// ---- the round trip of study R: server key reused, fresh client key, both sides derive, compare

static bool round_trip_prepare(struct tlc_stack_operation *operation)
{
    operation->key = openssl_make_key(operation);
    return operation->key || openssl_failed(operation, "key generation");
}

static bool round_trip_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY *client = openssl_make_key(operation);
    bool good = client && both_agree(operation, client, operation->key);
    EVP_PKEY_free(client);
    return good;
}

const struct openssl_operation_kind openssl_ecdh_round_trip = {NEEDS_EXCHANGE, round_trip_prepare,
                                                               round_trip_once, NULL};
