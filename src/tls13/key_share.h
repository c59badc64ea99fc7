// Key shares of every group the lean client offers (RFC 8446, 4.2.8; draft-ietf-tls-ecdhe-mlkem;
// draft-ietf-tls-mlkem). A group has a curve, a KEM, or both; a hybrid's parts stand in the share
// and in the secret in the same order.
#ifndef TLC_TLS13_KEY_SHARE_H
#define TLC_TLS13_KEY_SHARE_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum tlc_curve {
    TLC_CURVE_NONE,
    TLC_CURVE_X25519,
    TLC_CURVE_P256,
    TLC_CURVE_P384,
    TLC_CURVE_P521,
    TLC_CURVE_COUNT
};
enum tlc_kem { TLC_KEM_NONE, TLC_KEM_MLKEM768, TLC_KEM_MLKEM1024, TLC_KEM_COUNT };

struct tlc_group {
    enum tlc_curve curve;
    enum tlc_kem kem;
    uint16_t code;
    bool kem_first;
};

#define TLC_SHARE_MAX_BYTES  (97 + 1568)
#define TLC_SECRET_MAX_BYTES (66 + 32)

struct tlc_curve_sizes {
    const char *algorithm, *group; // libcrypto's names; group NULL: the algorithm has one group
    size_t share_bytes, secret_bytes;
};
struct tlc_kem_sizes {
    const char *algorithm;
    size_t key_bytes, ciphertext_bytes; // FIPS 203, table 3
    unsigned rank, dv;                  // FIPS 203, table 2: k and d_v
};
#define TLC_KEM_SECRET_BYTES 32

const struct tlc_group *tlc_group_find(uint16_t code); // NULL: not served
const struct tlc_curve_sizes *tlc_curve_sizes(enum tlc_curve curve);
const struct tlc_kem_sizes *tlc_kem_sizes(enum tlc_kem kem);
size_t tlc_group_client_bytes(const struct tlc_group *group);

// The server's share split into its parts. False when its size is not the group's.
struct tlc_server_share {
    const uint8_t *curve, *kem;
};
bool tlc_server_share_split(const struct tlc_group *group, const uint8_t *share, size_t count,
                            struct tlc_server_share *parts) TLC_CHECKED;
// Where the parts of a client's share, or of the secret, stand.
size_t tlc_share_curve_offset(const struct tlc_group *group);
size_t tlc_share_kem_offset(const struct tlc_group *group);
size_t tlc_secret_curve_offset(const struct tlc_group *group);
size_t tlc_secret_kem_offset(const struct tlc_group *group);
size_t tlc_secret_bytes(const struct tlc_group *group);

// Key generation contexts, made once and used for every key pair.
struct tlc_key_maker {
    EVP_PKEY_CTX *curves[TLC_CURVE_COUNT], *kems[TLC_KEM_COUNT];
};
struct tlc_key_pair {
    EVP_PKEY *curve, *kem;
};

// Makes a key pair (freeing what `pair` held) and writes the client's share.
bool tlc_key_pair_make(struct tlc_key_maker *maker, const struct tlc_group *group,
                       struct tlc_key_pair *pair, uint8_t *share) TLC_CHECKED;
// The shared secret, tlc_secret_bytes long. False when the server's share is not valid.
bool tlc_key_pair_secret(const struct tlc_key_pair *pair, const struct tlc_group *group,
                         const struct tlc_server_share *parts, uint8_t *secret) TLC_CHECKED;
void tlc_key_pair_free(struct tlc_key_pair *pair);
void tlc_key_maker_free(struct tlc_key_maker *maker);

#endif
