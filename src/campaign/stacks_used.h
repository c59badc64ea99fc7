// The TLS libraries of a campaign. Private to the room.
#ifndef TLC_CAMPAIGN_STACKS_USED_H
#define TLC_CAMPAIGN_STACKS_USED_H

#include <jansson.h>

#include "plan/plan.h"

// Each once, as tlc_library_describe gives it.
json_t *tlc_stacks_used_describe(const struct tlc_plan *plan);
// Servers load their library anew in each block: an error when one is no longer the file that was
// described.
enum tlc_status tlc_stacks_used_check(const struct tlc_plan *plan,
                                      struct tlc_error *error) TLC_CHECKED;

#endif
