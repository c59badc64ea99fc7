// One direction of record protection (RFC 8446, 5.2 and 5.3).
#ifndef TLC_TLS13_AEAD_H
#define TLC_TLS13_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls13/suite.h"

struct tlc_aead {
    EVP_CIPHER_CTX *context; // kept over handshakes; NULL until first used
    const struct tlc_suite *suite;
    bool sealing;
    uint8_t iv[TLC_AEAD_IV_BYTES];
    uint64_t sequence;
};

// Takes keys of a traffic secret and restarts the sequence. False when libcrypto fails.
bool tlc_aead_set_key(struct tlc_aead *aead, const struct tlc_suite *suite, bool sealing,
                      const uint8_t *key, const uint8_t *iv) TLC_CHECKED;
// `output` gets count + TLC_AEAD_TAG_BYTES bytes; it may be `input` itself.
bool tlc_aead_seal(struct tlc_aead *aead, const uint8_t header[5], const uint8_t *input,
                   size_t count, uint8_t *output) TLC_CHECKED;
// `output` gets count - TLC_AEAD_TAG_BYTES bytes. False when the tag does not match.
bool tlc_aead_open(struct tlc_aead *aead, const uint8_t header[5], const uint8_t *input,
                   size_t count, uint8_t *output) TLC_CHECKED;
void tlc_aead_free(struct tlc_aead *aead);

#endif
