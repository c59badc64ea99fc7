// What an arm's unfinished handshakes make its server allocate and keep, told once by processes of
// their own; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_HELD_H
#define TLC_WORKLOAD_NETWORK_HELD_H

#include "workload/external.h"
#include "workload/network_allocations.h"

// `external` NULL: tlscost's own server. *told (the caller's): {held, hellos, allocations (per
// hello: {count, bytes}, null: not counted), heap_bytes (per connection held, null alike),
// memory_bytes (per connection held, of the process tree), bytes_in, bytes_out (per connection),
// waited_us, closed, first_us, median_us, last_us}.
enum tlc_status tlc_arm_hold(const struct tlc_allocation_run *run,
                             const struct tlc_external *external, json_t **told,
                             struct tlc_error *error) TLC_CHECKED;

#endif
