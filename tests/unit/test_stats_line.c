// The robust line of known costs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/stats.h"

#define assert_near(value, wanted, within)                                                         \
    do {                                                                                           \
        double got_ = (value);                                                                     \
        if (!(fabs(got_ - (wanted)) <= (within)))                                                  \
            fail_msg("%s: %.9g is not %.9g within %g", #value, got_, (double)(wanted), within);    \
    } while (0)

static const double burns[] = {0, 5, 10, 20, 50};

static void exact_line_gives_its_slope(void **state)
{
    (void)state;
    double y[5];
    for (size_t i = 0; i < 5; i++)
        y[i] = 240 + 1.25 * burns[i];
    assert_near(tlc_line_slope(burns, y, 5), 1.25, 1e-12);
    assert_near(tlc_line_slope(burns + 3, y + 3, 2), 1.25, 1e-12);
}

static void one_wild_point_does_not_rule_the_slope(void **state)
{
    (void)state;
    const double y[] = {0, 5, 700, 20, 50};
    assert_near(tlc_line_slope(burns, y, 5), 1, 1e-9);
}

// Unweighted, the pairs of 0, 1 and 2 would be three of six and pull the median to their noise.
static void near_pairs_count_little(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 100}, y[] = {0, 9, 18, 100};
    assert_near(tlc_line_slope(x, y, 4), 0.9, 0.1);
}

static void points_without_a_spread_have_no_slope(void **state)
{
    (void)state;
    const double x[] = {5, 5, 5}, y[] = {1, 2, 3}, holes[] = {NAN, 2, INFINITY};
    assert_true(isnan(tlc_line_slope(x, y, 3)));
    assert_true(isnan(tlc_line_slope(x, y, 0)));
    assert_true(isnan(tlc_line_slope(burns, holes, 3)));
    assert_near(tlc_line_slope((double[]){0, 10, 20}, (double[]){0, NAN, 22}, 3), 1.1, 1e-12);
}

// Equal weights on both sides of the middle: between the two.
static void a_cut_weight_lies_between(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {0, 1, 4}; // slopes 1 (1), 3 (1), 2 (2)
    assert_near(tlc_line_slope(x, y, 3), 2, 1e-12);
    const double u[] = {0, 1, 3}, v[] = {0, 1, 1}; // slopes 1 (1), 0 (2), 1/3 (3): total 6
    assert_near(tlc_line_slope(u, v, 3), 1.0 / 3, 1e-12);
}

enum { INSTANCES = 8, POINTS = 5 };

static struct tlc_interval over_instances(double slope, double scatter)
{
    double x[INSTANCES * POINTS], y[INSTANCES * POINTS];
    unsigned instance[INSTANCES * POINTS];
    for (unsigned i = 0; i < INSTANCES; i++)
        for (unsigned p = 0; p < POINTS; p++) {
            size_t at = (size_t)i * POINTS + p;
            instance[at] = i;
            x[at] = burns[p];
            // A height and a slope of its own for each instance.
            y[at] = 100.0 * i + (slope + scatter * ((double)i - 3.5)) * burns[p];
        }
    return tlc_slope_over_instances(x, y, instance, (size_t)INSTANCES * POINTS, INSTANCES, 0.95);
}

static void instances_may_stand_at_any_height(void **state)
{
    (void)state;
    struct tlc_interval slope = over_instances(1, 0.01);
    assert_int_equal(slope.n, INSTANCES);
    assert_near(slope.estimate, 1, 1e-9);
    assert_true(slope.low < 1 && slope.low > 0.96);
    assert_true(slope.high > 1 && slope.high < 1.04);
    slope = over_instances(0.8, 0.001);
    assert_true(slope.high < 0.81 && slope.low > 0.79);
}

static void instances_without_points_do_not_count(void **state)
{
    (void)state;
    const double x[] = {0, 10, 0}, y[] = {0, 10, 3};
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

// Heavy-tailed noise on every point: the interval over instances holds the true slope as often as
// it says.
static void interval_covers_the_slope(void **state)
{
    (void)state;
    enum { TRIALS = 2000, BLOCKS = 20 };
    double x[BLOCKS * POINTS], y[BLOCKS * POINTS];
    unsigned instance[BLOCKS * POINTS], held = 0;
    uint64_t seed = 20261130;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        for (unsigned i = 0; i < BLOCKS * POINTS; i++) {
            double noise = uniform(&seed) + uniform(&seed) + uniform(&seed) - 1.5;
            if (uniform(&seed) < 0.05)
                noise *= 10;
            instance[i] = i / POINTS;
            x[i] = burns[i % POINTS];
            y[i] = x[i] + noise;
        }
        struct tlc_interval slope =
            tlc_slope_over_instances(x, y, instance, (size_t)BLOCKS * POINTS, BLOCKS, 0.95);
        held += slope.low <= 1 && 1 <= slope.high;
    }
    assert_in_range(held, TRIALS * 93 / 100, TRIALS * 97 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_line_gives_its_slope),
        cmocka_unit_test(one_wild_point_does_not_rule_the_slope),
        cmocka_unit_test(near_pairs_count_little),
        cmocka_unit_test(points_without_a_spread_have_no_slope),
        cmocka_unit_test(a_cut_weight_lies_between),
        cmocka_unit_test(instances_may_stand_at_any_height),
        cmocka_unit_test(instances_without_points_do_not_count),
        cmocka_unit_test(interval_covers_the_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
