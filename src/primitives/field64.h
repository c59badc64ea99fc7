// Field elements modulo p = 2^255 - 19 as four full words: any value below 2^256 stands for itself
// modulo p, as 2^256 = 38 (mod p). Portable C, the carries by 128-bit sums. Private to the room.
#ifndef TLC_PRIMITIVES_FIELD64_H
#define TLC_PRIMITIVES_FIELD64_H

#include "primitives/words64.h"

static inline void fe_add(fe *out, const fe *a, const fe *b)
{
    fe_wide t = 0;
    uint64_t r[4];
    for (int i = 0; i < 4; i++) {
        t += (fe_wide)a->word[i] + b->word[i];
        r[i] = (uint64_t)t;
        t >>= 64;
    }
    fe_fold(out, r, 38 * (uint64_t)t);
}

static inline void fe_sub(fe *out, const fe *a, const fe *b)
{
    uint64_t borrow = 0, r[4];
    for (int i = 0; i < 4; i++) {
        fe_wide t = (fe_wide)a->word[i] - b->word[i] - borrow;
        r[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    for (int pass = 0; pass < 2; pass++) { // - 2^256 = - 38; the second borrow cannot repeat
        uint64_t less = 38 * borrow;
        borrow = 0;
        for (int i = 0; i < 4; i++) {
            fe_wide t = (fe_wide)r[i] - less - borrow;
            r[i] = (uint64_t)t;
            borrow = (uint64_t)(t >> 64) & 1;
            less = 0;
        }
    }
    for (int i = 0; i < 4; i++)
        out->word[i] = r[i];
}

// Eight words to four: the upper half comes back times 38.
static inline void fe_reduce(fe *out, const uint64_t r[8])
{
    fe_wide t = 0;
    uint64_t low[4];
    for (int i = 0; i < 4; i++) {
        t += (fe_wide)r[i + 4] * 38 + r[i];
        low[i] = (uint64_t)t;
        t >>= 64;
    }
    fe_fold(out, low, 38 * (uint64_t)t);
}

static inline void fe_mul(fe *out, const fe *a, const fe *b)
{
    uint64_t r[8] = {0};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            fe_wide t = (fe_wide)a->word[i] * b->word[j] + r[i + j] + carry;
            r[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        r[i + 4] = carry;
    }
    fe_reduce(out, r);
}

static inline void fe_sq(fe *out, const fe *a)
{
    uint64_t r[8] = {0};
#pragma GCC unroll 4
    for (int i = 0; i < 3; i++) { // products of different words, once
        uint64_t carry = 0;
#pragma GCC unroll 4
        for (int j = i + 1; j < 4; j++) {
            fe_wide t = (fe_wide)a->word[i] * a->word[j] + r[i + j] + carry;
            r[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        r[i + 4] = carry;
    }
    uint64_t top = 0;
    fe_wide t = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { // twice that, and the squares
        fe_wide square = (fe_wide)a->word[i] * a->word[i];
        uint64_t low = r[2 * i] << 1 | top, high = r[2 * i + 1] << 1 | r[2 * i] >> 63;
        top = r[2 * i + 1] >> 63;
        t += (fe_wide)low + (uint64_t)square;
        r[2 * i] = (uint64_t)t;
        t = (t >> 64) + high + (uint64_t)(square >> 64);
        r[2 * i + 1] = (uint64_t)t;
        t >>= 64;
    }
    fe_reduce(out, r);
}

static inline void fe_mul_a24(fe *out, const fe *a)
{
    fe_wide t = 0;
    uint64_t r[4];
    for (int i = 0; i < 4; i++) {
        t += (fe_wide)a->word[i] * 121665;
        r[i] = (uint64_t)t;
        t >>= 64;
    }
    fe_fold(out, r, 38 * (uint64_t)t);
}

#endif
