// Field arithmetic of every back end against a slow reference: schoolbook on bits, no trick of the
// prime, so that nothing is shared with what it checks.
#include "test_x25519_support.h"

// p, most significant byte last.
static const uint8_t prime[BYTES] = {
    0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};

// a - b; the return value is the borrow.
static unsigned difference(uint8_t out[BYTES], const uint8_t a[BYTES], const uint8_t b[BYTES])
{
    unsigned borrow = 0;
    for (int i = 0; i < BYTES; i++) {
        unsigned t = 256U + a[i] - b[i] - borrow;
        out[i] = (uint8_t)t;
        borrow = 1 - (t >> 8);
    }
    return borrow;
}

static void reduce(uint8_t a[BYTES])
{
    uint8_t less[BYTES];
    while (!difference(less, a, prime))
        memcpy(a, less, BYTES);
}

// Both below p, so that the sum fits.
static void ref_add(uint8_t out[BYTES], const uint8_t a[BYTES], const uint8_t b[BYTES])
{
    unsigned carry = 0;
    for (int i = 0; i < BYTES; i++) {
        carry += (unsigned)a[i] + b[i];
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    reduce(out);
}

static void ref_subtract(uint8_t out[BYTES], const uint8_t a[BYTES], const uint8_t b[BYTES])
{
    uint8_t minus[BYTES];
    difference(minus, prime, b);
    reduce(minus);
    ref_add(out, a, minus);
}

static void ref_multiply(uint8_t out[BYTES], const uint8_t a[BYTES], const uint8_t b[BYTES])
{
    uint8_t sum[BYTES] = {0};
    for (int bit = 255; bit-- > 0;) { // double and add
        ref_add(sum, sum, sum);
        if (b[bit / 8] >> bit % 8 & 1)
            ref_add(sum, sum, a);
    }
    memcpy(out, sum, BYTES);
}

enum { EDGES = 14, LIMB_EDGES = 24, RANDOM = 40, VALUES = EDGES + LIMB_EDGES + RANDOM };

static uint8_t values[VALUES][BYTES];

// 0, 1, 2, 19, p-2 .. p+2, 2^255-1, and the same with the top bit, which a load ignores.
static size_t make_edges(void)
{
    static const int offset[] = {-19, -2, -1, 0, 1, 2, 17, 18};
    size_t count = 0;
    for (size_t i = 0; i < sizeof offset / sizeof *offset; i++) {
        memcpy(values[count], prime, BYTES);
        values[count++][0] = (uint8_t)(prime[0] + offset[i]);
    }
    for (uint8_t small = 0; small < 3; small++)
        values[count++][0] = small;
    values[count++][0] = 19;
    memset(values[count++], 255, BYTES);
    values[count++][BYTES - 1] = 128;
    return count;
}

// All ones below a limb's end, one bit there, and all ones above, for limbs of 51 and 64 bits.
static size_t make_limb_edges(size_t count)
{
    static const unsigned ends[] = {51, 102, 153, 204, 64, 128, 192, 254};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (unsigned bit = 0; bit < 255; bit++) {
            uint8_t one = (uint8_t)(1 << bit % 8);
            values[count + 3 * i][bit / 8] |= bit < ends[i] ? one : 0;
            values[count + 3 * i + 1][bit / 8] |= bit == ends[i] ? one : 0;
            values[count + 3 * i + 2][bit / 8] |= bit >= ends[i] ? one : 0;
        }
    return count + 24;
}

static int make_values(void **state)
{
    (void)state;
    size_t count = make_edges();
    assert_int_equal(count, EDGES);
    count = make_limb_edges(count);
    fill_random(values[count], sizeof values[0] * (VALUES - count));
    return 0;
}

static void canonical(uint8_t out[BYTES], const uint8_t a[BYTES])
{
    memcpy(out, a, BYTES);
    out[BYTES - 1] &= 127;
    reduce(out);
}

enum operation { LOAD, ADD, SUBTRACT, MULTIPLY, SQUARE, A24 };

static void reference(enum operation operation, uint8_t out[BYTES], const uint8_t a[BYTES],
                      const uint8_t b[BYTES])
{
    static const uint8_t a24[BYTES] = {0x41, 0xdb, 1}; // 121665
    uint8_t x[BYTES], y[BYTES];
    canonical(x, a);
    canonical(y, b);
    memcpy(out, x, BYTES);
    if (operation == ADD)
        ref_add(out, x, y);
    else if (operation == SUBTRACT)
        ref_subtract(out, x, y);
    else if (operation == MULTIPLY || operation == SQUARE)
        ref_multiply(out, x, operation == SQUARE ? x : y);
    else if (operation == A24)
        ref_multiply(out, x, a24);
}

static void apply(const struct tlc_x25519_field *f, enum operation operation,
                  struct tlc_x25519_element *a, const struct tlc_x25519_element *b)
{
    if (operation == ADD)
        f->add(a, b);
    else if (operation == SUBTRACT)
        f->subtract(a, b);
    else if (operation == MULTIPLY)
        f->multiply(a, b, 1);
    else if (operation == SQUARE)
        f->square(a, 1);
    else if (operation == A24)
        f->multiply_a24(a);
}

// Value i with value k in one lane, the following ones in the others.
static void compare(const struct tlc_x25519_backend *backend, enum operation operation, size_t i,
                    size_t k)
{
    const struct tlc_x25519_field *f = backend->field;
    uint8_t left[LANES][BYTES], right[LANES][BYTES], got[LANES][BYTES], want[BYTES];
    struct tlc_x25519_element a, b;
    for (size_t lane = 0; lane < f->lanes; lane++) {
        memcpy(left[lane], values[i], BYTES);
        memcpy(right[lane], values[(k + lane) % VALUES], BYTES);
    }
    f->load(&a, left[0]);
    f->load(&b, right[0]);
    apply(f, operation, &a, &b);
    f->store(got[0], &a);
    for (size_t lane = 0; lane < f->lanes; lane++) {
        reference(operation, want, left[lane], right[lane]);
        assert_bytes(got[lane], want, backend->name);
    }
}

static void compare_all(enum operation operation, bool pairs)
{
    const struct tlc_x25519_backend *b;
    for (size_t n = 0; (b = runnable(n)); n++)
        for (size_t i = 0; i < VALUES; i++)
            for (size_t k = 0; k < (pairs ? VALUES : 1); k += pairs ? b->field->lanes : 1)
                compare(b, operation, i, k);
}

static void load_and_store_are_canonical(void **state)
{
    (void)state;
    compare_all(LOAD, false);
}

static void adds(void **state)
{
    (void)state;
    compare_all(ADD, true);
}

static void subtracts(void **state)
{
    (void)state;
    compare_all(SUBTRACT, true);
}

static void multiplies(void **state)
{
    (void)state;
    compare_all(MULTIPLY, true);
}

static void squares(void **state)
{
    (void)state;
    compare_all(SQUARE, false);
}

static void multiplies_by_a24(void **state)
{
    (void)state;
    compare_all(A24, false);
}

// Results that were never stored go into the next operation: what they carry beyond the canonical
// form must not matter. a <- (a^2 * b - a) * a24 + b.
static void chains(void **state)
{
    (void)state;
    static const enum operation steps[] = {SQUARE, MULTIPLY, SUBTRACT, A24, ADD};
    const struct tlc_x25519_backend *b;
    for (size_t n = 0; (b = runnable(n)); n++) {
        const struct tlc_x25519_field *f = b->field;
        for (size_t i = 0; i < VALUES; i++) {
            uint8_t lanes[LANES][BYTES], want[BYTES];
            struct tlc_x25519_element a, factor;
            spread(lanes[0], f->lanes, values[i]);
            f->load(&a, lanes[0]);
            spread(lanes[0], f->lanes, values[(i + 5) % VALUES]);
            f->load(&factor, lanes[0]);
            memcpy(want, values[i], BYTES);
            for (size_t k = 0; k < 20; k++) {
                apply(f, steps[k % 5], &a, &factor);
                reference(steps[k % 5], want, want, values[(i + 5) % VALUES]);
            }
            f->store(lanes[0], &a);
            for (size_t lane = 0; lane < f->lanes; lane++)
                assert_bytes(lanes[lane], want, b->name);
        }
    }
}

static void repeats(void **state) // `count` multiplications are that many times one
{
    (void)state;
    const struct tlc_x25519_backend *b;
    for (size_t n = 0; (b = runnable(n)); n++) {
        const struct tlc_x25519_field *f = b->field;
        uint8_t lanes[2][LANES * BYTES], want[BYTES];
        struct tlc_x25519_element a, factor;
        spread(lanes[0], f->lanes, values[VALUES - 1]);
        spread(lanes[1], f->lanes, values[VALUES - 2]);
        f->load(&a, lanes[0]);
        f->load(&factor, lanes[1]);
        f->multiply(&a, &factor, 7);
        f->square(&a, 3);
        f->store(lanes[0], &a);
        memcpy(want, values[VALUES - 1], BYTES);
        for (int i = 0; i < 7; i++)
            reference(MULTIPLY, want, want, values[VALUES - 2]);
        for (int i = 0; i < 3; i++)
            reference(SQUARE, want, want, want);
        for (size_t lane = 0; lane < f->lanes; lane++)
            assert_bytes(lanes[0] + BYTES * lane, want, b->name);
    }
}

static void inverts(void **state)
{
    (void)state;
    const struct tlc_x25519_backend *b;
    for (size_t n = 0; (b = runnable(n)); n++)
        for (size_t i = 0; i < VALUES; i++) {
            uint8_t lanes[LANES * BYTES], inverse[LANES * BYTES], product[BYTES], want[BYTES] = {0};
            struct tlc_x25519_element a;
            spread(lanes, b->field->lanes, values[i]);
            b->field->load(&a, lanes);
            b->field->invert(&a);
            b->field->store(inverse, &a);
            canonical(product, values[i]);
            want[0] = memcmp(product, want, BYTES) != 0; // 0 has none and stays 0
            for (size_t lane = 0; lane < b->field->lanes; lane++) {
                reference(MULTIPLY, product, values[i], inverse + BYTES * lane);
                assert_bytes(product, want, b->name);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_and_store_are_canonical),
        cmocka_unit_test(adds),
        cmocka_unit_test(subtracts),
        cmocka_unit_test(multiplies),
        cmocka_unit_test(squares),
        cmocka_unit_test(multiplies_by_a24),
        cmocka_unit_test(chains),
        cmocka_unit_test(repeats),
        cmocka_unit_test(inverts),
    };
    return cmocka_run_group_tests(tests, make_values, NULL);
}
