// The kinds of workload, one file each; private to the room.
#ifndef TLC_WORKLOAD_KINDS_H
#define TLC_WORKLOAD_KINDS_H

#include "workload/workload.h"

extern const struct tlc_workload_kind tlc_workload_network;

// What the stacks of network arms lack (network_check.c).
enum tlc_status tlc_network_check(const struct tlc_workload_setup *setup,
                                  struct tlc_error *error) TLC_CHECKED;
// Whether the arm of the plan asks for this kind.
bool tlc_is_of_kind(const struct tlc_workload_setup *setup, size_t arm,
                    const struct tlc_workload_kind *kind);

#endif
