// Known costs and positions read from the slices of a campaign; private to the room.
#ifndef TLC_CAMPAIGN_CALIBRATE_FIGURES_H
#define TLC_CAMPAIGN_CALIBRATE_FIGURES_H

#include <jansson.h>

#include "plan/plan.h"
#include "stats/stats.h"

// Costs (us a handshake) of the accepted samples by arm, block, round and visit of the round, and
// what was burnt on purpose (us a handshake, by the server's own clock) by arm and block; NaN where
// there is none.
struct tlc_cost_grid {
    const struct tlc_plan *plan;
    double *cost, *burnt;
};

// False when memory runs out.
bool tlc_cost_grid_read(struct tlc_cost_grid *grid, const struct tlc_plan *plan,
                        const json_t *arms);
void tlc_cost_grid_free(struct tlc_cost_grid *grid);

// What an arm costs more than the baseline (us a handshake): one value a block into `blocks`, the
// Hodges-Lehmann estimate of the differences within its rounds; NaN for a block that lacks one.
void tlc_extra_costs(const struct tlc_cost_grid *grid, size_t arm, double *blocks);
// What an arm burnt more than the baseline in a block (us a handshake).
double tlc_extra_burn(const struct tlc_cost_grid *grid, size_t arm, size_t block);
// The interval of last / first place of the baseline over blocks.
struct tlc_interval tlc_position_ratio(const struct tlc_cost_grid *grid, double confidence);

#endif
