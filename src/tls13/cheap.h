// Cheap key shares: valid shares that cost the server all its work and the client almost none.
//
// Curves: the client's public value is the base point, its secret the integer 1, so the shared
// secret is the server's own share (its x coordinate on a NIST curve). X25519 (RFC 7748, 5) clamps
// a scalar when it is decoded from bytes; our scalar is never decoded, and the server computes
// X25519(s, 9), which is exactly the public value it sends.
//
// ML-KEM: an encapsulation key with t = 0, which passes the checks of FIPS 203, 7.2, and whose
// secret vector s is zero. K-PKE.Decrypt (algorithm 15) then computes w = v' - s^T u' = v', so
// decapsulation (algorithm 18) is decoding v, Compress_1, and (K, r) = G(m' || H(ek)). The
// re-encryption check is left out: a wrong K fails at the server's Finished.
#ifndef TLC_TLS13_CHEAP_H
#define TLC_TLS13_CHEAP_H

#include "tls13/client.h"
#include "tls13/key_share.h"

struct tlc_cheap {
    uint8_t share[TLC_SHARE_MAX_BYTES]; // the same for every handshake
    uint8_t key_hash[32];               // H(ek)
    EVP_MD_CTX *hash;                   // for G
};

bool tlc_cheap_make(const struct tlc_group *group, struct tlc_cheap *cheap) TLC_CHECKED;
// Makes a cheap share into one that servers must refuse; false when the group has no such part.
bool tlc_cheap_spoil(const struct tlc_group *group, enum tlc_share share,
                     struct tlc_cheap *cheap) TLC_CHECKED;
bool tlc_cheap_secret(const struct tlc_cheap *cheap, const struct tlc_group *group,
                      const struct tlc_server_share *parts, uint8_t *secret) TLC_CHECKED;
void tlc_cheap_free(struct tlc_cheap *cheap);

#endif
