// What the figures of a campaign support together; private to the room.
#ifndef TLC_CAMPAIGN_CONCLUSIONS_H
#define TLC_CAMPAIGN_CONCLUSIONS_H

#include <jansson.h>
#include <stdbool.h>

#include "plan/plan.h"

// Adds to each arm of a summarised result: `p` (signed-rank, of the ratio over instances), `holm_p`
// (Holm's adjustment over all arms but controls), `claim_holm` (whether a 'slower' or 'faster'
// holds over all arms together; null where nothing is claimed), `detectable` (the smallest change
// that a repetition would claim in 4 of 5 cases) and `outliers` (instances far from the others:
// flagged, and kept in every figure); and to the campaign `order_effect`, the ratio of cost late in
// a round to cost early in it. Arms of raw operations get `variation`: {median_us,
// relative_deviation} over process samples, `difference` of the median from that of the arm it is
// divided by, and whether that `exceeds` the deviation of both. The result gets `attribution` where
// arms were attributed (attribute/budget.h). Pure. False when memory runs out.
bool tlc_conclude(json_t *result, const struct tlc_plan *plan);

#endif
