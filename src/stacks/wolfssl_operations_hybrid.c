// The hybrid groups (docs/speed.md). wolfCrypt has no key for them: its TLS makes a share of a
// curve's key and one of ML-KEM, and so do these. The two parts stay in buffers of their own.
#include <string.h>

#include "stacks/wolfssl_operations.h"

#ifdef WOLFSSL_HAVE_MLKEM
struct curve {
    const struct tlc_plain_kind *share;
    bool (*accept)(struct tlc_stack_operation *operation, byte *secret);
};

static const struct curve *curve_of(const struct tlc_stack_operation *operation)
{
#ifdef HAVE_CURVE25519
    static const struct curve x25519 = {&wolfssl_x25519_share, wolfssl_x25519_accept};
    if (operation->plain.row->parameter == WOLFSSL_HYBRID_X25519)
        return &x25519;
#endif
    static const struct curve ecc = {&wolfssl_ecc_share, wolfssl_ecc_accept};
    return operation ? &ecc : NULL;
}

// Afterwards a share is sent, and what an answer to it agrees on is known.
static bool prepare(struct tlc_stack_operation *operation)
{
    size_t bytes = operation->plain.row->size;
    operation->kem = bytes == 48 ? WC_ML_KEM_1024 : WC_ML_KEM_768;
    if (!curve_of(operation)->share->prepare(operation))
        return false;
    memcpy(operation->agreed, operation->plain.expected, bytes);
    return wolfssl_mlkem_keygen.prepare(operation);
}

static void free_keys(struct tlc_stack_operation *operation)
{
    curve_of(operation)->share->free(operation);
    wolfssl_mlkem_keygen.free(operation);
}

static bool agrees(struct tlc_stack_operation *operation, const byte *secret)
{
    return tlc_plain_is_right(operation, "the two sides have different secrets",
                              !memcmp(secret, operation->agreed, operation->plain.row->size));
}

// ---- the client's share

static bool share_once(struct tlc_stack_operation *operation)
{
    return wolfssl_mlkem_keygen.once(operation) && curve_of(operation)->share->once(operation);
}

static bool share_check(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_exchange *exchange = curve_of(operation)->share->exchange;
    byte secret[TLC_PLAIN_SECRET];
    return wolfssl_mlkem_keygen.check(operation) && exchange->take(operation, operation->agreed) &&
           exchange->give(operation, secret) && agrees(operation, secret);
}

// ---- the server's parse of it, and its own share

static bool accept_once(struct tlc_stack_operation *operation)
{
    return wolfssl_mlkem_parsed.once(operation) && wolfssl_mlkem_encapsulate.once(operation) &&
           curve_of(operation)->accept(operation, operation->agreed);
}

static bool accept_check(struct tlc_stack_operation *operation)
{
    byte secret[TLC_PLAIN_SECRET];
    return wolfssl_mlkem_encapsulate.check(operation) &&
           curve_of(operation)->share->exchange->give(operation, secret) &&
           agrees(operation, secret);
}

// ---- the client's end: here the own key of the curve is the client's, and what was sent is the
// server's

static bool decapsulate_once(struct tlc_stack_operation *operation)
{
    byte secret[TLC_PLAIN_SECRET];
    return wolfssl_mlkem_decapsulate.once(operation) &&
           curve_of(operation)->share->exchange->take(operation, secret) &&
           agrees(operation, secret);
}

const struct tlc_plain_kind wolfssl_hybrid_share = {prepare, share_once, share_check, free_keys,
                                                    NULL},
                            wolfssl_hybrid_accept = {prepare, accept_once, accept_check, free_keys,
                                                     NULL},
                            wolfssl_hybrid_decapsulate = {prepare, decapsulate_once, NULL,
                                                          free_keys, NULL};
#endif
