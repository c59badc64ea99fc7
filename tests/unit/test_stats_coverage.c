// How often the interval of a ratio holds the true ratio, on simulated campaigns: the speed of the
// machine wanders (a random walk of the logarithm that all arms of a round share), slices have
// heavy-tailed noise (Student's t, 3 degrees of freedom), and each server process has its own luck
// for life. That luck is why instances, not rounds, are the unit of inference: rounds of one pair
// of processes share it, so an interval over all rounds takes 8 repetitions of one draw for 8
// draws.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "stats/stats.h"
#include "stats/stopping.h"

enum { ROUNDS = 8, MOST_INSTANCES = 20, CAMPAIGNS = 4000, NAIVE_EVERY = 16 };

static const double true_log_ratio = 0.03;

static uint64_t random_state;

static double uniform(void) // splitmix64, strictly between 0 and 1
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
}

static double normal(void) // Box and Muller
{
    double radius = sqrt(-2 * log(uniform()));
    return radius * cos(2 * M_PI * uniform());
}

static double student3(void)
{
    double a = normal(), b = normal(), c = normal();
    return normal() / sqrt((a * a + b * b + c * c) / 3);
}

// Log-ratios of one campaign: the difference of two slices in each round.
static void simulate(unsigned instances, double *log_ratios, unsigned *instance)
{
    double speed = 0;
    for (unsigned i = 0; i < instances; i++) {
        double luck = 0.01 * normal(), baseline_luck = 0.01 * normal();
        for (unsigned round = 0; round < ROUNDS; round++) {
            speed += 0.02 * normal();
            double baseline = speed + baseline_luck + 0.01 * student3();
            speed += 0.002 * normal(); // the walk goes on between the slices of a round
            double arm = speed + true_log_ratio + luck + 0.01 * student3();
            log_ratios[i * ROUNDS + round] = arm - baseline;
            instance[i * ROUNDS + round] = i;
        }
    }
}

static bool covers(struct tlc_interval ratio)
{
    return ratio.low <= exp(true_log_ratio) && exp(true_log_ratio) <= ratio.high;
}

struct coverage {
    double instances, rounds; // shares of campaigns whose interval held the truth
};

static struct coverage measure_coverage(unsigned instances)
{
    double log_ratios[MOST_INSTANCES * ROUNDS];
    unsigned instance[MOST_INSTANCES * ROUNDS], each[MOST_INSTANCES * ROUNDS];
    unsigned by_instance = 0, by_round = 0, count = instances * ROUNDS;
    for (unsigned i = 0; i < count; i++)
        each[i] = i;
    random_state = instances;
    for (int campaign = 0; campaign < CAMPAIGNS; campaign++) {
        simulate(instances, log_ratios, instance);
        by_instance +=
            covers(tlc_ratio_over_instances(log_ratios, instance, count, instances, 0.95));
        // the naive way: every round counts as a unit of its own
        if (campaign % NAIVE_EVERY == 0)
            by_round += covers(tlc_ratio_over_instances(log_ratios, each, count, count, 0.95));
    }
    return (struct coverage){by_instance / (double)CAMPAIGNS,
                             by_round * NAIVE_EVERY / (double)CAMPAIGNS};
}

static const unsigned counts[] = {6, 8, 10, 20};
enum { COUNTS = sizeof counts / sizeof *counts };
static struct coverage seen[COUNTS];

static int simulate_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNTS; i++) {
        seen[i] = measure_coverage(counts[i]);
        printf("%2u instances: exact level %.4f, covered %.4f; over all rounds %.4f\n", counts[i],
               tlc_signed_rank_level(counts[i], 0.95), seen[i].instances, seen[i].rounds);
    }
    return 0;
}

// Within four Monte-Carlo standard errors of the exact level, which is itself 95 to 97 %.
static void interval_over_instances_covers_as_promised(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNTS; i++) {
        double level = tlc_signed_rank_level(counts[i], 0.95);
        double error = sqrt(level * (1 - level) / CAMPAIGNS);
        assert_true(level >= 0.95 && level <= 0.97);
        if (!(seen[i].instances >= 0.93 && seen[i].instances <= 0.97))
            fail_msg("%u instances: covered %.4f", counts[i], seen[i].instances);
        if (!(fabs(seen[i].instances - level) <= 4 * error))
            fail_msg("%u instances: covered %.4f, exact level %.4f +- %.4f", counts[i],
                     seen[i].instances, level, 4 * error);
    }
}

static void interval_over_rounds_misses_far_too_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNTS; i++)
        if (!(seen[i].rounds < 0.80))
            fail_msg("%u instances: over all rounds %.4f", counts[i], seen[i].rounds);
}

// A campaign that looks at its interval when tlc_is_look says so and ends once it is narrow enough,
// or at MOST_LOOKED instances. The share of such campaigns whose last interval holds the truth.
enum { STOPPED_CAMPAIGNS = 4000, MOST_LOOKED = 60 };

static double coverage_when_stopped(double half_width, double *mean_instances)
{
    static double log_ratios[MOST_LOOKED * ROUNDS];
    static unsigned instance[MOST_LOOKED * ROUNDS];
    unsigned held = 0;
    random_state = (uint64_t)(1e6 * half_width);
    *mean_instances = 0;
    for (int campaign = 0; campaign < STOPPED_CAMPAIGNS; campaign++) {
        struct tlc_interval ratio = {0};
        unsigned done = TLC_FIRST_LOOK;
        simulate(MOST_LOOKED, log_ratios, instance);
        for (;; done = tlc_next_look(done) < MOST_LOOKED ? tlc_next_look(done) : MOST_LOOKED) {
            ratio =
                tlc_ratio_over_instances(log_ratios, instance, (size_t)done * ROUNDS, done, 0.95);
            if (done == MOST_LOOKED || sqrt(ratio.high / ratio.low) - 1 <= half_width)
                break;
        }
        held += covers(ratio);
        *mean_instances += (double)done / STOPPED_CAMPAIGNS;
    }
    return held / (double)STOPPED_CAMPAIGNS;
}

static void stopping_by_width_keeps_the_coverage(void **state)
{
    (void)state;
    static const double half_widths[] = {0.02, 0.01, 0.0075, 0.005};
    for (size_t i = 0; i < sizeof half_widths / sizeof *half_widths; i++) {
        double mean, covered = coverage_when_stopped(half_widths[i], &mean);
        printf("until %.2f %%: %.1f instances on average, covered %.4f\n", 100 * half_widths[i],
               mean, covered);
        if (!(covered >= 0.93 && covered <= 0.97))
            fail_msg("until %.2f %%: covered %.4f", 100 * half_widths[i], covered);
    }
}

static void looks_are_few_and_declared(void **state)
{
    (void)state;
    static const unsigned looks[] = {8, 12, 18, 27, 40, 60, 90, 135};
    unsigned at = 0;
    for (unsigned done = 0; done < 136; done++)
        if (tlc_is_look(done))
            assert_int_equal(done, looks[at++]);
    assert_int_equal(at, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_over_instances_covers_as_promised),
        cmocka_unit_test(interval_over_rounds_misses_far_too_often),
        cmocka_unit_test(stopping_by_width_keeps_the_coverage),
        cmocka_unit_test(looks_are_few_and_declared),
    };
    return cmocka_run_group_tests(tests, simulate_all, NULL);
}
