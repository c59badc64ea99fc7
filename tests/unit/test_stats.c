#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_near(double got, double want, double tolerance, int line)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("line %d: got %.12g, want %.12g within %g", line, got, want, tolerance);
}
#define assert_near(got, want, tolerance) check_near(got, want, tolerance, __LINE__)

static uint64_t random_state = 42;

static double uniform(void) // splitmix64, 0 to 1
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void medians(void **state)
{
    (void)state;
    double values[] = {5, -1, NAN, 3, 100};
    assert_near(tlc_median(values, 5), 4, 0);
    assert_near(values[0], 5, 0); // not reordered
    assert_near(tlc_median(values, 2), 2, 0);
    assert_near(tlc_median(values, 1), 5, 0);
    assert_true(isnan(tlc_median(values, 0)));
    assert_true(isnan(tlc_median(values + 2, 1)));
}

static void percentiles_by_nearest_rank(void **state)
{
    (void)state;
    uint32_t values[] = {40, 15, 20, 50, 35};
    tlc_sort_u32(values, 5);
    const uint32_t sorted[] = {15, 20, 35, 40, 50};
    assert_memory_equal(values, sorted, sizeof sorted);
    const double p[] = {0, 0.05, 0.30, 0.40, 0.50, 1.00, 2};
    const double want[] = {15, 15, 20, 20, 35, 50, 50};
    for (size_t i = 0; i < COUNT(p); i++)
        assert_near(tlc_percentile_u32(sorted, 5, p[i]), want[i], 0);
    assert_true(isnan(tlc_percentile_u32(sorted, 0, 0.5)));
    tlc_sort_u32(NULL, 0);
}

static void variation(void **state)
{
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9}; // mean 5, sum of squares 32
    assert_near(tlc_coefficient_of_variation(values, 8), sqrt(32.0 / 7) / 5, 1e-15);
    assert_true(isnan(tlc_coefficient_of_variation(values, 1)));
    const double balanced[] = {-1, 1};
    assert_true(isnan(tlc_coefficient_of_variation(balanced, 2)));
}

// Critical values of T, two-sided, as printed in tables of the test (Wilcoxon and Wilcox, Some
// Rapid Approximate Statistical Procedures, 1964, and textbooks since): the largest t with P(T <=
// t) <= alpha / 2.
static void critical_values_of_published_tables(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        int five, one; // alpha = 0.05 and 0.01; -1: no value
    } table[] = {{5, -1, -1},  {6, 0, -1},     {7, 2, -1},     {8, 3, 0},     {9, 5, 1},
                 {10, 8, 3},   {11, 10, 5},    {12, 13, 7},    {13, 17, 9},   {14, 21, 12},
                 {15, 25, 15}, {16, 29, 19},   {17, 34, 23},   {18, 40, 27},  {19, 46, 32},
                 {20, 52, 37}, {21, 58, 42},   {22, 65, 48},   {23, 73, 54},  {24, 81, 61},
                 {25, 89, 68}, {30, 137, 109}, {40, 264, 220}, {50, 434, 373}};
    for (size_t i = 0; i < COUNT(table); i++)
        for (int strict = 0; strict < 2; strict++) {
            int critical = strict ? table[i].one : table[i].five;
            double tail = strict ? 0.005 : 0.025;
            if (critical >= 0)
                assert_true(tlc_signed_rank_cdf(table[i].n, (size_t)critical) <= tail);
            assert_true(tlc_signed_rank_cdf(table[i].n, (size_t)(critical + 1)) > tail);
        }
}

static void distribution_is_exact(void **state)
{
    (void)state;
    assert_near(tlc_signed_rank_cdf(5, 0), 1.0 / 32, 0);
    assert_near(tlc_signed_rank_cdf(3, 3), 5.0 / 8, 0); // sums 0 1 2 3 3 4 5 6
    assert_near(tlc_signed_rank_cdf(3, 6), 1, 0);
    // the last exact n and the first approximate one agree where they should
    for (size_t t = 8000; t <= 12000; t += 500)
        assert_near(tlc_signed_rank_cdf(200, t),
                    0.5 * erfc(-((double)t + 0.5 - 10050) / sqrt(2 * 671675.0)), 1e-3);
    assert_near(tlc_signed_rank_cdf(201, 201 * 202 / 4), 0.5, 1e-3);
}

static void achieved_levels(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double level;
    } table[] = {
        {5, 1}, {6, 1 - 2.0 / 64}, {7, 1 - 6.0 / 128}, {8, 1 - 10.0 / 256}, {10, 1 - 50.0 / 1024}};
    for (size_t i = 0; i < COUNT(table); i++)
        assert_near(tlc_signed_rank_level(table[i].n, 0.95), table[i].level, 1e-12);
    for (size_t n = 6; n <= 250; n++) {
        double level = tlc_signed_rank_level(n, 0.95);
        assert_true(level >= 0.95 - 2e-4 && level <= 0.98);
    }
    assert_near(tlc_signed_rank_level(6, 1 - 2.0 / 64), 1 - 2.0 / 64, 1e-12);
}

// Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, example 3.1: Hamilton depression
// scale factor IV of nine patients before and after tranquilizer therapy.
static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};

static void textbook_example(void **state)
{
    (void)state;
    double change[9];
    for (size_t i = 0; i < 9; i++)
        change[i] = after[i] - before[i];
    assert_near(tlc_signed_rank_p(change, 9, 0), 2 * 0.01953125, 1e-12); // T+ = 5
    struct tlc_interval interval = tlc_signed_rank_interval(change, 9, 0.95);
    assert_near(interval.estimate, -0.46, 1e-12);
    assert_near(interval.low, -0.786, 1e-12);
    assert_near(interval.high, -0.010, 1e-12);
    assert_int_equal(interval.n, 9);
    assert_near(tlc_signed_rank_level(9, 0.95), 1 - 2 * 0.01953125, 1e-12); // the book's 96 %
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void interval_agrees_with_all_walsh_averages(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        double values[40], walsh[40 * 41 / 2];
        for (size_t i = 0; i < n; i++) // ties, zeros and both signs on purpose
            values[i] = n % 3 ? uniform() - 0.5 : floor(uniform() * 8) - 4;
        size_t total = 0, k = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++)
                walsh[total++] = values[i] / 2 + values[j] / 2;
        qsort(walsh, total, sizeof *walsh, ascending);
        struct tlc_interval interval = tlc_signed_rank_interval(values, n, 0.9);
        assert_near(interval.estimate, walsh[(total - 1) / 2] / 2 + walsh[total / 2] / 2, 1e-15);
        while (tlc_signed_rank_cdf(n, k) <= 0.05)
            k++;
        if (k == 0) {
            assert_true(isinf(interval.low) && isinf(interval.high));
            continue;
        }
        assert_near(interval.low, walsh[k - 1], 0);
        assert_near(interval.high, walsh[total - k], 0);
    }
}

static void small_samples_give_no_interval(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, NAN, INFINITY};
    struct tlc_interval interval = tlc_signed_rank_interval(values, 7, 0.95);
    assert_int_equal(interval.n, 5);
    assert_near(interval.estimate, 3, 0);
    assert_true(isinf(interval.low) && interval.low < 0);
    assert_true(isinf(interval.high) && interval.high > 0);
    interval = tlc_signed_rank_interval(values, 0, 0.95);
    assert_true(isnan(interval.estimate) && isinf(interval.low) && interval.n == 0);
}

// Beyond the exact limit: the interval of 1..n is symmetric and near the exact one's depth.
static void large_samples_are_approximated(void **state)
{
    (void)state;
    double values[1001];
    for (size_t i = 0; i < 1001; i++)
        values[i] = (double)i - 500;
    struct tlc_interval interval = tlc_signed_rank_interval(values, 1001, 0.95);
    assert_near(interval.estimate, 0, 0);
    assert_near(interval.low, -interval.high, 0);
    assert_true(interval.high > 15 && interval.high < 21); // 1.96 * 289 / sqrt(1001) = 17.9
    assert_near(tlc_signed_rank_p(values, 1001, 0), 1, 1e-3);
    assert_near(tlc_signed_rank_p(values, 1001, interval.high), 0.05, 0.01);
}

// All 2^n sign patterns, counted one by one.
static double p_by_enumeration(const double *values, size_t n)
{
    double ranks[16] = {0}, total = 0, above = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            ranks[i] += fabs(values[j]) < fabs(values[i])   ? 1
                        : fabs(values[j]) > fabs(values[i]) ? 0
                        : j == i                            ? 1
                                                            : 0.5;
    for (size_t i = 0; i < n; i++) {
        total += ranks[i];
        above += values[i] > 0 ? ranks[i] : 0;
    }
    size_t extreme = 0;
    for (size_t pattern = 0; pattern < (size_t)1 << n; pattern++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += pattern >> i & 1 ? ranks[i] : 0;
        extreme += fabs(sum - total / 2) >= fabs(above - total / 2) - 1e-9;
    }
    return (double)extreme / (double)((size_t)1 << n);
}

static void p_values_with_ties_and_zeros(void **state)
{
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        double values[14];
        size_t n = 0;
        for (int i = 0; i < 12; i++) {
            double value = floor(uniform() * 10) - 3;
            if (value > 0 || value < 0)
                values[n++] = value;
        }
        double want = p_by_enumeration(values, n);
        assert_near(tlc_signed_rank_p(values, n, 0), want, 1e-12);
        values[n] = values[n + 1] = 0; // zeros change nothing
        assert_near(tlc_signed_rank_p(values, n + 2, 0), want, 1e-12);
    }
    const double zeros[] = {0, 0, NAN};
    assert_near(tlc_signed_rank_p(zeros, 3, 0), 1, 0);
    assert_near(tlc_signed_rank_p(zeros, 0, 0), 1, 0);
}

// The interval is the inverse of the test: centres inside are not rejected, those outside are.
static void interval_inverts_the_test(void **state)
{
    (void)state;
    double values[12];
    for (size_t i = 0; i < 12; i++)
        values[i] = uniform() * uniform();
    struct tlc_interval interval = tlc_signed_rank_interval(values, 12, 0.95);
    assert_true(tlc_signed_rank_p(values, 12, interval.low - 1e-9) <= 0.05);
    assert_true(tlc_signed_rank_p(values, 12, interval.low + 1e-9) > 0.05);
    assert_true(tlc_signed_rank_p(values, 12, interval.high - 1e-9) > 0.05);
    assert_true(tlc_signed_rank_p(values, 12, interval.high + 1e-9) <= 0.05);
}

static void ratios_over_instances(void **state)
{
    (void)state;
    double log_ratios[64];
    unsigned instance[64];
    for (unsigned i = 0; i < 64; i++) { // 8 instances of 8 rounds around log 1.1
        instance[i] = i % 8;
        log_ratios[i] = log(1.1) + 0.001 * ((double)(i % 8) - 3.5) + 0.01 * ((double)(i / 8) - 3.5);
    }
    struct tlc_interval ratio = tlc_ratio_over_instances(log_ratios, instance, 64, 8, 0.95);
    assert_int_equal(ratio.n, 8);
    assert_near(ratio.estimate, 1.1, 1e-12);
    assert_near(ratio.low, 1.1 * exp(-0.0025), 1e-9); // 4th smallest of 36 Walsh averages
    assert_near(ratio.high, 1.1 * exp(0.0025), 1e-9);
    log_ratios[3] = NAN; // one refused round does not cost the instance
    assert_int_equal(tlc_ratio_over_instances(log_ratios, instance, 64, 8, 0.95).n, 8);
    ratio = tlc_ratio_over_instances(log_ratios, instance, 64, 9, 0.95); // instance 8 has no rounds
    assert_int_equal(ratio.n, 8);
    for (unsigned i = 0; i < 64; i++)
        instance[i] %= 5;
    ratio = tlc_ratio_over_instances(log_ratios, instance, 64, 5, 0.95);
    assert_true(ratio.n == 5 && isinf(ratio.low) && ratio.low < 0 && isinf(ratio.high));
}

static void holm_steps_down(void **state)
{
    (void)state;
    // sorted 0.005 0.01 0.03 0.04: times 4, 3, 2, 1, never falling
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    const double want[] = {0.03, 0.06, NAN, 0.06, 0.02};
    tlc_holm(p, 5, p);
    for (size_t i = 0; i < 5; i++)
        if (i == 2)
            assert_true(isnan(p[i]));
        else
            assert_near(p[i], want[i], 1e-15);
    double large[] = {0.9, 0.8};
    tlc_holm(large, 2, large);
    assert_near(large[0], 1, 0);
    assert_near(large[1], 1, 0);
    tlc_holm(NULL, 0, NULL);
}

static void holm_needs_units(void **state)
{
    (void)state;
    assert_int_equal(tlc_holm_units(1, 0.05), 6);
    assert_int_equal(tlc_holm_units(8, 0.05), 9);
    assert_int_equal(tlc_holm_units(9, 0.05), 9);
    assert_int_equal(tlc_holm_units(16, 0.05), 10);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        struct tlc_interval ratio, narrow;
        enum tlc_verdict verdict;
    } table[] = {
        {{1.05, 1.01, 1.09, 8}, {1.05, 1.02, 1.08, 8}, TLC_VERDICT_SLOWER},
        {{0.95, 0.91, 0.99, 8}, {0.95, 0.92, 0.98, 8}, TLC_VERDICT_FASTER},
        {{1.005, 1.001, 1.009, 8}, {1.005, 1.002, 1.008, 8}, TLC_VERDICT_SLOWER},
        {{1.0, 0.985, 1.025, 8}, {1.0, 0.99, 1.015, 8}, TLC_VERDICT_EQUIVALENT},
        {{1.0, 0.985, 1.025, 8}, {1.0, 0.99, 1.021, 8}, TLC_VERDICT_NO_CLAIM},
        {{1.0, 0.985, 1.025, 8}, {1.0, 0.980, 1.01, 8}, TLC_VERDICT_NO_CLAIM}, // 1/1.02 > 0.98
        {{1.2, -INFINITY, INFINITY, 5}, {1.2, 1.1, 1.3, 5}, TLC_VERDICT_NO_CLAIM},
        {{NAN, -INFINITY, INFINITY, 0}, {NAN, -INFINITY, INFINITY, 0}, TLC_VERDICT_NO_CLAIM},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_string_equal(tlc_verdict_name(tlc_verdict_of(table[i].ratio, table[i].narrow, 0.02)),
                            tlc_verdict_name(table[i].verdict));
    assert_string_equal(tlc_verdict_name(TLC_VERDICT_NO_CLAIM), "no-claim");
    assert_string_equal(tlc_verdict_name(TLC_VERDICT_BASELINE), "baseline");
}

static void detectable_effects(void **state)
{
    (void)state;
    struct tlc_interval ratio = {1, exp(-0.01), exp(0.01), 8};
    assert_near(tlc_detectable_effect(ratio, 0.5), expm1(0.01), 1e-12);
    // z(0.8) = 0.8416212, z(0.975) = 1.9599640
    assert_near(tlc_detectable_effect(ratio, 0.8), expm1(0.01 * (1 + 0.8416212 / 1.9599640)), 1e-8);
    ratio.low = -INFINITY;
    assert_true(isinf(tlc_detectable_effect(ratio, 0.8)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),
        cmocka_unit_test(percentiles_by_nearest_rank),
        cmocka_unit_test(variation),
        cmocka_unit_test(critical_values_of_published_tables),
        cmocka_unit_test(distribution_is_exact),
        cmocka_unit_test(achieved_levels),
        cmocka_unit_test(textbook_example),
        cmocka_unit_test(interval_agrees_with_all_walsh_averages),
        cmocka_unit_test(small_samples_give_no_interval),
        cmocka_unit_test(large_samples_are_approximated),
        cmocka_unit_test(p_values_with_ties_and_zeros),
        cmocka_unit_test(interval_inverts_the_test),
        cmocka_unit_test(ratios_over_instances),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(holm_needs_units),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(detectable_effects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
