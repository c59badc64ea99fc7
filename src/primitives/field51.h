// Field elements modulo p = 2^255 - 19 as five limbs of 51 bits (Bernstein, Curve25519: new
// Diffie-Hellman speed records, PKC 2006, on radix 2^25.5; the 64-bit form is from Bernstein, Duif,
// Lange, Schwabe, Yang, High-speed high-security signatures, CHES 2011). Private to the room.
//
// Results of multiplications have limbs below 2^51 + 2^15, sums and differences of them below 2^53,
// and a multiplication takes limbs below 2^54. A subtrahend has to be the result of a
// multiplication, or loaded: below 2p in every limb.
#ifndef TLC_PRIMITIVES_FIELD51_H
#define TLC_PRIMITIVES_FIELD51_H

#include <stdint.h>

#include "primitives/bytes.h"

enum { FE_LANES = 1 };

typedef struct {
    uint64_t limb[5];
} fe;
typedef uint64_t fe_mask; // all ones or zero

typedef unsigned __int128 fe_wide;

static const uint64_t fe_low51 = ((uint64_t)1 << 51) - 1;

static inline void fe_set(fe *out, uint64_t value)
{
    *out = (fe){{value, 0, 0, 0, 0}};
}

static inline void fe_from_words(fe *out, const uint64_t w[4])
{
    out->limb[0] = w[0] & fe_low51;
    out->limb[1] = (w[0] >> 51 | w[1] << 13) & fe_low51;
    out->limb[2] = (w[1] >> 38 | w[2] << 26) & fe_low51;
    out->limb[3] = (w[2] >> 25 | w[3] << 39) & fe_low51;
    out->limb[4] = w[3] >> 12 & fe_low51;
}

static inline void fe_load(fe *out, const uint8_t bytes[32])
{
    uint64_t words[4];
    load_words(words, bytes);
    fe_from_words(out, words);
}

static inline void fe_carry(fe *a)
{
    for (int i = 0; i < 4; i++) {
        a->limb[i + 1] += a->limb[i] >> 51;
        a->limb[i] &= fe_low51;
    }
    a->limb[0] += 19 * (a->limb[4] >> 51);
    a->limb[4] &= fe_low51;
}

static inline void fe_store(uint8_t bytes[32], const fe *a)
{
    fe t = *a;
    fe_carry(&t);
    fe_carry(&t); // now below 2^255 + 19, and t >= p exactly when t + 19 >= 2^255
    uint64_t q = t.limb[0] + 19;
    for (int i = 1; i < 5; i++)
        q = t.limb[i] + (q >> 51);
    t.limb[0] += 19 * (q >> 51);
    for (int i = 0; i < 4; i++) {
        t.limb[i + 1] += t.limb[i] >> 51;
        t.limb[i] &= fe_low51;
    }
    t.limb[4] &= fe_low51;
    const uint64_t words[4] = {t.limb[0] | t.limb[1] << 51, t.limb[1] >> 13 | t.limb[2] << 38,
                               t.limb[2] >> 26 | t.limb[3] << 25,
                               t.limb[3] >> 39 | t.limb[4] << 12};
    store_words(bytes, words);
}

static inline void fe_add(fe *out, const fe *a, const fe *b)
{
    for (int i = 0; i < 5; i++)
        out->limb[i] = a->limb[i] + b->limb[i];
}

static inline void fe_sub(fe *out, const fe *a, const fe *b)
{
    out->limb[0] = a->limb[0] + 2 * (fe_low51 - 18) - b->limb[0]; // + 2p
    for (int i = 1; i < 5; i++)
        out->limb[i] = a->limb[i] + 2 * fe_low51 - b->limb[i];
}

static inline void fe_reduce(fe *out, fe_wide r[5])
{
    for (int i = 0; i < 4; i++) {
        r[i + 1] += (uint64_t)(r[i] >> 51);
        out->limb[i] = (uint64_t)r[i] & fe_low51;
    }
    out->limb[4] = (uint64_t)r[4] & fe_low51;
    out->limb[0] += 19 * (uint64_t)(r[4] >> 51);
    out->limb[1] += out->limb[0] >> 51;
    out->limb[0] &= fe_low51;
}

static inline void fe_mul(fe *out, const fe *a, const fe *b)
{
    const uint64_t a0 = a->limb[0], a1 = a->limb[1], a2 = a->limb[2], a3 = a->limb[3],
                   a4 = a->limb[4];
    const uint64_t b0 = b->limb[0], b1 = b->limb[1], b2 = b->limb[2], b3 = b->limb[3],
                   b4 = b->limb[4];
    // 2^255 = 19 (mod p): products beyond the fifth limb come back times 19.
    const uint64_t c1 = 19 * b1, c2 = 19 * b2, c3 = 19 * b3, c4 = 19 * b4;
    fe_wide r[5] = {
        (fe_wide)a0 * b0 + (fe_wide)a1 * c4 + (fe_wide)a2 * c3 + (fe_wide)a3 * c2 +
            (fe_wide)a4 * c1,
        (fe_wide)a0 * b1 + (fe_wide)a1 * b0 + (fe_wide)a2 * c4 + (fe_wide)a3 * c3 +
            (fe_wide)a4 * c2,
        (fe_wide)a0 * b2 + (fe_wide)a1 * b1 + (fe_wide)a2 * b0 + (fe_wide)a3 * c4 +
            (fe_wide)a4 * c3,
        (fe_wide)a0 * b3 + (fe_wide)a1 * b2 + (fe_wide)a2 * b1 + (fe_wide)a3 * b0 +
            (fe_wide)a4 * c4,
        (fe_wide)a0 * b4 + (fe_wide)a1 * b3 + (fe_wide)a2 * b2 + (fe_wide)a3 * b1 +
            (fe_wide)a4 * b0,
    };
    fe_reduce(out, r);
}

static inline void fe_sq(fe *out, const fe *a)
{
    const uint64_t a0 = a->limb[0], a1 = a->limb[1], a2 = a->limb[2], a3 = a->limb[3],
                   a4 = a->limb[4];
    const uint64_t d0 = 2 * a0, d1 = 2 * a1, d2 = 2 * a2, c3 = 19 * a3, c4 = 19 * a4;
    fe_wide r[5] = {
        (fe_wide)a0 * a0 + (fe_wide)d1 * c4 + (fe_wide)d2 * c3,
        (fe_wide)d0 * a1 + (fe_wide)d2 * c4 + (fe_wide)a3 * c3,
        (fe_wide)d0 * a2 + (fe_wide)a1 * a1 + (fe_wide)(2 * a3) * c4,
        (fe_wide)d0 * a3 + (fe_wide)d1 * a2 + (fe_wide)a4 * c4,
        (fe_wide)d0 * a4 + (fe_wide)d1 * a3 + (fe_wide)a2 * a2,
    };
    fe_reduce(out, r);
}

static inline void fe_mul_a24(fe *out, const fe *a)
{
    fe_wide r[5];
    for (int i = 0; i < 5; i++)
        r[i] = (fe_wide)a->limb[i] * 121665;
    fe_reduce(out, r);
}

static inline void fe_swap(fe *a, fe *b, fe_mask mask)
{
    for (int i = 0; i < 5; i++) {
        uint64_t t = mask & (a->limb[i] ^ b->limb[i]);
        a->limb[i] ^= t;
        b->limb[i] ^= t;
    }
}

#endif
