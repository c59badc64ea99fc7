// When a campaign has measured enough: the looks at its intervals; private to the room.
#ifndef TLC_CAMPAIGN_UNTIL_H
#define TLC_CAMPAIGN_UNTIL_H

#include <jansson.h>
#include <stdbool.h>

#include "plan/plan.h"

// After a block: looks at the intervals when the plan asks for a half-width and a look is due with
// so many finished blocks. Adds what was seen to `looks`; true when every arm's interval is narrow
// enough.
bool tlc_until_look(const struct tlc_plan *plan, const json_t *samples, unsigned blocks,
                    json_t *looks);
// Puts `looks` and why the campaign ended ("narrow", "time", "blocks", "interrupted") into the arms
// of a result.
void tlc_until_tell(json_t *result, const json_t *looks, const char *stopped);

#endif
