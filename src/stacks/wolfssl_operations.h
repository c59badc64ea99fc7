// Private to the room.
// Raw operations of wolfCrypt (docs/speed.md), shared by the files that define them.
#ifndef TLC_STACKS_WOLFSSL_OPERATIONS_H
#define TLC_STACKS_WOLFSSL_OPERATIONS_H

#include "stacks/plain_operations.h"
#include "stacks/wolfssl_plugin.h"

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/ed25519.h>
#include <wolfssl/wolfcrypt/error-crypt.h>
#include <wolfssl/wolfcrypt/hash.h>
#include <wolfssl/wolfcrypt/rsa.h>
#ifdef WOLFSSL_HAVE_MLDSA
#include <wolfssl/wolfcrypt/wc_mldsa.h>
#endif
#ifdef WOLFSSL_HAVE_MLKEM
#include <wolfssl/wolfcrypt/wc_mlkem.h>
#endif

// The bytes of a public key of a curve, as they stand in a key share.
struct wolfssl_point {
    byte bytes[1 + 2 * 48];
    word32 count;
};

struct tlc_stack_operation {
    struct tlc_plain_operation plain; // `parameter` of a row is in wolfCrypt's numbers
    struct wolfssl_point sent, answer;
    byte agreed[TLC_PLAIN_SECRET]; // of the curve in a hybrid
    int kem;                       // type of ML-KEM
    WC_RNG rng;
    bool has_rng;
#ifdef HAVE_CURVE25519
    curve25519_key x25519, x25519_peer;
#endif
    ecc_key ecc, ecc_peer;
#ifdef HAVE_ED25519
    ed25519_key ed25519;
#endif
#ifdef WOLFSSL_HAVE_MLKEM
    MlKemKey mlkem, mlkem_peer;
#endif
#ifdef WOLFSSL_HAVE_MLDSA
    MlDsaKey mldsa;
#endif
    RsaKey rsa;
    wc_Sha256 sha256; // a running hash
    wc_Sha384 sha384;
    Aes aes;
    WOLFSSL_X509 *leaf; // a chain
    WOLF_STACK_OF(WOLFSSL_X509) * intermediates;
    WOLFSSL_X509_STORE *trust;
};

// wolfssl_operations_keys.c
extern const struct tlc_plain_kind wolfssl_x25519_keygen, wolfssl_x25519_share,
    wolfssl_x25519_derive, wolfssl_x25519_round_trip, wolfssl_ecc_keygen, wolfssl_ecc_share,
    wolfssl_ecc_derive, wolfssl_ecc_round_trip, wolfssl_ecdsa_sign, wolfssl_ecdsa_verify,
    wolfssl_ed25519_sign, wolfssl_ed25519_verify;
void wolfssl_ecc_free(struct tlc_stack_operation *operation);
// A new own key, its bytes as the answer, and its secret with the bytes that were sent.
bool wolfssl_x25519_accept(struct tlc_stack_operation *operation, byte *secret);
bool wolfssl_ecc_accept(struct tlc_stack_operation *operation, byte *secret);

// wolfssl_operations_mlkem.c
extern const struct tlc_plain_kind wolfssl_mlkem_keygen, wolfssl_mlkem_parsed,
    wolfssl_mlkem_encapsulate, wolfssl_mlkem_decapsulate, wolfssl_mlkem_round_trip;

// wolfssl_operations_hybrid.c: `parameter` of a row is a curve's number, or this one
enum { WOLFSSL_HYBRID_X25519 = -1 };
extern const struct tlc_plain_kind wolfssl_hybrid_share, wolfssl_hybrid_accept,
    wolfssl_hybrid_decapsulate;

// wolfssl_operations_mldsa.c, wolfssl_operations_rsa.c
extern const struct tlc_plain_kind wolfssl_mldsa_sign, wolfssl_mldsa_verify, wolfssl_rsa_sign,
    wolfssl_rsa_verify;

// wolfssl_operations_certificates.c
extern const struct tlc_plain_certificates wolfssl_certificates;

// wolfssl_operations_symmetric.c
extern const struct tlc_plain_kind wolfssl_seal_gcm, wolfssl_seal_chacha;
extern const struct tlc_plain_hash wolfssl_hash;
bool wolfssl_digest_nothing(struct tlc_stack_operation *operation, byte *out);
bool wolfssl_expand_label(struct tlc_stack_operation *operation, byte *out, const byte *key,
                          const char *label, const byte *context);
bool wolfssl_extract(struct tlc_stack_operation *operation, const byte *salt, const byte *key);

#endif
