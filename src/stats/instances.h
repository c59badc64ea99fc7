// One value for each server instance, out of the values of its rounds. Pure.
#ifndef TLC_STATS_INSTANCES_H
#define TLC_STATS_INSTANCES_H

#include <stddef.h>

// Condenses the rounds of each instance to their Hodges-Lehmann estimate, as
// tlc_ratio_over_instances does. `estimates` has room for `instances`; NaN for one without rounds.
void tlc_instance_estimates(const double *values, const unsigned *instance, size_t count,
                            unsigned instances, double *estimates);

#endif
