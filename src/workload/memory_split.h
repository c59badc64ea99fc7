// From the wall times of single handshakes and the CPU time of all of them together to the CPU time
// of each side. Pure; private to the room.
#ifndef TLC_WORKLOAD_MEMORY_SPLIT_H
#define TLC_WORKLOAD_MEMORY_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One handshake. `rest` is all that is neither side's: looking at the outcome, the loop itself.
struct tlc_memory_lap {
    double server_ns, client_ns, rest_ns;
    bool resumed;
};

struct tlc_memory_split {
    double server_us, client_us, rest_us; // together the CPU time, exactly
    double wall_us;       // of all laps, those that were interrupted put at the mean of the others
    uint64_t interrupted; // laps far longer than others of their kind: another thread had the CPU
};

// Shares `total_us` of CPU time by the wall times of the laps that were not interrupted. Full and
// resumed handshakes are judged apart. False without a lap or when memory runs out.
bool tlc_memory_split(const struct tlc_memory_lap *laps, size_t count, double total_us,
                      struct tlc_memory_split *split);

#endif
