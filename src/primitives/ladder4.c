// One Montgomery ladder with its four independent field operations in four lanes: a step is three
// multiplications one after the other (the idea is Hisil, Egrice, Yassi, Fast 4 way vectorized
// ladder for the complete set of Montgomery curves, 2020; Nath, Sarkar, Efficient 4-way
// vectorizations of the Montgomery ladder, IEEE Transactions on Computers 71, 2022). Lanes 4 to 7
// stay unused. Compiled for IFMA; without it (TLC_X25519_PORTABLE, for tests) lanes in plain C.
#include <string.h>

#include "primitives/field_lanes.h"
#include "primitives/split.h"

#ifdef TLC_X25519_PORTABLE
#define tlc_x25519_ladder4 tlc_x25519_ladder4_portable
#else
#define tlc_x25519_ladder4 tlc_x25519_ladder4_ifma
#endif

// out = a in other lanes.
#define PERMUTE(out, a, i, j, k, l)                                                                \
    do {                                                                                           \
        (out)->limb[0] = v8_permute4((a)->limb[0], i, j, k, l);                                    \
        (out)->limb[1] = v8_permute4((a)->limb[1], i, j, k, l);                                    \
        (out)->limb[2] = v8_permute4((a)->limb[2], i, j, k, l);                                    \
        (out)->limb[3] = v8_permute4((a)->limb[3], i, j, k, l);                                    \
        (out)->limb[4] = v8_permute4((a)->limb[4], i, j, k, l);                                    \
    } while (0)

// b in the lanes of the mask, else a.
static inline void pick(fe *out, v8_mask lanes, const fe *a, const fe *b)
{
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        out->limb[i] = v8_blend(lanes, a->limb[i], b->limb[i]);
}

// a - b in the lanes of the mask, else a + b.
static inline void add_or_subtract(fe *out, const fe *a, const fe *b, v8_mask lanes)
{
    v8 r[5];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        v8 minus = v8_sub(v8_set1(2 * (i == 0 ? fe_low51 - 18 : fe_low51)), b->limb[i]); // 2p - b
        r[i] = v8_add(a->limb[i], v8_blend(lanes, b->limb[i], minus));
    }
    fe_carry(out, r);
}

// One step of RFC 7748, section 5, in its names: s is x2, z2, x3, z3; `constants` 0, a24, 0, x1.
static inline void step(fe *s, const fe *constants, const fe *zero)
{
    fe p, q, h, left, right;
    PERMUTE(&p, s, 0, 0, 2, 2);
    PERMUTE(&q, s, 1, 1, 3, 3);
    add_or_subtract(&h, &p, &q, 0xa); // A, B, C, D
    PERMUTE(&q, &h, 0, 1, 1, 0);
    fe_mul(&h, &h, &q); // AA, BB, CB, DA
    PERMUTE(&p, &h, 0, 0, 3, 3);
    PERMUTE(&q, &h, 1, 1, 2, 2);
    pick(&left, 0xe, zero, &q);
    add_or_subtract(&left, &p, &left, 0xa); // AA, E, DA + CB, DA - CB
    pick(&right, 0x1, &left, &q);
    pick(&right, 0x2, &right, constants);
    fe_mul(&h, &left, &right); // x2, a24 E, x3, (DA - CB)^2
    PERMUTE(&p, &left, 0, 0, 0, 0);
    pick(&p, 0x2, zero, &p);
    add_or_subtract(&right, &h, &p, 0); // lane 1: AA + a24 E
    pick(&left, 0x8, &left, constants);
    fe_mul(&left, &left, &right); // lane 1: z2, lane 3: z3
    pick(s, 0xa, &h, &left);
}

// One number for each of the lanes 0 to 3.
static inline void load4(fe *out, const uint8_t a[32], const uint8_t b[32], const uint8_t c[32],
                         const uint8_t d[32])
{
    uint8_t bytes[8 * 32] = {0};
    memcpy(bytes, a, 32);
    memcpy(bytes + 32, b, 32);
    memcpy(bytes + 64, c, 32);
    memcpy(bytes + 96, d, 32);
    fe_load(out, bytes);
}

void tlc_x25519_ladder4(uint8_t x[32], uint8_t z[32], const uint8_t scalar[32], const uint8_t u[32])
{
    static const uint8_t none[32] = {0}, one[32] = {1}, a24[32] = {0x41, 0xdb, 1}; // 121665
    uint8_t bytes[8 * 32];
    uint64_t words[4], swapped = 0;
    fe s, swap, constants, zero;
    load_scalar(words, scalar);
    load4(&s, one, none, u, one);
    load4(&constants, none, a24, none, u);
    fe_set(&zero, 0);
    for (unsigned t = 255; t-- > 0;) {
        uint64_t bit = words[t / 64] >> t % 64 & 1;
        PERMUTE(&swap, &s, 2, 3, 0, 1);
        pick(&s, (v8_mask)opaque(0 - (swapped ^ bit)), &s, &swap);
        swapped = bit;
        step(&s, &constants, &zero);
    }
    PERMUTE(&swap, &s, 2, 3, 0, 1);
    pick(&s, (v8_mask)opaque(0 - swapped), &s, &swap);
    fe_store(bytes, &s);
    memcpy(x, bytes, 32);
    memcpy(z, bytes + 32, 32);
}
