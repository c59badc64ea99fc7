// What the two fields of four 64-bit words share. Private to the room.
#ifndef TLC_PRIMITIVES_WORDS64_H
#define TLC_PRIMITIVES_WORDS64_H

#include <stdint.h>

#include "primitives/bytes.h"

enum { FE_LANES = 1 };

typedef struct {
    uint64_t word[4];
} fe;
typedef uint64_t fe_mask; // all ones or zero

typedef unsigned __int128 fe_wide;

static inline void fe_set(fe *out, uint64_t value)
{
    *out = (fe){{value, 0, 0, 0}};
}

static inline void fe_from_words(fe *out, const uint64_t words[4])
{
    *out = (fe){{words[0], words[1], words[2], words[3]}};
}

static inline void fe_load(fe *out, const uint8_t bytes[32])
{
    load_words(out->word, bytes);
    out->word[3] &= ~((uint64_t)1 << 63);
}

// r + more, and 38 again for a carry beyond 2^256: what is left then is so small that a last
// addition of 38 cannot carry. `more` is below 2^63.
static inline void fe_fold(fe *out, const uint64_t r[4], uint64_t more)
{
    fe_wide t = more;
    for (int i = 0; i < 4; i++) {
        t += r[i];
        out->word[i] = (uint64_t)t;
        t >>= 64;
    }
    out->word[0] += 38 * (uint64_t)t;
}

static inline void fe_add_word(uint64_t out[4], const uint64_t a[4], uint64_t more)
{
    fe_wide t = more;
    for (int i = 0; i < 4; i++) {
        t += a[i];
        out[i] = (uint64_t)t;
        t >>= 64;
    }
}

static inline void fe_store(uint8_t bytes[32], const fe *a)
{
    const uint64_t low63 = ~((uint64_t)1 << 63);
    uint64_t t[4] = {a->word[0], a->word[1], a->word[2], a->word[3] & low63}, above[4];
    fe_add_word(t, t, 19 * (a->word[3] >> 63)); // now below 2^255 + 19
    fe_add_word(above, t, 19);                  // reaches 2^255 exactly when t >= p
    uint64_t reached = opaque(0 - (above[3] >> 63));
    for (int i = 0; i < 4; i++)
        t[i] = (above[i] & reached) | (t[i] & ~reached);
    t[3] &= low63;
    store_words(bytes, t);
}

static inline void fe_swap(fe *a, fe *b, fe_mask mask)
{
    for (int i = 0; i < 4; i++) {
        uint64_t t = mask & (a->word[i] ^ b->word[i]);
        a->word[i] ^= t;
        b->word[i] ^= t;
    }
}

#endif
