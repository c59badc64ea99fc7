// An OpenSSL provider that serves X25519 from src/primitives. Private to the room.
//
// The module uses nothing of libcrypto but its headers: the libcrypto that loads it may be hidden
// inside a plug-in, and another one may be in the same process.
#ifndef TLC_PROVIDERS_X25519_PROVIDER_H
#define TLC_PROVIDERS_X25519_PROVIDER_H

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/x25519.h"

// Reasons of errors, told to the library under these numbers.
enum x25519_reason {
    X25519_SELF_CHECK = 1,
    X25519_PARAMETER,
    X25519_NO_RANDOM,
    X25519_NO_KEY,
    X25519_KEY_SIZE,
    X25519_ZERO_SECRET,
    X25519_NO_MEMORY,
    X25519_REASONS
};

struct x25519_provider {
    const OSSL_CORE_HANDLE *core;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    const struct tlc_x25519_backend *backend;
    bool variable_base;                // key pairs by the ladder, as for any point
    _Atomic uint64_t keygens, derives; // done since it was loaded
};

struct x25519_key {
    _Atomic unsigned references;
    struct x25519_provider *provider;
    bool has_public, has_private;
    uint8_t public_key[TLC_X25519_BYTES], private_key[TLC_X25519_BYTES];
};

extern const OSSL_DISPATCH x25519_keymgmt_functions[], x25519_exchange_functions[];

// x25519_provider.c
// Puts an error on the library's queue; returns 0 for `return`.
int x25519_fail(const struct x25519_provider *provider, enum x25519_reason reason);
// The public key of a private one, by the variant asked for.
void x25519_make_public(const struct x25519_provider *provider, uint8_t *public_key,
                        const uint8_t *private_key);
// The shared secret; false when it is zero.
bool x25519_derive(const struct x25519_provider *provider, uint8_t *shared,
                   const uint8_t *private_key, const uint8_t *peer);

// x25519_keymgmt.c
void x25519_key_free(struct x25519_key *key); // gives up one reference; NULL is allowed

#endif
