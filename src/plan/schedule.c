#include "plan/plan.h"

void tlc_schedule_order(size_t arm_count, unsigned block, unsigned round, size_t *order)
{
    // A pair of rounds, one of them reversed, has one start, so that whatever drifts along a round
    // meets each arm early and late alike; were each single round turned, an even number of arms
    // would keep every arm on half of the positions.
    if (!arm_count)
        return;
    size_t start = (round / 2 + (size_t)block) % arm_count;
    bool reversed = (round + block) % 2;
    for (size_t i = 0; i < arm_count; i++)
        order[reversed ? arm_count - 1 - i : i] = (start + i) % arm_count;
}

double tlc_plan_seconds(const struct tlc_plan *plan)
{
    const struct tlc_schedule *schedule = &plan->schedule;
    double stay_us = (double)schedule->warm_up_us +
                     schedule->rounds * (double)(schedule->slice_us + schedule->settle_us);
    return (double)plan->arm_count * schedule->blocks * stay_us / 1e6;
}

void tlc_plan_make_quick(struct tlc_plan *plan)
{
    enum { BLOCKS = 7, LEAST_ROUNDS = 4, SLICE_US = 50000, WARM_UP_US = 50000 };
    const double budget_us = 30e6;
    struct tlc_schedule *schedule = &plan->schedule;
    if (schedule->slice_us > SLICE_US)
        schedule->slice_us = SLICE_US;
    if (schedule->warm_up_us > WARM_UP_US)
        schedule->warm_up_us = WARM_UP_US;
    schedule->settle_us = 0;
    if (schedule->blocks > BLOCKS) // one more than an interval at 95 % needs: one may be refused
        schedule->blocks = BLOCKS;
    double stay_us = budget_us / ((double)plan->arm_count * schedule->blocks) - (double)schedule->warm_up_us;
    double rounds = stay_us / (double)schedule->slice_us;
    if (rounds < LEAST_ROUNDS)
        rounds = LEAST_ROUNDS;
    if (rounds < schedule->rounds)
        schedule->rounds = (unsigned)rounds;
}
