// Memory allocations of an arm's two sides, counted in processes of their own; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_ALLOCATIONS_H
#define TLC_WORKLOAD_NETWORK_ALLOCATIONS_H

#include <jansson.h>

#include "base/error.h"
#include "measure/allocations.h"
#include "plan/plan.h"
#include "stacks/loader.h"
#include "workload/network_server.h"
#include "workload/workload.h"

struct tlc_allocation_run {
    const struct tlc_arm *arm;
    const struct tlc_stack_plugin *plugin;
    const char *certificates;
    const struct tlc_workload_setup *setup;
    const json_t *evidence; // of the arm's probe
};

// Starts tlscost's own server for the arm with its allocations counted.
enum tlc_status tlc_arm_counted_server(const struct tlc_allocation_run *run,
                                       struct tlc_arm_server *server,
                                       struct tlc_error *error) TLC_CHECKED;
// A server and a generator that count run the arm's handshakes one after the other, with engine
// full and honest shares. *counted (the caller's): {handshakes, server: {count, bytes}, client: the
// same}, each for one handshake.
enum tlc_status tlc_arm_count_allocations(const struct tlc_allocation_run *run, json_t **counted,
                                          struct tlc_error *error) TLC_CHECKED;

#endif
