// Quantiles and their order-statistic intervals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "stats/quantile.h"

enum { MOST = 5000 };

static double values[MOST];

static const double *ranks(void) // value = rank, from 1
{
    for (size_t i = 0; i < MOST; i++)
        values[i] = (double)(i + 1);
    return values;
}

// Exact binomial tables: n = 10, p = 1/2: P(B <= 1) = 0.0107, P(B <= 2) = 0.0547, so x2 and x9.
static void medians_have_the_textbook_ranks(void **state)
{
    (void)state;
    struct tlc_interval ten = tlc_quantile_interval(ranks(), 10, 0.5, 0.95);
    assert_true(ten.estimate == 5 && ten.low == 2 && ten.high == 9 && ten.n == 10);
    struct tlc_interval hundred = tlc_quantile_interval(ranks(), 100, 0.5, 0.95);
    assert_true(hundred.estimate == 50 && hundred.low == 40 && hundred.high == 61);
}

static void too_few_values_give_no_bound(void **state)
{
    (void)state;
    struct tlc_interval five = tlc_quantile_interval(ranks(), 5, 0.5, 0.95);
    assert_true(isinf(five.low) && isinf(five.high) && five.estimate == 3);
    struct tlc_interval tail = tlc_quantile_interval(ranks(), 3687, 0.999, 0.95);
    assert_true(isinf(tail.high) && isfinite(tail.low));
    // 1 - 0.999^n >= 0.975 from n = 3688 on
    tail = tlc_quantile_interval(ranks(), 3688, 0.999, 0.95);
    assert_true(tail.high == 3688);
    struct tlc_interval none = tlc_quantile_interval(ranks(), 0, 0.5, 0.95);
    assert_true(isnan(none.estimate) && isinf(none.low) && isinf(none.high));
    struct tlc_interval one = tlc_quantile_interval(ranks(), 1, 0.999, 0.95);
    assert_true(one.estimate == 1 && isinf(one.high));
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// Uniform numbers, whose quantiles are known: the interval must hold them as often as it says.
static void intervals_cover_as_they_say(void **state)
{
    (void)state;
    static const double quantiles[] = {0.5, 0.9, 0.99};
    enum { N = 1000, TRIALS = 1000 };
    uint64_t seed = 1;
    unsigned covered[3] = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < N; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            values[i] = (double)(seed >> 11) * 0x1p-53;
        }
        qsort(values, N, sizeof *values, by_value);
        for (int q = 0; q < 3; q++) {
            struct tlc_interval interval = tlc_quantile_interval(values, N, quantiles[q], 0.95);
            covered[q] += interval.low <= quantiles[q] && quantiles[q] <= interval.high;
        }
    }
    for (int q = 0; q < 3; q++) // 950 or more; standard deviation 7
        assert_in_range(covered[q], 925, 995);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_have_the_textbook_ranks),
        cmocka_unit_test(too_few_values_give_no_bound),
        cmocka_unit_test(intervals_cover_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
