// What servers spend on handshakes that never complete: on clients that leave early, and on those
// that give up while more is offered than the server can do. Private to the room.
#ifndef TLC_CAMPAIGN_UNVERIFIED_H
#define TLC_CAMPAIGN_UNVERIFIED_H

#include <jansson.h>

#include "plan/plan.h"

// Adds to the summary's `arms`, from their accepted samples, `unfinished` where clients leave early
// and `overload` where load is offered in shares of the capacity (docs/result.md).
void tlc_unverified_add(const struct tlc_plan *plan, json_t *arms);

#endif
