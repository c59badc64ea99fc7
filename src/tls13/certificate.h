// The server's leaf and its CertificateVerify (RFC 8446, 4.4.3).
#ifndef TLC_TLS13_CERTIFICATE_H
#define TLC_TLS13_CERTIFICATE_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls13/buffer.h"

// The leaf seen last, so that an unchanged certificate is compared, not hashed and parsed again.
struct tlc_leaf_cache {
    struct tlc_buffer der;
    uint8_t sha256[32];
    EVP_PKEY *key; // NULL until a signature was verified
};

// Makes `der` the cached leaf unless it is already. False when memory runs out.
bool tlc_leaf_cache_take(struct tlc_leaf_cache *cache, const uint8_t *der,
                         size_t count) TLC_CHECKED;
void tlc_leaf_cache_free(struct tlc_leaf_cache *cache);

// Signature schemes for the ClientHello, in order; CertificateVerify may use those that
// tlc_signature_allowed accepts, the others are for certificates only.
extern const uint16_t tlc_signature_schemes[];
extern const size_t tlc_signature_scheme_count;
bool tlc_signature_allowed(uint16_t scheme);

// Verifies a server's CertificateVerify with the cached leaf's key. NULL when it holds, else what
// is wrong.
const char *tlc_signature_verify(struct tlc_leaf_cache *cache, uint16_t scheme,
                                 const uint8_t *digest, size_t digest_bytes,
                                 const uint8_t *signature, size_t count) TLC_CHECKED;

#endif
