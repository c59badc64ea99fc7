#include "plan/plan.h"

#include <string.h>

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

// The arm that bookends hold: the control in duets, whose partner the baseline is; -1: no bookends.
static int bookend_of(const struct tlc_plan *plan)
{
    return !plan->schedule.bookends ? -1 : plan->schedule.duet ? plan->control : 0;
}

size_t tlc_schedule_visit_count(const struct tlc_plan *plan)
{
    return plan->arm_count + (bookend_of(plan) >= 0) - (plan->schedule.duet ? 1 : 0);
}

size_t tlc_schedule_visits(const struct tlc_plan *plan, unsigned block, unsigned round,
                           size_t *order)
{
    int bookend = bookend_of(plan);
    size_t count = tlc_schedule_visit_count(plan), first = bookend >= 0 ? 1 : 0;
    tlc_schedule_order(count - 2 * first, block, round, order + first);
    for (size_t i = first; i < count - first; i++) {
        order[i] += plan->schedule.duet;
        order[i] += bookend >= 0 && order[i] >= (size_t)bookend;
    }
    if (bookend >= 0)
        order[0] = order[count - 1] = (size_t)bookend;
    return count;
}

bool tlc_plan_takes_turns(const struct tlc_plan *plan, size_t arm)
{
    const struct tlc_arm *mine = &plan->arms[arm];
    return plan->schedule.duet && plan->control >= 0 && mine->instance &&
           !strcmp(mine->instance, "baseline") && tlc_plan_against(plan, arm) == 0 &&
           mine->burn_us != plan->arms[0].burn_us;
}

unsigned tlc_schedule_most_blocks(const struct tlc_plan *plan)
{
    enum { MOST_BLOCKS = 200 };
    return plan->schedule.until > 0 && plan->schedule.blocks < MOST_BLOCKS ? MOST_BLOCKS
                                                                           : plan->schedule.blocks;
}

// The warm-ups of all arms of a block.
static double warm_ups_us(const struct tlc_plan *plan)
{
    double usual = (double)plan->schedule.warm_up_us, sum = (double)plan->arm_count * usual;
    for (size_t i = 0; plan->arms && i < plan->arm_count; i++)
        if (plan->arms[i].warm_up_us)
            sum += (double)plan->arms[i].warm_up_us - usual;
    return sum;
}

static bool connects(const struct tlc_plan *plan)
{
    return plan->workload && !strcmp(plan->workload, "connect");
}

// All connections in a row, and the last of them some round trips.
static double connect_seconds(const struct tlc_plan *plan)
{
    double begun = 0, longest_us = 0;
    for (size_t i = 0; i < plan->arm_count; i++) {
        uint64_t us[TLC_MOST_RTTS];
        size_t count = tlc_arm_rtts(&plan->arms[i], us);
        begun += (double)count * plan->schedule.connections;
        for (size_t j = 0; j < count; j++)
            longest_us = (double)us[j] > longest_us ? (double)us[j] : longest_us;
    }
    return begun / plan->schedule.pace + 5 * longest_us / 1e6;
}

// A visit lasts one slice, and two where its arms take turns or the arm is attributed.
static size_t slices_of_round(const struct tlc_plan *plan)
{
    size_t slices = tlc_schedule_visit_count(plan);
    for (size_t i = 0; plan->arms && i < plan->arm_count; i++)
        slices += tlc_plan_takes_turns(plan, i) || plan->arms[i].attribute;
    return slices;
}

double tlc_plan_seconds(const struct tlc_plan *plan)
{
    const struct tlc_schedule *schedule = &plan->schedule;
    if (connects(plan))
        return connect_seconds(plan);
    double round_us =
        (double)slices_of_round(plan) * (double)(schedule->slice_us + schedule->settle_us);
    return schedule->blocks * (warm_ups_us(plan) + schedule->rounds * round_us) / 1e6;
}

// Whether the slices show something over time, a storm behind an event or a backlog that grows.
static bool has_event(const struct tlc_plan *plan)
{
    for (size_t i = 0; plan->arms && i < plan->arm_count; i++)
        if (strcmp(plan->arms[i].event, "none") != 0 || plan->arms[i].offered > 0)
            return true;
    return false;
}

// So many that all of them can come back behind an event even in a short slice.
static void make_few_visitors(struct tlc_plan *plan)
{
    enum { VISITORS = 100 };
    for (size_t i = 0; i < plan->arm_count; i++)
        if (plan->arms[i].visitors > VISITORS)
            plan->arms[i].visitors = VISITORS;
}

static void hold_shortly(struct tlc_plan *plan)
{
    enum { HOLD_FOR_US = 1000000 };
    for (size_t i = 0; plan->arms && i < plan->arm_count; i++)
        if (plan->arms[i].hold_for_us > HOLD_FOR_US)
            plan->arms[i].hold_for_us = HOLD_FOR_US;
}

void tlc_plan_make_quick(struct tlc_plan *plan)
{
    enum { BLOCKS = 7, SLICE_US = 50000, EVENT_SLICE_US = 500000, WARM_UP_US = 50000 };
    const double budget_us = 30e6;
    struct tlc_schedule *schedule = &plan->schedule;
    if (connects(plan)) {
        while (schedule->connections > 1 && connect_seconds(plan) > budget_us / 1e6)
            schedule->connections--;
        return;
    }
    bool events = has_event(plan);
    if (schedule->slice_us > (events ? EVENT_SLICE_US : SLICE_US))
        schedule->slice_us = events ? EVENT_SLICE_US : SLICE_US;
    if (schedule->warm_up_us > WARM_UP_US)
        schedule->warm_up_us = WARM_UP_US;
    schedule->settle_us = 0;
    if (schedule->blocks > BLOCKS) // one more than an interval at 95 % needs: one may be refused
        schedule->blocks = BLOCKS;
    double block_us = budget_us / schedule->blocks - warm_ups_us(plan);
    double rounds = block_us / ((double)slices_of_round(plan) * (double)schedule->slice_us);
    if (events)
        make_few_visitors(plan);
    hold_shortly(plan);
    double least_rounds = events ? 1 : 4;
    if (rounds < least_rounds)
        rounds = least_rounds;
    if (rounds < schedule->rounds)
        schedule->rounds = (unsigned)rounds;
}
