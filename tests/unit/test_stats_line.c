// The line of known costs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "stats/stats.h"

#define assert_near(value, wanted, within)                                                         \
    do {                                                                                           \
        double got_ = (value);                                                                     \
        if (!(fabs(got_ - (wanted)) <= (within)))                                                  \
            fail_msg("%s: %.9g is not %.9g within %g", #value, got_, (double)(wanted), within);    \
    } while (0)

enum { POINTS = 4, BLOCKS = 20 };
static const double burns[POINTS] = {5, 10, 20, 50};
static const unsigned one[POINTS] = {0};

static void exact_line_gives_its_slope(void **state)
{
    (void)state;
    double y[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        y[i] = 1.25 * burns[i];
    assert_near(tlc_line_slope(burns, y, one, POINTS, 0), 1.25, 1e-12);
    assert_near(tlc_line_slope(burns + 3, y + 3, one, 1, 0), 1.25, 1e-12);
}

// The same error weighs a hundred times less at 5 us than at 50.
static void far_points_rule(void **state)
{
    (void)state;
    const double near[] = {6, 10, 20, 50}, far[] = {5, 10, 20, 51};
    double of_near = tlc_line_slope(burns, near, one, POINTS, 0) - 1;
    double of_far = tlc_line_slope(burns, far, one, POINTS, 0) - 1;
    assert_near(of_far / of_near, 10, 1e-9);
}

static void points_without_a_spread_have_no_slope(void **state)
{
    (void)state;
    const double x[] = {0, 0, 0}, y[] = {1, 2, 3}, holes[] = {NAN, 22, INFINITY};
    assert_true(isnan(tlc_line_slope(x, y, one, 3, 0)));
    assert_true(isnan(tlc_line_slope(x, y, one, 0, 0)));
    assert_true(isnan(tlc_line_slope(burns, y, one, 3, 1)));
    assert_near(tlc_line_slope(burns, holes, one, 3, 0), 2.2, 1e-12);
}

static void instances_without_points_do_not_count(void **state)
{
    (void)state;
    const double x[] = {20, 10, 0}, y[] = {20, 10, 3};
    const unsigned instance[] = {0, 0, 1};
    struct tlc_interval slope = tlc_slope_over_instances(x, y, instance, 3, 4, 0.95);
    assert_int_equal(slope.n, 1);
    assert_near(slope.estimate, 1, 1e-12);
    assert_true(isinf(slope.low) && isinf(slope.high));
    slope = tlc_slope_over_instances(x, y, instance, 0, 0, 0.95);
    assert_int_equal(slope.n, 0);
    assert_true(isnan(slope.estimate));
}

// xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003): the same numbers on every
// machine.
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(1 - uniform(seed)));
    return radius * cos(2 * M_PI * uniform(seed));
}

// One block's noise of a difference of two slices, after the median of its rounds; every tenth
// block was disturbed by three times as much.
static double noise(uint64_t *seed, double size, double disturbed)
{
    return size * disturbed * normal(seed);
}

// What a calibration promises: on a handshake of 250 us whose paired slices differ by 2 %, 14
// rounds and 20 blocks read the slope within 3 % in all but few calibrations, and the interval
// holds the true slope as often as it says.
static void line_of_a_calibration_is_narrow_and_honest(void **state)
{
    (void)state;
    enum { CALIBRATIONS = 4000 };
    const double truth = 1, size = 250 * 0.02 * 1.1 / sqrt(14.0);
    uint64_t seed = 88172645463325252u;
    unsigned held = 0, close = 0;
    double width = 0;
    for (int c = 0; c < CALIBRATIONS; c++) {
        double x[POINTS * BLOCKS], y[POINTS * BLOCKS];
        unsigned instance[POINTS * BLOCKS];
        for (unsigned i = 0; i < POINTS * BLOCKS; i++) {
            instance[i] = i / POINTS;
            x[i] = burns[i % POINTS] + 0.3 * uniform(&seed);
            y[i] = truth * x[i] + noise(&seed, size, i / POINTS % 10 ? 1 : 3);
        }
        struct tlc_interval slope =
            tlc_slope_over_instances(x, y, instance, (size_t)POINTS * BLOCKS, BLOCKS, 0.95);
        held += slope.low <= truth && truth <= slope.high;
        close += fabs(slope.estimate - truth) <= 0.03;
        width += (slope.high - slope.low) / 2 / CALIBRATIONS;
    }
    printf("slope: half-width %.4f on average, covered %.4f, within 3 %% %.4f\n", width,
           held / (double)CALIBRATIONS, close / (double)CALIBRATIONS);
    assert_true(held >= 0.93 * CALIBRATIONS && held <= 0.97 * CALIBRATIONS);
    assert_true(close >= 0.99 * CALIBRATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_line_gives_its_slope),
        cmocka_unit_test(far_points_rule),
        cmocka_unit_test(points_without_a_spread_have_no_slope),
        cmocka_unit_test(instances_without_points_do_not_count),
        cmocka_unit_test(line_of_a_calibration_is_narrow_and_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
