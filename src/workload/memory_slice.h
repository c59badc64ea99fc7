// What the worker of the memory workload does when asked: the evidence of an arm, slices of
// handshakes, and the memory of idle connections; private to the room.
#ifndef TLC_WORKLOAD_MEMORY_SLICE_H
#define TLC_WORKLOAD_MEMORY_SLICE_H

#include <jansson.h>

#include "generator/generator.h"
#include "workload/memory_pair.h"
#include "workload/memory_split.h"

struct tlc_memory_arm {
    const struct tlc_arm *arm;
    struct tlc_memory_pair pair;
    struct tlc_memory_recording recording; // side "flight"
    uint64_t begun;                        // handshakes so far, which decides who resumes
    struct tlc_memory_lap *laps;           // of the slice
    size_t lap_count, lap_capacity;
};

struct tlc_memory_figures {
    struct tlc_counters counters;
    struct tlc_memory_split split;
    double total_us, clock_ns; // CPU time of the slice; what one reading of the clock takes
    char failure[256];         // of the first handshake that failed; empty: none did
};

// Opens the pair, makes one full handshake, and one that resumes it where the arm asks for that.
enum tlc_status tlc_memory_arm_open(const struct tlc_arm *arm, const char *folder,
                                    struct tlc_memory_arm *opened, json_t **evidence,
                                    struct tlc_error *error) TLC_CHECKED;
void tlc_memory_arm_close(struct tlc_memory_arm *arm);
// Handshakes for a time, or so many. Free the figures' counters.
enum tlc_status tlc_memory_slice(struct tlc_memory_arm *arm, uint64_t duration_us, uint64_t count,
                                 struct tlc_memory_figures *figures,
                                 struct tlc_error *error) TLC_CHECKED;

// The memory of finished server connections that nobody uses: `connections` of them, fewer where
// the limit of open files asks it. {connections, heap_bytes, rss_bytes, left_bytes}: growth of the
// heap and of the resident set for all of them, and what is still allocated once they have ended.
// Heap figures are null where the allocator tells none.
enum tlc_status tlc_memory_idle(struct tlc_memory_arm *arm, unsigned connections, json_t **told,
                                struct tlc_error *error) TLC_CHECKED;

#endif
