// Whether a server was warm when it was measured. Private to the room.
#ifndef TLC_CAMPAIGN_SETTLING_H
#define TLC_CAMPAIGN_SETTLING_H

#include <jansson.h>

#include "stats/stats.h"

// The ratio of an arm's cost in the second half of a block's slices to that in the first, with the
// 95 % interval over blocks: in each block the medians of the two halves, of slices divided by
// those that the `baseline` has in the same rounds (NULL: of the cost itself, with the machine's
// drift). Blocks of fewer than 4 such slices tell nothing; n is 0 without any that does. Estimate,
// low and high are NaN when memory runs out.
struct tlc_interval tlc_settling(const json_t *samples, const json_t *baseline);

// The least change that the whole interval shows, as a share of the first half; 0 when it holds 1
// or is not finite.
double tlc_settling_least(struct tlc_interval settling);

// "its cost fell by 25 % within a block (95 %: 17 % to 34 %)"; static storage.
const char *tlc_settling_words(struct tlc_interval settling);

#endif
