// Eight keys at once, one in each lane of an AVX-512 register. Compiled for IFMA; without it
// (TLC_X25519_PORTABLE, for tests) the same code runs on lanes in plain C.
#include "primitives/backends.h"
#include "primitives/field_lanes.h"
#include "primitives/processor.h"

#include "primitives/curve.h"
#include "primitives/table.h"

_Static_assert(TABLE_ENTRIES == 16, "one permutation picks of sixteen entries");

// digits[lane] * 2^(bits * window) * 8B in each lane.
static inline void table_pick(struct niels *n, unsigned window, const int8_t digits[8])
{
    v8 digit = v8_digits(digits), size = v8_absolute(digit), index = v8_sub(size, v8_set1(1));
    v8_mask some = v8_nonzero(size);
    fe *part[3] = {&n->y_plus_x, &n->y_minus_x, &n->xy2d};
    for (int i = 0; i < 15; i++) {
        v8 neutral = v8_set1(i == 0 || i == 5); // (1, 1, 0)
        v8 entry = v8_pick16(tlc_x25519_table_lanes[window][i], index);
        part[i / 5]->limb[i % 5] = v8_blend(some, neutral, entry);
    }
    niels_negate(n, v8_negative(digit));
}

static inline void base_multiply(fe *y, fe *z, const uint8_t *scalars)
{
    int8_t digits[TABLE_WINDOWS][8];
    struct edwards p;
    struct niels n;
    for (unsigned lane = 0; lane < 8; lane++)
        recode_scalar(&digits[0][lane], 8, scalars + 32 * lane, TABLE_BITS, TABLE_WINDOWS);
    edwards_set_neutral(&p);
    for (unsigned i = 0; i < TABLE_WINDOWS; i++) {
        table_pick(&n, i, digits[i]);
        edwards_add(&p, &n);
    }
    *y = p.y;
    *z = p.z;
}

static inline void variable_multiply(fe *x, fe *z, const uint8_t *scalars, const uint8_t *u)
{
    struct ladder l;
    fe_scalar k;
    fe x1;
    fe_scalar_load(&k, scalars);
    fe_load(&x1, u);
    ladder_multiply(&l, &k, &x1);
    *x = l.x2;
    *z = l.z2;
}

#include "primitives/parts.h"

#ifdef TLC_X25519_PORTABLE
#define IFMA8     tlc_x25519_lanes8
#define SUPPORTED supported
static bool supported(void)
{
    return true;
}
#else
#define IFMA8     tlc_x25519_ifma8
#define SUPPORTED tlc_x25519_has_ifma
#endif

const struct tlc_x25519_backend IFMA8 = {
    .name = "ifma8",
    .summary = "eight keys at once, AVX-512 IFMA",
    .supported = SUPPORTED,
    PART_FUNCTIONS,
};
