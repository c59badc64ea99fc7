// Keys, agreement and signatures of curves by wolfCrypt (docs/speed.md).
#include <string.h>

#include "stacks/wolfssl_operations.h"

#ifdef HAVE_CURVE25519
// ---- X25519: keys and shares are little-endian, as TLS has them (RFC 7748, 5)

static bool x25519_make(struct tlc_stack_operation *operation, curve25519_key *key)
{
    int code = wc_curve25519_init(key);
#ifdef WOLFSSL_CURVE25519_BLINDING
    code = code ? code : wc_curve25519_set_rng(key, &operation->rng);
#endif
    code = code ? code : wc_curve25519_make_key(&operation->rng, CURVE25519_KEYSIZE, key);
    return tlc_plain_works(operation, "wc_curve25519_make_key", code);
}

static bool x25519_agree(struct tlc_stack_operation *operation, curve25519_key *own,
                         curve25519_key *peer, byte *secret)
{
    word32 count = CURVE25519_KEYSIZE;
    return tlc_plain_works(
        operation, "wc_curve25519_shared_secret",
        wc_curve25519_shared_secret_ex(own, peer, secret, &count, EC25519_LITTLE_ENDIAN));
}

static bool x25519_export(struct tlc_stack_operation *operation, curve25519_key *key,
                          struct wolfssl_point *point)
{
    point->count = sizeof point->bytes;
    return tlc_plain_works(
        operation, "wc_curve25519_export_public",
        wc_curve25519_export_public_ex(key, point->bytes, &point->count, EC25519_LITTLE_ENDIAN));
}

static bool x25519_send(struct tlc_stack_operation *operation)
{
    return x25519_export(operation, &operation->x25519_peer, &operation->sent);
}

// The key of the bytes that were sent, and the own key's secret with it.
static bool x25519_take(struct tlc_stack_operation *operation, byte *secret)
{
    curve25519_key sent;
    int code = wc_curve25519_init(&sent);
    code = code ? code
                : wc_curve25519_import_public_ex(operation->sent.bytes, operation->sent.count,
                                                 &sent, EC25519_LITTLE_ENDIAN);
    bool good = tlc_plain_works(operation, "wc_curve25519_import_public", code) &&
                x25519_agree(operation, &operation->x25519, &sent, secret);
    wc_curve25519_free(&sent);
    return good;
}

static bool x25519_give(struct tlc_stack_operation *operation, byte *secret)
{
    return x25519_agree(operation, &operation->x25519_peer, &operation->x25519, secret);
}

static bool x25519_prepare(struct tlc_stack_operation *operation)
{
    return x25519_make(operation, &operation->x25519) &&
           x25519_make(operation, &operation->x25519_peer) && x25519_send(operation) &&
           x25519_give(operation, operation->plain.expected);
}

// Into the key that is there.
static bool x25519_keygen_once(struct tlc_stack_operation *operation)
{
    return tlc_plain_works(operation, "wc_curve25519_make_key",
                           wc_curve25519_make_key(&operation->rng, CURVE25519_KEYSIZE,
                                                  &operation->x25519_peer)) &&
           x25519_send(operation);
}

static bool x25519_renew(struct tlc_stack_operation *operation)
{
    wc_curve25519_free(&operation->x25519_peer);
    return x25519_make(operation, &operation->x25519_peer);
}

static bool x25519_meet(struct tlc_stack_operation *operation, byte *secret)
{
    return x25519_agree(operation, &operation->x25519, &operation->x25519_peer, secret);
}

static bool x25519_share_once(struct tlc_stack_operation *operation)
{
    return x25519_renew(operation) && x25519_send(operation);
}

bool wolfssl_x25519_accept(struct tlc_stack_operation *operation, byte *secret)
{
    wc_curve25519_free(&operation->x25519);
    return x25519_make(operation, &operation->x25519) &&
           x25519_export(operation, &operation->x25519, &operation->answer) &&
           x25519_take(operation, secret);
}

static void x25519_free(struct tlc_stack_operation *operation)
{
    wc_curve25519_free(&operation->x25519);
    wc_curve25519_free(&operation->x25519_peer);
}

static const struct tlc_plain_exchange x25519_exchange = {x25519_take, x25519_give, x25519_renew,
                                                          x25519_meet};
const struct tlc_plain_kind wolfssl_x25519_keygen = {x25519_prepare, x25519_keygen_once,
                                                     tlc_plain_check_share, x25519_free,
                                                     &x25519_exchange},
                            wolfssl_x25519_share = {x25519_prepare, x25519_share_once,
                                                    tlc_plain_check_share, x25519_free,
                                                    &x25519_exchange},
                            wolfssl_x25519_derive = {x25519_prepare, tlc_plain_derive, NULL,
                                                     x25519_free, &x25519_exchange},
                            wolfssl_x25519_round_trip = {x25519_prepare, tlc_plain_round_trip, NULL,
                                                         x25519_free, &x25519_exchange};
#endif

// ---- P-256 and P-384

static int ecc_fill(struct tlc_stack_operation *operation, ecc_key *key)
{
    int code = wc_ecc_make_key_ex(&operation->rng, (int)operation->plain.row->size, key,
                                  operation->plain.row->parameter);
#ifdef ECC_TIMING_RESISTANT
    code = code ? code : wc_ecc_set_rng(key, &operation->rng);
#endif
    return code;
}

static bool ecc_make(struct tlc_stack_operation *operation, ecc_key *key)
{
    int code = wc_ecc_init(key);
    return tlc_plain_works(operation, "wc_ecc_make_key", code ? code : ecc_fill(operation, key));
}

static bool ecc_agree(struct tlc_stack_operation *operation, ecc_key *own, ecc_key *peer,
                      byte *secret)
{
    word32 count = TLC_PLAIN_SECRET;
    return tlc_plain_works(operation, "wc_ecc_shared_secret",
                           wc_ecc_shared_secret(own, peer, secret, &count));
}

static bool ecc_export(struct tlc_stack_operation *operation, ecc_key *key,
                       struct wolfssl_point *point)
{
    point->count = sizeof point->bytes;
    return tlc_plain_works(operation, "wc_ecc_export_x963",
                           wc_ecc_export_x963(key, point->bytes, &point->count));
}

static bool ecc_send(struct tlc_stack_operation *operation)
{
    return ecc_export(operation, &operation->ecc_peer, &operation->sent);
}

static bool ecc_take(struct tlc_stack_operation *operation, byte *secret)
{
    ecc_key sent;
    int code = wc_ecc_init(&sent);
    code = code ? code
                : wc_ecc_import_x963_ex(operation->sent.bytes, operation->sent.count, &sent,
                                        operation->plain.row->parameter);
    bool good = tlc_plain_works(operation, "wc_ecc_import_x963", code) &&
                ecc_agree(operation, &operation->ecc, &sent, secret);
    wc_ecc_free(&sent);
    return good;
}

static bool ecc_give(struct tlc_stack_operation *operation, byte *secret)
{
    return ecc_agree(operation, &operation->ecc_peer, &operation->ecc, secret);
}

static bool ecc_prepare(struct tlc_stack_operation *operation)
{
    return ecc_make(operation, &operation->ecc) && ecc_make(operation, &operation->ecc_peer) &&
           ecc_send(operation) && ecc_give(operation, operation->plain.expected);
}

// Into the key that is there.
static bool ecc_keygen_once(struct tlc_stack_operation *operation)
{
    return tlc_plain_works(operation, "wc_ecc_make_key",
                           ecc_fill(operation, &operation->ecc_peer)) &&
           ecc_send(operation);
}

static bool ecc_renew(struct tlc_stack_operation *operation)
{
    wc_ecc_free(&operation->ecc_peer);
    return ecc_make(operation, &operation->ecc_peer);
}

static bool ecc_meet(struct tlc_stack_operation *operation, byte *secret)
{
    return ecc_agree(operation, &operation->ecc, &operation->ecc_peer, secret);
}

static bool ecc_share_once(struct tlc_stack_operation *operation)
{
    return ecc_renew(operation) && ecc_send(operation);
}

bool wolfssl_ecc_accept(struct tlc_stack_operation *operation, byte *secret)
{
    wc_ecc_free(&operation->ecc);
    return ecc_make(operation, &operation->ecc) &&
           ecc_export(operation, &operation->ecc, &operation->answer) &&
           ecc_take(operation, secret);
}

void wolfssl_ecc_free(struct tlc_stack_operation *operation)
{
    wc_ecc_free(&operation->ecc);
    wc_ecc_free(&operation->ecc_peer);
}

static const struct tlc_plain_exchange ecc_exchange = {ecc_take, ecc_give, ecc_renew, ecc_meet};
const struct tlc_plain_kind wolfssl_ecc_keygen = {ecc_prepare, ecc_keygen_once,
                                                  tlc_plain_check_share, wolfssl_ecc_free,
                                                  &ecc_exchange},
                            wolfssl_ecc_share = {ecc_prepare, ecc_share_once, tlc_plain_check_share,
                                                 wolfssl_ecc_free, &ecc_exchange},
                            wolfssl_ecc_derive = {ecc_prepare, tlc_plain_derive, NULL,
                                                  wolfssl_ecc_free, &ecc_exchange},
                            wolfssl_ecc_round_trip = {ecc_prepare, tlc_plain_round_trip, NULL,
                                                      wolfssl_ecc_free, &ecc_exchange};

// ---- signatures of CertificateVerify

static bool ecdsa_hash(struct tlc_stack_operation *operation, byte *hash)
{
    int code = operation->plain.row->size == WC_SHA256_DIGEST_SIZE
                   ? wc_Sha256Hash(operation->plain.input, operation->plain.input_bytes, hash)
                   : wc_Sha384Hash(operation->plain.input, operation->plain.input_bytes, hash);
    return tlc_plain_works(operation, "digest", code);
}

static bool ecdsa_sign_once(struct tlc_stack_operation *operation)
{
    byte hash[TLC_PLAIN_SECRET];
    operation->plain.output_bytes = TLC_PLAIN_BYTES;
    return ecdsa_hash(operation, hash) &&
           tlc_plain_works(operation, "wc_ecc_sign_hash",
                           wc_ecc_sign_hash(hash, (word32)operation->plain.row->size,
                                            operation->plain.output, &operation->plain.output_bytes,
                                            &operation->rng, &operation->ecc));
}

static bool ecdsa_verify_once(struct tlc_stack_operation *operation)
{
    byte hash[TLC_PLAIN_SECRET];
    int good = 0;
    return ecdsa_hash(operation, hash) &&
           tlc_plain_works(
               operation, "wc_ecc_verify_hash",
               wc_ecc_verify_hash(operation->plain.output, operation->plain.output_bytes, hash,
                                  (word32)operation->plain.row->size, &good, &operation->ecc)) &&
           tlc_plain_is_right(operation, "the signature does not verify", good == 1);
}

static bool ecdsa_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, operation->plain.row->size);
    return ecc_make(operation, &operation->ecc) && ecdsa_sign_once(operation);
}

const struct tlc_plain_kind wolfssl_ecdsa_sign = {ecdsa_prepare, ecdsa_sign_once, ecdsa_verify_once,
                                                  wolfssl_ecc_free, NULL},
                            wolfssl_ecdsa_verify = {ecdsa_prepare, ecdsa_verify_once, NULL,
                                                    wolfssl_ecc_free, NULL};

#ifdef HAVE_ED25519
static bool ed25519_sign_once(struct tlc_stack_operation *operation)
{
    operation->plain.output_bytes = TLC_PLAIN_BYTES;
    return tlc_plain_works(operation, "wc_ed25519_sign_msg",
                           wc_ed25519_sign_msg(operation->plain.input, operation->plain.input_bytes,
                                               operation->plain.output,
                                               &operation->plain.output_bytes,
                                               &operation->ed25519));
}

static bool ed25519_verify_once(struct tlc_stack_operation *operation)
{
    int good = 0;
    return tlc_plain_works(
               operation, "wc_ed25519_verify_msg",
               wc_ed25519_verify_msg(operation->plain.output, operation->plain.output_bytes,
                                     operation->plain.input, operation->plain.input_bytes, &good,
                                     &operation->ed25519)) &&
           tlc_plain_is_right(operation, "the signature does not verify", good == 1);
}

static bool ed25519_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, WC_SHA256_DIGEST_SIZE);
    int code = wc_ed25519_init(&operation->ed25519);
    code =
        code ? code : wc_ed25519_make_key(&operation->rng, ED25519_KEY_SIZE, &operation->ed25519);
    return tlc_plain_works(operation, "wc_ed25519_make_key", code) && ed25519_sign_once(operation);
}

static void ed25519_free(struct tlc_stack_operation *operation)
{
    wc_ed25519_free(&operation->ed25519);
}

const struct tlc_plain_kind wolfssl_ed25519_sign = {ed25519_prepare, ed25519_sign_once,
                                                    ed25519_verify_once, ed25519_free, NULL},
                            wolfssl_ed25519_verify = {ed25519_prepare, ed25519_verify_once, NULL,
                                                      ed25519_free, NULL};
#endif
