// One fixed-base multiplication over eight lanes: each lane adds up the windows of its own, eight
// instead of 64, and the eight sums are added in three steps. Compiled for IFMA; without it
// (TLC_X25519_PORTABLE, for tests) the same code runs on lanes in plain C.
#include "primitives/split.h"

#include <string.h>

#include "primitives/field_lanes.h"

#include "primitives/curve.h"
#include "primitives/table.h"

// 2d, d as in RFC 7748, section 4.1, in limbs of 51 bits.
static const uint64_t twice_d[5] = {0x69b9426b2f159, 0x35050762add7a, 0x3cf44c0038052,
                                    0x6738cc7407977, 0x2406d9dc56dff};

// In each lane the entry of its own table for its own digit; all entries are read.
static inline void split_pick(struct niels *n, unsigned step, const int8_t digits[8])
{
    v8 digit = v8_digits(digits), size = v8_absolute(digit);
    fe *part[3] = {&n->y_plus_x, &n->y_minus_x, &n->xy2d};
    for (int k = 0; k < 3; k++)
        fe_set(part[k], k < 2);
    for (unsigned e = 0; e < SPLIT_ENTRIES; e++) {
        v8_mask take = v8_equal(size, v8_set1(e + 1));
#pragma GCC unroll 15
        for (int i = 0; i < 15; i++)
            part[i / 5]->limb[i % 5] = v8_blend(take, part[i / 5]->limb[i % 5],
                                                v8_load(tlc_x25519_table_split[step][e][i]));
    }
    niels_negate(n, v8_negative(digit));
}

static inline void rotate(fe *out, const fe *a, int lanes)
{
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        out->limb[i] = lanes == 4   ? v8_rotate(a->limb[i], 4)
                       : lanes == 2 ? v8_rotate(a->limb[i], 2)
                                    : v8_rotate(a->limb[i], 1);
}

// Lane i of p becomes the sum of the lanes i and i + lanes, by the unified formula (Hisil and
// others, section 3.1).
static inline void add_lanes(struct edwards *p, int lanes)
{
    struct edwards q;
    fe a, b, c, d, e, f, g, h, t;
    rotate(&q.x, &p->x, lanes);
    rotate(&q.y, &p->y, lanes);
    rotate(&q.z, &p->z, lanes);
    rotate(&q.t, &p->t, lanes);
    for (int i = 0; i < 5; i++)
        t.limb[i] = v8_set1(twice_d[i]);
    fe_sub(&a, &p->y, &p->x);
    fe_sub(&b, &q.y, &q.x);
    fe_mul(&a, &a, &b);
    fe_add(&b, &p->y, &p->x);
    fe_add(&c, &q.y, &q.x);
    fe_mul(&b, &b, &c);
    fe_mul(&c, &p->t, &q.t);
    fe_mul(&c, &c, &t);
    fe_mul(&d, &p->z, &q.z);
    fe_add(&d, &d, &d);
    fe_sub(&e, &b, &a);
    fe_sub(&f, &d, &c);
    fe_add(&g, &d, &c);
    fe_add(&h, &b, &a);
    fe_mul(&p->x, &e, &f);
    fe_mul(&p->y, &g, &h);
    fe_mul(&p->t, &e, &h);
    fe_mul(&p->z, &f, &g);
}

#ifdef TLC_X25519_PORTABLE
#define tlc_x25519_split tlc_x25519_split_portable
#else
#define tlc_x25519_split tlc_x25519_split_ifma
#endif

void tlc_x25519_split(uint8_t y[32], uint8_t z[32], const uint8_t scalar[32])
{
    int8_t digits[SPLIT_STEPS][8];
    uint8_t bytes[8 * 32];
    struct edwards p;
    struct niels n;
    recode_scalar(digits[0], 1, scalar, SPLIT_BITS, 8 * SPLIT_STEPS);
    edwards_set_neutral(&p);
    for (unsigned step = 0; step < SPLIT_STEPS; step++) {
        split_pick(&n, step, digits[step]);
        edwards_add(&p, &n);
    }
    add_lanes(&p, 4);
    add_lanes(&p, 2);
    add_lanes(&p, 1);
    fe_store(bytes, &p.y);
    memcpy(y, bytes, 32);
    fe_store(bytes, &p.z);
    memcpy(z, bytes, 32);
}
