// One direction of record protection (RFC 8446, 5.2 and 5.3).
#ifndef TLC_TLS13_AEAD_H
#define TLC_TLS13_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tls13/suite.h"

struct tlc_aead;

// libcrypto's context, kept over handshakes and shared by any number of directions of one thread:
// it is some 1.5 KiB that would otherwise be cold in each of them. All bytes zero to begin with.
struct tlc_aead_engine {
    EVP_CIPHER_CTX *context;
    const struct tlc_suite *suite; // that the context is made for
    const struct tlc_aead *holder; // whose key it has
};

void tlc_aead_engine_free(struct tlc_aead_engine *engine);

struct tlc_aead {
    struct tlc_aead_engine *engine;
    const struct tlc_suite *suite;
    bool sealing, loaded; // loaded: the engine has had the key
    uint8_t key[32], iv[TLC_AEAD_IV_BYTES];
    uint64_t sequence;
};

// Takes keys of a traffic secret and restarts the sequence. The engine, which serves one kind of
// direction only, must outlive the use of the keys. False when memory runs out.
bool tlc_aead_set_key(struct tlc_aead *aead, struct tlc_aead_engine *engine,
                      const struct tlc_suite *suite, bool sealing, const uint8_t *key,
                      const uint8_t *iv) TLC_CHECKED;
// `output` gets count + TLC_AEAD_TAG_BYTES bytes; it may be `input` itself.
bool tlc_aead_seal(struct tlc_aead *aead, const uint8_t header[5], const uint8_t *input,
                   size_t count, uint8_t *output) TLC_CHECKED;
// `output` gets count - TLC_AEAD_TAG_BYTES bytes. False when the tag does not match.
bool tlc_aead_open(struct tlc_aead *aead, const uint8_t header[5], const uint8_t *input,
                   size_t count, uint8_t *output) TLC_CHECKED;

#endif
