// Begins connections when they are due, whatever became of those before. Private to the room.
#ifndef TLC_CONNECT_OPEN_LOOP_H
#define TLC_CONNECT_OPEN_LOOP_H

#include "connect/setup.h"

// When each connection is due, in nanoseconds from the start, and the spot it belongs to: Poisson
// arrivals at `pace` in a second; every spot once in a random order, then again. Pure; `due` and
// `spots` have room for spot_count * connections.
void tlc_open_loop_schedule(uint64_t seed, size_t spot_count, unsigned connections, unsigned pace,
                            uint64_t *due_ns, size_t *spots);

// Runs all of it. TLC_INTERRUPTED when it was asked to stop.
enum tlc_status tlc_open_loop_run(struct tlc_connect *connect, struct tlc_error *error) TLC_CHECKED;

#endif
