#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

enum { MOST = 13 };

static void each_round_holds_each_arm_once(void **state)
{
    (void)state;
    for (size_t arms = 1; arms <= MOST; arms++)
        for (unsigned round = 0; round < 60; round++) {
            size_t order[MOST];
            bool seen[MOST] = {false};
            tlc_schedule_order(arms, round % 7, round, order);
            for (size_t i = 0; i < arms; i++) {
                assert_true(order[i] < arms);
                assert_false(seen[order[i]]);
                seen[order[i]] = true;
            }
        }
    tlc_schedule_order(0, 0, 0, NULL); // no arms, nothing written
}

static void each_arm_visits_each_position_twice(void **state)
{
    (void)state;
    for (size_t arms = 1; arms <= MOST; arms++)
        for (unsigned block = 0; block < 3; block++) {
            unsigned visits[MOST][MOST] = {{0}};
            for (unsigned round = 0; round < 2 * arms; round++) {
                size_t order[MOST];
                tlc_schedule_order(arms, block, round, order);
                for (size_t i = 0; i < arms; i++)
                    visits[order[i]][i]++;
            }
            for (size_t arm = 0; arm < arms; arm++)
                for (size_t position = 0; position < arms; position++)
                    assert_int_equal(visits[arm][position], 2);
        }
}

// A drift that grows along the slices of a pair of rounds costs every arm the same.
static void linear_drift_cancels_in_each_pair_of_rounds(void **state)
{
    (void)state;
    for (size_t arms = 2; arms <= MOST; arms++)
        for (unsigned pair = 0; pair < 20; pair++) {
            size_t sum[MOST] = {0}, order[MOST];
            for (unsigned turn = 0; turn < 2; turn++) {
                tlc_schedule_order(arms, 1, 2 * pair + turn, order);
                for (size_t i = 0; i < arms; i++)
                    sum[order[i]] += i;
            }
            for (size_t arm = 0; arm < arms; arm++)
                assert_int_equal(sum[arm], arms - 1);
        }
}

static void neighbours_follow_in_both_directions(void **state)
{
    (void)state;
    for (size_t arms = 3; arms <= MOST; arms++) {
        unsigned follows[MOST][MOST] = {{0}};
        for (unsigned round = 0; round < 2 * arms; round++) {
            size_t order[MOST];
            tlc_schedule_order(arms, 0, round, order);
            for (size_t i = 1; i < arms; i++)
                follows[order[i - 1]][order[i]]++;
        }
        for (size_t arm = 0; arm < arms; arm++) {
            size_t next = (arm + 1) % arms;
            assert_int_equal(follows[arm][next], arms - 1);
            assert_int_equal(follows[next][arm], arms - 1);
        }
    }
}

static void blocks_start_differently(void **state)
{
    (void)state;
    enum { ARMS = 10 };
    bool first[ARMS] = {false};
    size_t a[ARMS], b[ARMS];
    unsigned starts = 0;
    for (unsigned block = 0; block < ARMS; block++) {
        tlc_schedule_order(ARMS, block, 0, a);
        tlc_schedule_order(ARMS, block + 1, 0, b);
        assert_memory_not_equal(a, b, sizeof a);
        starts += !first[a[0]];
        first[a[0]] = true;
    }
    assert_true(starts >= ARMS / 2);
}

static void quick_keeps_arms_and_time(void **state)
{
    (void)state;
    for (size_t arms = 1; arms <= 40; arms++) {
        struct tlc_plan plan = {.arm_count = arms,
                                .schedule = {.blocks = 10,
                                             .rounds = 400,
                                             .slice_us = 80000,
                                             .warm_up_us = 100000,
                                             .settle_us = 5000}};
        tlc_plan_make_quick(&plan);
        assert_int_equal(plan.arm_count, arms);
        assert_int_equal(plan.schedule.blocks, 7);
        assert_int_equal(plan.schedule.settle_us, 0);
        assert_true(plan.schedule.rounds >= 4);
        if (arms <= 17) // more arms need more time for 4 rounds each
            assert_true(tlc_plan_seconds(&plan) <= 30 && tlc_plan_seconds(&plan) > 20);
    }
}

static void quick_never_lengthens_a_short_plan(void **state)
{
    (void)state;
    struct tlc_plan plan = {.arm_count = 2,
                            .schedule = {.blocks = 6, .rounds = 3, .slice_us = 10000}};
    double before = tlc_plan_seconds(&plan);
    tlc_plan_make_quick(&plan);
    assert_true(tlc_plan_seconds(&plan) <= before);
    assert_int_equal(plan.schedule.rounds, 3);
    assert_int_equal(plan.schedule.slice_us, 10000);
}

// The baseline stands at both ends, and the others turn as they would without it.
static void bookends_hold_the_others(void **state)
{
    (void)state;
    for (size_t arms = 1; arms <= MOST; arms++)
        for (unsigned round = 0; round < 40; round++) {
            struct tlc_plan plan = {.arm_count = arms, .schedule = {.bookends = 1}};
            size_t order[MOST + 1], inner[MOST];
            unsigned block = round % 5;
            assert_int_equal(tlc_schedule_visit_count(&plan), arms + 1);
            assert_int_equal(tlc_schedule_visits(&plan, block, round, order), arms + 1);
            assert_int_equal(order[0], 0);
            assert_int_equal(order[arms], 0);
            tlc_schedule_order(arms - 1, block, round, inner);
            for (size_t i = 1; i < arms; i++)
                assert_int_equal(order[i], inner[i - 1] + 1);
            plan.schedule.bookends = 0;
            assert_int_equal(tlc_schedule_visits(&plan, block, round, order), arms);
            tlc_schedule_order(arms, block, round, inner);
            assert_memory_equal(order, inner, arms * sizeof *inner);
        }
}

static void bookends_take_their_time(void **state)
{
    (void)state;
    struct tlc_plan plan = {
        .arm_count = 3,
        .schedule = {.blocks = 10, .rounds = 5, .slice_us = 100000, .warm_up_us = 200000}};
    double without = tlc_plan_seconds(&plan);
    plan.schedule.bookends = 1;
    assert_true(tlc_plan_seconds(&plan) - without > 4.99 &&
                tlc_plan_seconds(&plan) - without < 5.01);
}

// Every arm but the baseline, which is in each duet; the control stands at both ends.
static void duets_visit_all_but_the_baseline(void **state)
{
    (void)state;
    struct tlc_plan plan = {.arm_count = 5, .control = 2, .schedule = {.duet = 1}};
    for (unsigned bookends = 0; bookends < 2; bookends++)
        for (unsigned round = 0; round < 20; round++) {
            size_t order[6], seen[5] = {0};
            plan.schedule.bookends = bookends;
            size_t visits = tlc_schedule_visits(&plan, round % 3, round, order);
            assert_int_equal(visits, 4 + bookends);
            assert_int_equal(tlc_schedule_visit_count(&plan), visits);
            for (size_t i = 0; i < visits; i++)
                seen[order[i]]++;
            for (size_t arm = 0; arm < 5; arm++)
                assert_int_equal(seen[arm], arm == 0 ? 0 : arm == 2 ? 1 + bookends : 1);
            if (bookends)
                assert_true(order[0] == 2 && order[visits - 1] == 2);
        }
}

static void until_lifts_the_number_of_blocks(void **state)
{
    (void)state;
    struct tlc_plan plan = {.schedule = {.blocks = 8}};
    assert_int_equal(tlc_schedule_most_blocks(&plan), 8);
    plan.schedule.until = 0.01;
    assert_int_equal(tlc_schedule_most_blocks(&plan), 200);
    plan.schedule.blocks = 500;
    assert_int_equal(tlc_schedule_most_blocks(&plan), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_round_holds_each_arm_once),
        cmocka_unit_test(each_arm_visits_each_position_twice),
        cmocka_unit_test(linear_drift_cancels_in_each_pair_of_rounds),
        cmocka_unit_test(neighbours_follow_in_both_directions),
        cmocka_unit_test(blocks_start_differently),
        cmocka_unit_test(bookends_hold_the_others),
        cmocka_unit_test(bookends_take_their_time),
        cmocka_unit_test(duets_visit_all_but_the_baseline),
        cmocka_unit_test(until_lifts_the_number_of_blocks),
        cmocka_unit_test(quick_keeps_arms_and_time),
        cmocka_unit_test(quick_never_lengthens_a_short_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
