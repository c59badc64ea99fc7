// The code of the AVX-512 back ends on lanes in plain C, against the first back end.
#include "test_x25519_support.h"

#include "primitives/backends.h"

static const struct tlc_x25519_backend *const portable[] = {&tlc_x25519_lanes8,
                                                            &tlc_x25519_split64};

static void agrees(void **state)
{
    (void)state;
    const struct tlc_x25519_backend *plain = tlc_x25519_find("limbs51", NULL);
    for (size_t n = 0; n < 2; n++)
        for (int round = 0; round < 30; round++) {
            uint8_t scalars[LANES][BYTES], us[LANES][BYTES], got[2][LANES][BYTES], want[BYTES];
            fill_random(scalars[0], sizeof scalars);
            fill_random(us[0], sizeof us);
            portable[n]->derive(got[0][0], scalars[0], us[0]);
            portable[n]->public_key(got[1][0], scalars[0]);
            for (size_t lane = 0; lane < portable[n]->field->lanes; lane++) {
                plain->derive(want, scalars[lane], us[lane]);
                assert_bytes(got[0][lane], want, portable[n]->name);
                plain->public_key(want, scalars[lane]);
                assert_bytes(got[1][lane], want, portable[n]->name);
            }
        }
}

// The largest and smallest values of each limb, which random numbers do not meet.
static void takes_edge_values(void **state)
{
    (void)state;
    const struct tlc_x25519_field *lanes = tlc_x25519_lanes8.field;
    const struct tlc_x25519_field *plain = tlc_x25519_find("limbs64", NULL)->field;
    struct tlc_x25519_element a, b, x, y;
    uint8_t left[LANES][BYTES], right[LANES][BYTES], got[LANES][BYTES], want[BYTES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        memset(left[lane], lane % 2 ? 255 : 0, BYTES);
        memset(right[lane], lane % 4 < 2 ? 255 : 0, BYTES);
        left[lane][0] = (uint8_t)(0xe9 + lane);
    }
    lanes->load(&a, left[0]);
    lanes->load(&b, right[0]);
    lanes->multiply(&a, &b, 3);
    lanes->subtract(&a, &b);
    lanes->square(&a, 2);
    lanes->store(got[0], &a);
    for (unsigned lane = 0; lane < LANES; lane++) {
        plain->load(&x, left[lane]);
        plain->load(&y, right[lane]);
        plain->multiply(&x, &y, 3);
        plain->subtract(&x, &y);
        plain->square(&x, 2);
        plain->store(want, &x);
        assert_bytes(got[lane], want, "lane");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees),
        cmocka_unit_test(takes_edge_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
