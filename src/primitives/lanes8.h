// Eight 64-bit values at once: AVX-512 with IFMA, or the same in plain C, which the tests run where
// the instructions are missing or cannot be watched. Private to the room.
#ifndef TLC_PRIMITIVES_LANES8_H
#define TLC_PRIMITIVES_LANES8_H

#include <stdint.h>

#ifdef __AVX512IFMA__

#include <immintrin.h>

typedef __m512i v8;
typedef __mmask8 v8_mask; // a bit for each lane

#define v8_set1(x)            _mm512_set1_epi64((long long)(x))
#define v8_load(p)            _mm512_load_si512(p)
#define v8_store(p, x)        _mm512_store_si512(p, x)
#define v8_add(a, b)          _mm512_add_epi64(a, b)
#define v8_sub(a, b)          _mm512_sub_epi64(a, b)
#define v8_and(a, b)          _mm512_and_si512(a, b)
#define v8_shift_right(a, n)  _mm512_srli_epi64(a, n)
#define v8_shift_left(a, n)   _mm512_slli_epi64(a, n)
#define v8_multiply(a, b)     _mm512_mullo_epi64(a, b)
#define v8_madd_low(r, a, b)  _mm512_madd52lo_epu64(r, a, b)
#define v8_madd_high(r, a, b) _mm512_madd52hi_epu64(r, a, b)
// b where the mask is set, else a.
#define v8_blend(mask, a, b) _mm512_mask_blend_epi64(mask, a, b)
#define v8_equal(a, b)       _mm512_cmpeq_epi64_mask(a, b)
#define v8_nonzero(a)        _mm512_test_epi64_mask(a, a)
#define v8_digits(p)         _mm512_cvtepi8_epi64(_mm_loadl_epi64((const __m128i *)(p)))
#define v8_absolute(a)       _mm512_abs_epi64(a)
#define v8_negative(a)       _mm512_movepi64_mask(a)
// Element index (0 to 15, in each lane) of the sixteen at p. The permutation takes the same time
// for every index.
#define v8_pick16(p, index) _mm512_permutex2var_epi64(v8_load(p), index, v8_load((p) + 8))
// Lane i gets lane (i + n) % 8.
#define v8_rotate(a, n) _mm512_alignr_epi64(a, a, n)
// Lanes 0 to 3 get the lanes i, j, k, l of 0 to 3, and 4 to 7 the same of 4 to 7.
#define v8_permute4(a, i, j, k, l) _mm512_permutex_epi64(a, (i) | (j) << 2 | (k) << 4 | (l) << 6)

#else

typedef struct {
    uint64_t lane[8];
} v8;
typedef uint8_t v8_mask;

#define V8_FUNCTION(name, expression)                                                              \
    static inline v8 name(v8 a, v8 b)                                                              \
    {                                                                                              \
        v8 r;                                                                                      \
        for (int i = 0; i < 8; i++) {                                                              \
            const uint64_t x = a.lane[i], y = b.lane[i];                                           \
            r.lane[i] = expression;                                                                \
        }                                                                                          \
        return r;                                                                                  \
    }
V8_FUNCTION(v8_add, x + y)
V8_FUNCTION(v8_sub, x - y)
V8_FUNCTION(v8_and, x &y)
V8_FUNCTION(v8_multiply, x *y)
V8_FUNCTION(v8_shift_right_by, x >> y)
V8_FUNCTION(v8_shift_left_by, x << y)

static inline v8 v8_set1(uint64_t x)
{
    return (v8){{x, x, x, x, x, x, x, x}};
}

#define v8_shift_right(a, n) v8_shift_right_by(a, v8_set1(n))
#define v8_shift_left(a, n)  v8_shift_left_by(a, v8_set1(n))

static inline v8 v8_load(const uint64_t *p)
{
    v8 r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = p[i];
    return r;
}

static inline void v8_store(uint64_t *p, v8 a)
{
    for (int i = 0; i < 8; i++)
        p[i] = a.lane[i];
}

static inline unsigned __int128 v8_product52(uint64_t a, uint64_t b)
{
    const uint64_t low52 = ((uint64_t)1 << 52) - 1;
    return (unsigned __int128)(a & low52) * (b & low52);
}

static inline v8 v8_madd_low(v8 r, v8 a, v8 b)
{
    for (int i = 0; i < 8; i++)
        r.lane[i] += (uint64_t)v8_product52(a.lane[i], b.lane[i]) & (((uint64_t)1 << 52) - 1);
    return r;
}

static inline v8 v8_madd_high(v8 r, v8 a, v8 b)
{
    for (int i = 0; i < 8; i++)
        r.lane[i] += (uint64_t)(v8_product52(a.lane[i], b.lane[i]) >> 52);
    return r;
}

static inline v8 v8_blend(v8_mask mask, v8 a, v8 b)
{
    for (int i = 0; i < 8; i++) {
        uint64_t take = 0 - (uint64_t)(mask >> i & 1);
        a.lane[i] = (a.lane[i] & ~take) | (b.lane[i] & take);
    }
    return a;
}

static inline v8_mask v8_nonzero(v8 a)
{
    unsigned mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (unsigned)((a.lane[i] | (0 - a.lane[i])) >> 63) << i;
    return (v8_mask)mask;
}

static inline v8_mask v8_equal(v8 a, v8 b)
{
    return (v8_mask)~v8_nonzero(v8_sub(a, b));
}

static inline v8 v8_digits(const int8_t *p)
{
    v8 r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = (uint64_t)(int64_t)p[i];
    return r;
}

static inline v8_mask v8_negative(v8 a)
{
    return v8_nonzero(v8_shift_right(a, 63));
}

static inline v8 v8_absolute(v8 a)
{
    return v8_blend(v8_negative(a), a, v8_sub(v8_set1(0), a));
}

static inline v8 v8_pick16(const uint64_t *p, v8 index)
{
    v8 r = v8_set1(0);
    for (uint64_t e = 0; e < 16; e++)
        r = v8_blend(v8_equal(index, v8_set1(e)), r, v8_set1(p[e]));
    return r;
}

static inline v8 v8_rotate(v8 a, int n)
{
    v8 r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = a.lane[(i + n) % 8];
    return r;
}

static inline v8 v8_permute4(v8 a, int i, int j, int k, int l)
{
    const int from[4] = {i, j, k, l};
    v8 r;
    for (int lane = 0; lane < 8; lane++)
        r.lane[lane] = a.lane[lane / 4 * 4 + from[lane % 4]];
    return r;
}

#endif

#endif
