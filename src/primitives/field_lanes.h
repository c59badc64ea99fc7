// Eight field elements modulo p = 2^255 - 19 at once, each as five limbs of 51 bits, for the
// instructions that multiply 52-bit integers (Gueron, Krasnov, Accelerating big integer arithmetic
// using Intel IFMA extensions, ARITH 2016; one lane a key as in Cheng, Groszschaedl, Tian, Roenne,
// Ryan, High-throughput elliptic curve cryptography using AVX2 vector instructions, SAC 2020).
// Private to the room.
//
// Products take limbs below 2^52. Sums, differences and products leave limbs below 2^51 + 2^15.
#ifndef TLC_PRIMITIVES_FIELD_LANES_H
#define TLC_PRIMITIVES_FIELD_LANES_H

#include <stdint.h>

#include "primitives/bytes.h"
#include "primitives/lanes8.h"

enum { FE_LANES = 8 };

// Operands then stay in registers, which a call would pass through memory. Lanes in plain C have no
// such registers, and all that code in one function takes compilers minutes.
#ifdef __AVX512IFMA__
#define FE_INLINE static inline __attribute__((always_inline))
#else
#define FE_INLINE static inline
#endif

typedef struct {
    v8 limb[5];
} fe;
typedef v8_mask fe_mask;

static const uint64_t fe_low51 = ((uint64_t)1 << 51) - 1;

static inline void fe_set(fe *out, uint64_t value)
{
    out->limb[0] = v8_set1(value);
    for (int i = 1; i < 5; i++)
        out->limb[i] = v8_set1(0);
}

static inline void fe_load(fe *out, const uint8_t *bytes)
{
    _Alignas(64) uint64_t limbs[5][8];
    for (int lane = 0; lane < 8; lane++) {
        uint64_t w[4];
        load_words(w, bytes + 32 * lane);
        limbs[0][lane] = w[0] & fe_low51;
        limbs[1][lane] = (w[0] >> 51 | w[1] << 13) & fe_low51;
        limbs[2][lane] = (w[1] >> 38 | w[2] << 26) & fe_low51;
        limbs[3][lane] = (w[2] >> 25 | w[3] << 39) & fe_low51;
        limbs[4][lane] = w[3] >> 12 & fe_low51;
    }
    for (int i = 0; i < 5; i++)
        out->limb[i] = v8_load(limbs[i]);
}

// All five carries at once; the one beyond 2^255 comes back times 19.
FE_INLINE void fe_carry(fe *out, const v8 r[5])
{
    const v8 low = v8_set1(fe_low51);
    v8 c[5];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        c[i] = v8_shift_right(r[i], 51);
    out->limb[0] = v8_add(v8_and(r[0], low), v8_multiply(c[4], v8_set1(19)));
#pragma GCC unroll 4
    for (int i = 1; i < 5; i++)
        out->limb[i] = v8_add(v8_and(r[i], low), c[i - 1]);
}

static inline void fe_store(uint8_t *bytes, const fe *a)
{
    const v8 low = v8_set1(fe_low51);
    fe t = *a;
    // Two passes of carries one after the other: below 2^255 + 19.
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 4; i++) {
            t.limb[i + 1] = v8_add(t.limb[i + 1], v8_shift_right(t.limb[i], 51));
            t.limb[i] = v8_and(t.limb[i], low);
        }
        v8 over = v8_shift_right(t.limb[4], 51);
        t.limb[0] = v8_add(t.limb[0], v8_multiply(over, v8_set1(19)));
        t.limb[4] = v8_and(t.limb[4], low);
    }
    // It is p or more exactly when 19 more reaches 2^255.
    v8 q = v8_add(t.limb[0], v8_set1(19));
    for (int i = 1; i < 5; i++)
        q = v8_add(t.limb[i], v8_shift_right(q, 51));
    t.limb[0] = v8_add(t.limb[0], v8_multiply(v8_shift_right(q, 51), v8_set1(19)));
    _Alignas(64) uint64_t limbs[5][8];
    for (int i = 0; i < 5; i++) {
        if (i < 4)
            t.limb[i + 1] = v8_add(t.limb[i + 1], v8_shift_right(t.limb[i], 51));
        v8_store(limbs[i], v8_and(t.limb[i], low));
    }
    for (int lane = 0; lane < 8; lane++) {
        const uint64_t words[4] = {limbs[0][lane] | limbs[1][lane] << 51,
                                   limbs[1][lane] >> 13 | limbs[2][lane] << 38,
                                   limbs[2][lane] >> 26 | limbs[3][lane] << 25,
                                   limbs[3][lane] >> 39 | limbs[4][lane] << 12};
        store_words(bytes + 32 * lane, words);
    }
}

FE_INLINE void fe_add(fe *out, const fe *a, const fe *b)
{
    v8 r[5];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        r[i] = v8_add(a->limb[i], b->limb[i]);
    fe_carry(out, r);
}

FE_INLINE void fe_sub(fe *out, const fe *a, const fe *b)
{
    v8 r[5];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) // + 2p
        r[i] = v8_sub(v8_add(a->limb[i], v8_set1(2 * (i == 0 ? fe_low51 - 18 : fe_low51))),
                      b->limb[i]);
    fe_carry(out, r);
}

// low[k] counts 2^(51 k) and high[k] 2^(51 k + 52), that is twice 2^(51 (k + 1)). At most five
// products meet in each: below 2^56 after the sum here, and below 2^61 with the part times 19.
FE_INLINE void fe_reduce(fe *out, const v8 low[9], const v8 high[9])
{
    v8 r[10];
    r[0] = low[0];
#pragma GCC unroll 8
    for (int k = 1; k < 9; k++)
        r[k] = v8_add(low[k], v8_shift_left(high[k - 1], 1));
    r[9] = v8_shift_left(high[8], 1);
#pragma GCC unroll 5
    for (int k = 0; k < 5; k++)
        r[k] = v8_add(r[k], v8_multiply(r[k + 5], v8_set1(19)));
    fe_carry(out, r);
}

FE_INLINE void fe_mul(fe *out, const fe *a, const fe *b)
{
    v8 low[9], high[9];
#pragma GCC unroll 9
    for (int k = 0; k < 9; k++)
        low[k] = high[k] = v8_set1(0);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            low[i + j] = v8_madd_low(low[i + j], a->limb[i], b->limb[j]);
            high[i + j] = v8_madd_high(high[i + j], a->limb[i], b->limb[j]);
        }
    fe_reduce(out, low, high);
}

// Products of different limbs once, then doubled; a doubled limb would not fit 52 bits.
FE_INLINE void fe_sq(fe *out, const fe *a)
{
    v8 low[9], high[9];
#pragma GCC unroll 9
    for (int k = 0; k < 9; k++)
        low[k] = high[k] = v8_set1(0);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
#pragma GCC unroll 5
        for (int j = i + 1; j < 5; j++) {
            low[i + j] = v8_madd_low(low[i + j], a->limb[i], a->limb[j]);
            high[i + j] = v8_madd_high(high[i + j], a->limb[i], a->limb[j]);
        }
#pragma GCC unroll 9
    for (int k = 0; k < 9; k++) {
        low[k] = v8_add(low[k], low[k]);
        high[k] = v8_add(high[k], high[k]);
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        low[2 * i] = v8_madd_low(low[2 * i], a->limb[i], a->limb[i]);
        high[2 * i] = v8_madd_high(high[2 * i], a->limb[i], a->limb[i]);
    }
    fe_reduce(out, low, high);
}

static inline void fe_mul_a24(fe *out, const fe *a)
{
    const v8 a24 = v8_set1(121665), zero = v8_set1(0);
    v8 r[5], high[5];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        r[i] = v8_madd_low(zero, a->limb[i], a24);
        high[i] = v8_shift_left(v8_madd_high(zero, a->limb[i], a24), 1);
    }
    r[0] = v8_add(r[0], v8_multiply(high[4], v8_set1(19)));
#pragma GCC unroll 4
    for (int i = 1; i < 5; i++)
        r[i] = v8_add(r[i], high[i - 1]);
    fe_carry(out, r);
}

static inline void fe_swap(fe *a, fe *b, fe_mask mask)
{
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        v8 t = v8_blend(mask, a->limb[i], b->limb[i]);
        b->limb[i] = v8_blend(mask, b->limb[i], a->limb[i]);
        a->limb[i] = t;
    }
}

typedef struct {
    v8 word[4];
} fe_scalar;

static inline void fe_scalar_load(fe_scalar *scalar, const uint8_t *bytes)
{
    _Alignas(64) uint64_t words[4][8];
    for (int lane = 0; lane < 8; lane++) {
        uint64_t w[4];
        load_scalar(w, bytes + 32 * lane);
        for (int i = 0; i < 4; i++)
            words[i][lane] = w[i];
    }
    for (int i = 0; i < 4; i++)
        scalar->word[i] = v8_load(words[i]);
}

static inline fe_mask fe_scalar_bit(const fe_scalar *scalar, unsigned t)
{
    return v8_nonzero(v8_and(scalar->word[t / 64], v8_set1((uint64_t)1 << t % 64)));
}

#endif
