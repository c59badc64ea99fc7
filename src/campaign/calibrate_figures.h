// Known costs and positions read from the slices of a campaign; private to the room.
#ifndef TLC_CAMPAIGN_CALIBRATE_FIGURES_H
#define TLC_CAMPAIGN_CALIBRATE_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

#include "stats/stats.h"

// `arms` is the list of a campaign's document; costs are in us a handshake.

// What an arm costs more than the baseline: one value a block into `blocks`, the Hodges-Lehmann
// estimate of the differences of its slices to those that they are paired with; NaN for a block
// that lacks them. False when memory runs out.
bool tlc_extra_costs(const json_t *arms, size_t arm, unsigned block_count, double *blocks);
// What an arm burnt more than the baseline in a block, by the server's own clock, or `charged`:
// what the kernel charges the same server for the same work by itself; NaN: not known.
double tlc_extra_burn(const json_t *arms, size_t arm, unsigned block, bool charged);
// The interval of last / first place of the baseline over blocks. What is compared are the last
// place of a round and the first of the next, which follow each other: the machine's speed has no
// time to change between them.
struct tlc_interval tlc_position_ratio(const json_t *arms, unsigned block_count, double confidence);
// How many samples of all arms were accepted, and the names of the checks that refused any.
size_t tlc_accepted_samples(const json_t *arms);
json_t *tlc_refusing_checks(const json_t *arms);

#endif
