#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/change_point.h"
#include "stats/rank_sum.h"

static void is_near(double value, double expected, double slack)
{
    if (!(fabs(value - expected) <= slack))
        fail_msg("%.12g is not %.12g", value, expected);
}

// P(U <= u) by counting all choices of `m` places among m + n.
static double counted_cdf(size_t m, size_t n, size_t u)
{
    size_t hits = 0, all = 0;
    for (size_t mask = 0; mask < (size_t)1 << (m + n); mask++) {
        size_t chosen = 0, larger = 0, others = 0;
        for (size_t place = 0; place < m + n; place++) {
            if (mask >> place & 1) {
                chosen++;
                larger += others;
            } else {
                others++;
            }
        }
        if (chosen != m)
            continue;
        all++;
        hits += larger <= u;
    }
    return (double)hits / (double)all;
}

static void distribution_is_that_of_counting(void **state)
{
    (void)state;
    for (size_t m = 1; m <= 6; m++)
        for (size_t n = 1; n <= 6; n++)
            for (size_t u = 0; u <= m * n; u++)
                is_near(tlc_rank_sum_cdf(m, n, u), counted_cdf(m, n, u), 1e-12);
    // Beyond exact counting the approximation goes on where counting ends.
    is_near(tlc_rank_sum_cdf(40, 41, 640), tlc_rank_sum_cdf(40, 40, 624), 0.002);
}

static void interval_needs_four_and_four(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4}, b[] = {11, 12, 13, 14};
    struct tlc_interval three = tlc_rank_sum_interval(a, 3, b, 3, 0.95);
    assert_true(isinf(three.low) && isinf(three.high));
    is_near(three.estimate, 10, 1e-12);
    // k = 1: from the smallest to the largest difference, coverage 1 - 2/70.
    struct tlc_interval four = tlc_rank_sum_interval(a, 4, b, 4, 0.95);
    is_near(four.low, 7, 1e-12);
    is_near(four.high, 13, 1e-12);
    is_near(four.estimate, 10, 1e-12);
    assert_int_equal(four.n, 4);
}

static void interval_of_six_and_six_is_the_sixth_difference(void **state)
{
    (void)state;
    // P(U <= 5) = 19/924 <= 0.025 < P(U <= 6) = 30/924, so k = 6.
    const double a[] = {0, 0, 0, 0, 0, 0}, b[] = {1, 2, 3, 4, 5, 6};
    struct tlc_interval interval = tlc_rank_sum_interval(a, 6, b, 6, 0.95);
    is_near(interval.low, 1, 1e-12);
    is_near(interval.high, 6, 1e-12);
    is_near(interval.estimate, 3.5, 1e-12);
    const double c[] = {0, 10, 20, 30, 40, 50}, d[] = {1, 12, 23, 34, 45, 56};
    interval = tlc_rank_sum_interval(c, 6, d, 6, 0.95);
    assert_true(interval.low < 0 && interval.high > 0);
    // Shifting one sample shifts the interval.
    double e[6];
    for (int i = 0; i < 6; i++)
        e[i] = d[i] + 100;
    struct tlc_interval moved = tlc_rank_sum_interval(c, 6, e, 6, 0.95);
    is_near(moved.low - interval.low, 100, 1e-9);
    is_near(moved.high - interval.high, 100, 1e-9);
}

static void p_value_is_exact_also_with_ties(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
    is_near(tlc_rank_sum_p(a, 6, b, 6, 0), 2.0 / 924, 1e-12);
    is_near(tlc_rank_sum_p(b, 6, a, 6, 0), 2.0 / 924, 1e-12);
    // Tested at the shift itself nothing is left.
    is_near(tlc_rank_sum_p(a, 6, b, 6, 6), 1, 1e-12);
    // {1, 1, 2} against {2, 2}: of 10 choices of two places, 3 have the highest rank sum.
    const double c[] = {1, 1, 2}, d[] = {2, 2};
    is_near(tlc_rank_sum_p(c, 3, d, 2, 0), 0.6, 1e-12);
    assert_true(isnan(tlc_rank_sum_p(c, 0, d, 2, 0)));
    const double with_nan[] = {NAN, 1, 2, 3, 4, 5, 6};
    is_near(tlc_rank_sum_p(with_nan, 7, b, 6, 0), 2.0 / 924, 1e-12);
}

static void p_value_and_interval_agree(void **state)
{
    (void)state;
    const double a[] = {0.2, 1.7, 2.1, 3.9, 5.5, 6.3}, b[] = {1.1, 4.2, 5.1, 7.7, 8.3, 9.9, 12.4};
    struct tlc_interval interval = tlc_rank_sum_interval(a, 6, b, 7, 0.95);
    assert_true(tlc_rank_sum_p(a, 6, b, 7, interval.low - 1e-9) <= 0.05);
    assert_true(tlc_rank_sum_p(a, 6, b, 7, interval.low + 1e-9) > 0.05);
    assert_true(tlc_rank_sum_p(a, 6, b, 7, interval.high + 1e-9) <= 0.05);
    assert_true(tlc_rank_sum_p(a, 6, b, 7, interval.high - 1e-9) > 0.05);
}

static uint64_t seed = 1;

static double uniform(void)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void interval_covers_under_heavy_tails(void **state)
{
    (void)state;
    enum { TRIALS = 2000 };
    static const size_t sizes[] = {6, 8, 20, 50};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s], inside = 0;
        double a[50], b[50];
        for (int trial = 0; trial < TRIALS; trial++) {
            for (size_t i = 0; i < n; i++) {
                a[i] = tan(3.14159265 * (uniform() - 0.5)); // Cauchy
                b[i] = 0.7 + tan(3.14159265 * (uniform() - 0.5));
            }
            struct tlc_interval interval = tlc_rank_sum_interval(a, n, b, n, 0.95);
            inside += interval.low <= 0.7 && interval.high >= 0.7;
        }
        double coverage = (double)inside / TRIALS;
        // At least 95 %, at most what six and six units make of it; three deviations of slack.
        if (coverage < 0.935 || coverage > 0.977)
            fail_msg("n = %zu covers %.3f", n, coverage);
    }
}

static void a_step_is_found_where_it_is(void **state)
{
    (void)state;
    const double series[] = {1.00, 1.01, 0.99, 1.02, 1.00, 1.10, 1.11, 1.09, 1.12, 1.10};
    struct tlc_change change = tlc_pettitt(series, 10, 9999, 42);
    assert_int_equal(change.at, 5);
    assert_true(change.p <= 0.02);
    assert_true(change.p >= 1.0 / 10000);
    struct tlc_change again = tlc_pettitt(series, 10, 9999, 42);
    is_near(change.p, again.p, 0);
}

static void a_level_series_has_no_change(void **state)
{
    (void)state;
    double series[40];
    size_t marked = 0;
    struct tlc_change changes[8];
    for (int trial = 0; trial < 100; trial++) {
        for (size_t i = 0; i < 40; i++)
            series[i] = uniform();
        marked += tlc_change_points(series, 40, 0.01, 3, changes, 8) > 0;
    }
    assert_true(marked <= 5);
    const double constant[] = {1, 1, 1, 1, 1, 1, 1, 1};
    is_near(tlc_pettitt(constant, 8, 99, 1).p, 1, 0);
    assert_int_equal(tlc_change_points(constant, 8, 0.05, 2, changes, 8), 0);
    assert_int_equal(tlc_change_points(constant, 0, 0.05, 2, changes, 8), 0);
}

static void two_steps_are_found_in_order(void **state)
{
    (void)state;
    double series[36];
    struct tlc_change changes[8];
    for (size_t i = 0; i < 36; i++)
        series[i] = (i < 12 ? 1 : i < 24 ? 2 : 1.5) + 0.01 * (double)(i * 7 % 5);
    assert_int_equal(tlc_change_points(series, 36, 0.01, 3, changes, 8), 2);
    assert_int_equal(changes[0].at, 12);
    assert_int_equal(changes[1].at, 24);
    assert_int_equal(tlc_change_points(series, 36, 0.01, 3, changes, 1), 1);
}

static void outliers_stand_out_and_others_do_not(void **state)
{
    (void)state;
    const double values[] = {10, 10.1, 9.9, 10.05, 9.95, 14, NAN};
    double scores[7];
    tlc_robust_scores(values, 7, scores);
    assert_true(scores[5] > TLC_OUTLIER_LIMIT);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(scores[i]) < TLC_OUTLIER_LIMIT);
    assert_true(isnan(scores[6]));
    tlc_robust_scores(values + 2, 4, scores); // too few to tell
    is_near(scores[3], 0, 0);
    const double same[] = {1, 1, 1, 1, 1, 1};
    tlc_robust_scores(same, 6, scores);
    is_near(scores[0], 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distribution_is_that_of_counting),
        cmocka_unit_test(interval_needs_four_and_four),
        cmocka_unit_test(interval_of_six_and_six_is_the_sixth_difference),
        cmocka_unit_test(p_value_is_exact_also_with_ties),
        cmocka_unit_test(p_value_and_interval_agree),
        cmocka_unit_test(interval_covers_under_heavy_tails),
        cmocka_unit_test(a_step_is_found_where_it_is),
        cmocka_unit_test(a_level_series_has_no_change),
        cmocka_unit_test(two_steps_are_found_in_order),
        cmocka_unit_test(outliers_stand_out_and_others_do_not),
    };
    return cmocka_run_group_tests_name("rank_sum", tests, NULL, NULL);
}
