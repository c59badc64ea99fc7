// What the reader of traces and its figures share; private to the room.
#ifndef TLC_MEASURE_TRACE_PARTS_H
#define TLC_MEASURE_TRACE_PARTS_H

#include "measure/trace.h"

struct tlc_trace_times {
    uint64_t counts[TLC_TRACE_BUCKETS], sums[TLC_TRACE_BUCKETS];
};

struct tlc_trace_sum {
    uint64_t key;
    uint32_t parent; // index of its sum; TLC_TRACE_NODES: none
    unsigned component;
    bool whole;
    char algorithm[TLC_TRACE_ALGORITHM_BYTES];
    struct tlc_trace_times all,
        own; // of all calls: from call to return, and without what is nested
};

struct tlc_trace_sums {
    uint64_t done[TLC_COMPONENT_COUNT], burns[TLC_COMPONENT_COUNT], lost, burnt_ns;
    uint64_t ticks, ns; // how long it took by both clocks
    uint32_t node_count;
    struct tlc_trace_sum nodes[TLC_TRACE_NODES];
};

#endif
