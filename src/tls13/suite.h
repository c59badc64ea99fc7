// The TLS 1.3 cipher suites of the lean client (RFC 8446, B.4).
#ifndef TLC_TLS13_SUITE_H
#define TLC_TLS13_SUITE_H

#include <openssl/evp.h>
#include <stdint.h>

#include "base/error.h"
#include "tls13/hash.h"

#define TLC_AEAD_TAG_BYTES 16
#define TLC_AEAD_IV_BYTES  12

struct tlc_suite {
    uint16_t code;
    enum tlc_hash_kind hash;
    uint8_t key_bytes;
    uint8_t index;         // place in the table
    const char *algorithm; // libcrypto's name of the AEAD
};

const struct tlc_suite *tlc_suite_find(uint16_t code); // NULL: not a suite of the lean client

// Fetches everything that handshakes use from libcrypto, once in the process.
enum tlc_status tlc_algorithms_fetch(struct tlc_error *error) TLC_CHECKED;
// Valid after tlc_algorithms_fetch.
const EVP_CIPHER *tlc_suite_cipher(const struct tlc_suite *suite);
const EVP_MD *tlc_sha3_512(void);
const EVP_MD *tlc_sha3_256(void);

#endif
