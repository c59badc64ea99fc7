// One arm divided by another, slice by slice. Private to the room.
#ifndef TLC_CAMPAIGN_RATIO_H
#define TLC_CAMPAIGN_RATIO_H

#include <jansson.h>

#include "stats/stats.h"

enum tlc_quantity { TLC_COST, TLC_RATE };

// The intervals of verdicts: of a difference, and of equivalence.
struct tlc_ratio {
    struct tlc_interval at_95, at_90;
};

// Over blocks in which both arms have an accepted sample, of the slices that pair
// (tlc_slices_pair). n is 0 without any pair, or when memory runs out.
struct tlc_ratio tlc_ratio_of(const json_t *samples, const json_t *divisors,
                              enum tlc_quantity quantity);

#endif
