// Scalars and table look-up for fields of one lane. Private to the room.
#ifndef TLC_PRIMITIVES_SINGLE_H
#define TLC_PRIMITIVES_SINGLE_H

#include <string.h>

#include "primitives/bytes.h"
#include "primitives/table.h"

typedef struct {
    uint64_t words[4];
} fe_scalar;

static inline void fe_scalar_load(fe_scalar *scalar, const uint8_t bytes[32])
{
    load_scalar(scalar->words, bytes);
}

static inline fe_mask fe_scalar_bit(const fe_scalar *scalar, unsigned t)
{
    return opaque(0 - (scalar->words[t / 64] >> t % 64 & 1));
}

#include "primitives/curve.h"

#ifndef FE_OWN_MULTIPLY

// The compiler uses vector registers for these where it has them.
typedef uint64_t four_words __attribute__((vector_size(32), may_alias));

// digit * 2^(bits * window) * 8B. Every entry is read, whatever the digit.
static inline void table_pick(struct niels *n, unsigned window, int8_t digit)
{
    uint64_t negative = opaque(0 - ((uint64_t)(int64_t)digit >> 63));
    uint64_t index = ((uint64_t)(int64_t)digit ^ negative) - negative;
    four_words part[3] = {{0}, {0}, {0}};
    for (unsigned e = 0; e < TABLE_ENTRIES; e++) {
        const four_words *entry = (const four_words *)tlc_x25519_table[window][e];
        uint64_t mask = opaque(0 - (((index ^ (e + 1)) - 1) >> 63));
        for (int i = 0; i < 3; i++)
            part[i] |= entry[i] & mask;
    }
    // The neutral point is (1, 1, 0), when no entry was taken.
    uint64_t words[12], none = opaque(index - 1) >> 63;
    memcpy(words, part, sizeof words);
    words[0] |= none;
    words[4] |= none;
    fe_from_words(&n->y_plus_x, words);
    fe_from_words(&n->y_minus_x, words + 4);
    fe_from_words(&n->xy2d, words + 8);
    niels_negate(n, negative);
}

// scalar * the point u, as x / z.
static inline void variable_multiply(fe *x, fe *z, const uint8_t *scalar, const uint8_t *u)
{
    struct ladder l;
    fe_scalar k;
    fe x1;
    fe_scalar_load(&k, scalar);
    fe_load(&x1, u);
    ladder_multiply(&l, &k, &x1);
    *x = l.x2;
    *z = l.z2;
}

// scalar * B; y and z are what the map needs of it.
static inline void base_multiply(fe *y, fe *z, const uint8_t *scalar)
{
    int8_t digits[TABLE_WINDOWS];
    struct edwards p;
    struct niels n;
    recode_scalar(digits, 1, scalar, TABLE_BITS, TABLE_WINDOWS);
    edwards_set_neutral(&p);
    for (unsigned i = 0; i < TABLE_WINDOWS; i++) {
        table_pick(&n, i, digits[i]);
        edwards_add(&p, &n);
    }
    *y = p.y;
    *z = p.z;
}

#endif

#endif
