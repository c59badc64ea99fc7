// The group operations over whatever field was included before: fe, fe_mask and the fe_ functions
// of field51.h, field64.h, field64_adx.h or field_lanes.h. Private to the room.
#ifndef TLC_PRIMITIVES_CURVE_H
#define TLC_PRIMITIVES_CURVE_H

#include <stdint.h>

static inline void fe_sq_times(fe *out, const fe *a, unsigned count)
{
    fe_sq(out, a);
    for (unsigned i = 1; i < count; i++)
        fe_sq(out, out);
}

// a^(p-2) by Fermat, with 254 squarings and 11 multiplications (Bernstein, PKC 2006, section 5);
// zN is a^(2^N - 1). The exponent is 2^255 - 21.
static inline void fe_invert(fe *out, const fe *a)
{
    fe a2, a9, a11, z5, z10, z20, z50, z100, t;
    fe_sq(&a2, a);
    fe_sq_times(&t, &a2, 2);
    fe_mul(&a9, &t, a);
    fe_mul(&a11, &a9, &a2);
    fe_sq(&t, &a11);
    fe_mul(&z5, &t, &a9);
    fe_sq_times(&t, &z5, 5);
    fe_mul(&z10, &t, &z5);
    fe_sq_times(&t, &z10, 10);
    fe_mul(&z20, &t, &z10);
    fe_sq_times(&t, &z20, 20);
    fe_mul(&t, &t, &z20);
    fe_sq_times(&t, &t, 10);
    fe_mul(&z50, &t, &z10);
    fe_sq_times(&t, &z50, 50);
    fe_mul(&z100, &t, &z50);
    fe_sq_times(&t, &z100, 100);
    fe_mul(&t, &t, &z100);
    fe_sq_times(&t, &t, 50);
    fe_mul(&t, &t, &z50);
    fe_sq_times(&t, &t, 5);
    fe_mul(out, &t, &a11);
}

struct ladder {
    fe x2, z2, x3, z3;
};

// The loop body of RFC 7748, section 5 (Montgomery, Mathematics of Computation 48, 1987), in its
// names.
static inline void ladder_step(struct ladder *l, const fe *x1)
{
    fe a, aa, b, bb, e, c, d, da, cb, t;
    fe_add(&a, &l->x2, &l->z2);
    fe_sub(&b, &l->x2, &l->z2);
    fe_add(&c, &l->x3, &l->z3);
    fe_sub(&d, &l->x3, &l->z3);
    fe_mul(&da, &d, &a);
    fe_mul(&cb, &c, &b);
    fe_sq(&aa, &a);
    fe_sq(&bb, &b);
    fe_add(&t, &da, &cb);
    fe_sq(&l->x3, &t);
    fe_sub(&t, &da, &cb);
    fe_sq(&t, &t);
    fe_mul(&l->z3, x1, &t);
    fe_mul(&l->x2, &aa, &bb);
    fe_sub(&e, &aa, &bb);
    fe_mul_a24(&t, &e);
    fe_add(&t, &aa, &t);
    fe_mul(&l->z2, &e, &t);
}

// scalar * the point with u coordinate x1, as x2 / z2.
static inline void ladder_multiply(struct ladder *l, const fe_scalar *scalar, const fe *x1)
{
    fe_mask swapped = 0;
    fe_set(&l->x2, 1);
    fe_set(&l->z2, 0);
    l->x3 = *x1;
    fe_set(&l->z3, 1);
    for (unsigned t = 255; t-- > 0;) {
        fe_mask bit = fe_scalar_bit(scalar, t), swap = swapped ^ bit;
        fe_swap(&l->x2, &l->x3, swap);
        fe_swap(&l->z2, &l->z3, swap);
        swapped = bit;
        ladder_step(l, x1);
    }
    fe_swap(&l->x2, &l->x3, swapped);
    fe_swap(&l->z2, &l->z3, swapped);
}

// Points of the Edwards curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates, x = X/Z, y = Y/Z,
// x y = T/Z; `niels` is an affine table entry (Hisil, Wong, Carter, Dawson, Twisted Edwards curves
// revisited, ASIACRYPT 2008; the table form is from Bernstein and others, CHES 2011).
struct edwards {
    fe x, y, z, t;
};

struct niels {
    fe y_plus_x, y_minus_x, xy2d;
};

static inline void edwards_set_neutral(struct edwards *p)
{
    fe_set(&p->x, 0);
    fe_set(&p->y, 1);
    fe_set(&p->z, 1);
    fe_set(&p->t, 0);
}

// Negates n where the mask is set: (x, y) becomes (-x, y).
static inline void niels_negate(struct niels *n, fe_mask mask)
{
    fe zero, minus;
    fe_set(&zero, 0);
    fe_swap(&n->y_plus_x, &n->y_minus_x, mask);
    fe_sub(&minus, &zero, &n->xy2d);
    fe_swap(&n->xy2d, &minus, mask);
}

// p += n by the unified formula for a = -1 (Hisil and others, section 3.1, with Z2 = 1): it has no
// exceptions on this curve, so no case needs a branch.
static inline void edwards_add(struct edwards *p, const struct niels *n)
{
    fe a, b, c, d, e, f, g, h;
    fe_sub(&a, &p->y, &p->x);
    fe_add(&b, &p->y, &p->x);
    fe_mul(&a, &a, &n->y_minus_x);
    fe_mul(&b, &b, &n->y_plus_x);
    fe_mul(&c, &p->t, &n->xy2d);
    fe_add(&d, &p->z, &p->z);
    fe_sub(&e, &b, &a);
    fe_sub(&f, &d, &c);
    fe_add(&g, &d, &c);
    fe_add(&h, &b, &a);
    fe_mul(&p->x, &e, &f);
    fe_mul(&p->y, &g, &h);
    fe_mul(&p->t, &e, &h);
    fe_mul(&p->z, &f, &g);
}

// The birational map to the Montgomery curve, u = (1 + y)/(1 - y) (RFC 7748, section 4.1; without
// the affine step, u = (Z + Y)/(Z - Y)). The neutral point goes to 0, as the ladder has it.
static inline void edwards_to_u(fe *u, const fe *y, const fe *z)
{
    fe above, below;
    fe_add(&above, z, y);
    fe_sub(&below, z, y);
    fe_invert(&below, &below);
    fe_mul(u, &above, &below);
}

#endif
