// Private to the room.
#ifndef TLC_PLAN_WARM_UP_H
#define TLC_PLAN_WARM_UP_H

#include "plan/plan.h"

// Gives each arm without a warm_up of its own that of its server's description, where it has one.
void tlc_plan_take_warm_ups(struct tlc_plan *plan);

#endif
