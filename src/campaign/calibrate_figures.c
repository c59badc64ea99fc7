#include "campaign/calibrate_figures.h"

#include <math.h>
#include <stdlib.h>

enum { VISITS = 2 }; // the baseline's with bookends; others have one

static double *cell(const struct tlc_cost_grid *grid, size_t arm, size_t block, size_t round,
                    size_t visit)
{
    const struct tlc_schedule *schedule = &grid->plan->schedule;
    return &grid->cost[((arm * schedule->blocks + block) * schedule->rounds + round) * VISITS +
                       visit];
}

// Slices are kept in the order they were run, so the second one of a round is its later visit.
static void read_sample(struct tlc_cost_grid *grid, size_t arm, const json_t *sample)
{
    const struct tlc_schedule *schedule = &grid->plan->schedule;
    json_int_t block = json_integer_value(json_object_get(sample, "block"));
    size_t index;
    json_t *slice;
    double burnt_us = 0, sum = 0;
    if (!json_is_true(json_object_get(sample, "accepted")) || block < 0 ||
        block >= schedule->blocks)
        return;
    json_array_foreach(json_object_get(sample, "slices"), index, slice)
    {
        json_int_t round = json_integer_value(json_object_get(slice, "round"));
        json_int_t handshakes = json_integer_value(json_object_get(slice, "handshakes"));
        double cost = json_number_value(json_object_get(slice, "cost_us"));
        if (round < 0 || round >= schedule->rounds)
            continue;
        burnt_us += json_number_value(json_object_get(slice, "burnt_us"));
        sum += (double)handshakes;
        double *first = cell(grid, arm, (size_t)block, (size_t)round, 0);
        double *free_cell = isnan(*first) ? first : first + 1;
        if (isnan(*free_cell) && handshakes > 0 && cost > 0)
            *free_cell = cost / (double)handshakes;
    }
    if (sum > 0)
        grid->burnt[arm * schedule->blocks + (size_t)block] = burnt_us / sum;
}

bool tlc_cost_grid_read(struct tlc_cost_grid *grid, const struct tlc_plan *plan, const json_t *arms)
{
    size_t samples = plan->arm_count * plan->schedule.blocks;
    size_t count = samples * plan->schedule.rounds * VISITS;
    *grid = (struct tlc_cost_grid){.plan = plan,
                                   .cost = malloc(count * sizeof *grid->cost),
                                   .burnt = malloc(samples * sizeof *grid->burnt)};
    if (!grid->cost || !grid->burnt)
        return false;
    for (size_t i = 0; i < count; i++)
        grid->cost[i] = NAN;
    for (size_t i = 0; i < samples; i++)
        grid->burnt[i] = NAN;
    for (size_t arm = 0; arm < plan->arm_count; arm++) {
        size_t index;
        json_t *sample;
        json_array_foreach(json_object_get(json_array_get(arms, arm), "samples"), index, sample)
            read_sample(grid, arm, sample);
    }
    return true;
}

void tlc_cost_grid_free(struct tlc_cost_grid *grid)
{
    free(grid->cost);
    free(grid->burnt);
    grid->cost = grid->burnt = NULL;
}

double tlc_extra_burn(const struct tlc_cost_grid *grid, size_t arm, size_t block)
{
    return grid->burnt[arm * grid->plan->schedule.blocks + block] - grid->burnt[block];
}

void tlc_extra_costs(const struct tlc_cost_grid *grid, size_t arm, double *blocks)
{
    const struct tlc_schedule *schedule = &grid->plan->schedule;
    double *differences = malloc((schedule->rounds + 1) * sizeof *differences);
    for (size_t block = 0; block < schedule->blocks; block++) {
        for (size_t round = 0; differences && round < schedule->rounds; round++) {
            const double *base = cell(grid, 0, block, round, 0);
            // Both visits around the arm's, where the plan has them: their mean meets its time.
            double mean = isnan(base[1]) ? base[0] : base[0] / 2 + base[1] / 2;
            differences[round] = *cell(grid, arm, block, round, 0) - mean;
        }
        blocks[block] = differences
                            ? tlc_signed_rank_interval(differences, schedule->rounds, 0.95).estimate
                            : NAN;
    }
    free(differences);
}

struct tlc_interval tlc_position_ratio(const struct tlc_cost_grid *grid, double confidence)
{
    const struct tlc_schedule *schedule = &grid->plan->schedule;
    size_t count = (size_t)schedule->blocks * schedule->rounds;
    struct tlc_interval ratio = {NAN, -INFINITY, INFINITY, 0};
    double *logs = malloc((count + 1) * sizeof *logs);
    unsigned *instance = malloc((count + 1) * sizeof *instance);
    for (size_t i = 0; logs && instance && i < count; i++) {
        const double *visits = cell(grid, 0, i / schedule->rounds, i % schedule->rounds, 0);
        logs[i] = log(visits[1] / visits[0]);
        instance[i] = (unsigned)(i / schedule->rounds);
    }
    if (logs && instance)
        ratio = tlc_ratio_over_instances(logs, instance, count, schedule->blocks, confidence);
    free(instance);
    free(logs);
    return ratio;
}
