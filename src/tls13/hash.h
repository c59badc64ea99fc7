// SHA-256 and SHA-384 states, HMAC (RFC 2104) and HKDF (RFC 5869) on top of them.
//
// The raw SHA-2 functions of libcrypto are used because their state is a plain struct: a snapshot
// of the transcript or a keyed HMAC state is an assignment, without allocation and without a
// provider's dispatch, and a handshake needs some 30 of them.
#ifndef TLC_TLS13_HASH_H
#define TLC_TLS13_HASH_H

#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

#define TLC_HASH_MAX_BYTES 48

enum tlc_hash_kind { TLC_HASH_SHA256, TLC_HASH_SHA384 };

struct tlc_hash {
    enum tlc_hash_kind kind;
    union {
        SHA256_CTX sha256;
        SHA512_CTX sha384;
    } state;
};

size_t tlc_hash_bytes(enum tlc_hash_kind kind);
void tlc_hash_init(struct tlc_hash *hash, enum tlc_hash_kind kind);
void tlc_hash_update(struct tlc_hash *hash, const uint8_t *bytes, size_t count);
// The digest so far; the state may go on.
void tlc_hash_snapshot(const struct tlc_hash *hash, uint8_t *digest);

// HMAC with the key already absorbed, so that one key can serve several messages.
struct tlc_hmac_key {
    struct tlc_hash inner, outer;
};

void tlc_hmac_key_init(struct tlc_hmac_key *key, enum tlc_hash_kind kind, const uint8_t *secret,
                       size_t count);
void tlc_hmac(const struct tlc_hmac_key *key, const uint8_t *bytes, size_t count, uint8_t *mac);

// HKDF-Expand-Label (RFC 8446, 7.1) for outputs of at most one hash block; `label` comes without
// "tls13 ".
void tlc_expand_label(const struct tlc_hmac_key *secret, const char *label, const uint8_t *context,
                      size_t context_bytes, uint8_t *output, size_t output_bytes);

#endif
