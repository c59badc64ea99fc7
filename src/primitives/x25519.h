// X25519 (RFC 7748, section 5) of our own, so that each part of a key exchange can be timed alone
// and different ways to do it can stand side by side (docs/x25519.md).
//
// Nothing here branches on, or reads memory at an address that depends on, a scalar or a point.
#ifndef TLC_PRIMITIVES_X25519_H
#define TLC_PRIMITIVES_X25519_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TLC_X25519_BYTES = 32,
    TLC_X25519_BATCH = 8 // keys of one call of the _batch functions
};

// The fastest back end that this machine has. Scalars are any 32 bytes; they are clamped here.

// Variable base: the u coordinate of scalar * point. False when the result is zero, that is for a
// peer's point of small order, which TLS has to refuse (RFC 7748, section 6.1; RFC 8446, 7.4.2).
bool tlc_x25519(uint8_t shared[TLC_X25519_BYTES], const uint8_t scalar[TLC_X25519_BYTES],
                const uint8_t u[TLC_X25519_BYTES]) TLC_CHECKED;
// Fixed base: the public key of a scalar.
void tlc_x25519_public(uint8_t public_key[TLC_X25519_BYTES],
                       const uint8_t scalar[TLC_X25519_BYTES]);
// TLC_X25519_BATCH independent ones at once. The result of the first has bit i set when shared
// secret i is zero.
unsigned tlc_x25519_batch(uint8_t shared[][TLC_X25519_BYTES],
                          const uint8_t scalar[][TLC_X25519_BYTES],
                          const uint8_t u[][TLC_X25519_BYTES]) TLC_CHECKED;
void tlc_x25519_public_batch(uint8_t public_key[][TLC_X25519_BYTES],
                             const uint8_t scalar[][TLC_X25519_BYTES]);

// The parts, for measurement and tests. A back end works on `lanes` independent values at once;
// byte arrays then hold lanes * 32 bytes, lane after lane.

// A field element modulo 2^255 - 19 in each lane, in the form that its back end likes.
struct tlc_x25519_element {
    _Alignas(64) uint64_t words[5 * TLC_X25519_BATCH];
};

// An Edwards point in each lane, as far as the map to the u coordinate needs it.
struct tlc_x25519_point {
    struct tlc_x25519_element y, z;
};

struct tlc_x25519_field {
    unsigned lanes;
    // Little endian; the top bit of each 32 bytes is ignored, values of p and more are accepted.
    void (*load)(struct tlc_x25519_element *out, const uint8_t *bytes);
    void (*store)(uint8_t *bytes, const struct tlc_x25519_element *a); // the canonical form
    void (*add)(struct tlc_x25519_element *a, const struct tlc_x25519_element *b);      // a += b
    void (*subtract)(struct tlc_x25519_element *a, const struct tlc_x25519_element *b); // a -= b
    // `count` times one after the other, so that the time of one is not hidden by the call.
    void (*multiply)(struct tlc_x25519_element *a, const struct tlc_x25519_element *b,
                     size_t count);
    void (*square)(struct tlc_x25519_element *a, size_t count);
    void (*multiply_a24)(struct tlc_x25519_element *a); // times 121665
    void (*invert)(struct tlc_x25519_element *a);       // zero for zero
};

struct tlc_x25519_backend {
    const char *name, *summary;
    bool (*supported)(void); // by this machine's processor
    const struct tlc_x25519_field *field;
    // What the functions above do, for field->lanes keys, without the check for zero.
    void (*derive)(uint8_t *shared, const uint8_t *scalars, const uint8_t *u);
    void (*public_key)(uint8_t *public_keys, const uint8_t *scalars);
    // The two steps of public_key: multiply the base point, and take u = (Z+Y)/(Z-Y).
    void (*base_multiply)(struct tlc_x25519_point *point, const uint8_t *scalars);
    void (*map)(uint8_t *u, const struct tlc_x25519_point *point);
};

// All back ends of this build, slowest first; `count` receives their number.
const struct tlc_x25519_backend *const *tlc_x25519_backends(size_t *count);
// NULL with `error` set for a name that does not exist, or a processor that lacks what it needs.
const struct tlc_x25519_backend *tlc_x25519_find(const char *name, struct tlc_error *error);
// The fastest supported back end that works on `lanes` values at once; NULL when there is none.
const struct tlc_x25519_backend *tlc_x25519_best(unsigned lanes);

#endif
