// What the tracing provider writes and its readers read: a page of memory, shared through a file
// where other processes are to see it (docs/trace.md).
#ifndef TLC_MEASURE_TRACE_PAGE_H
#define TLC_MEASURE_TRACE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "measure/component.h"

#define TLC_TRACE_MAGIC 0x3265636172743163u // of this layout

enum tlc_trace_mode { TLC_TRACE_NONE, TLC_TRACE_TAG, TLC_TRACE_TIMED };

enum {
    TLC_TRACE_NODES = 2048,
    TLC_TRACE_PARTS = 4,     // buckets an octave
    TLC_TRACE_BUCKETS = 160, // up to 2^41 ticks
    TLC_TRACE_ALGORITHM_BYTES = 32
};

struct tlc_trace_bucket {
    _Atomic uint64_t count, ticks;
};

// One function of one algorithm, called from one place: directly, or inside another node's.
struct tlc_trace_node {
    _Atomic uint64_t key; // 0: free
    uint32_t parent;      // index of the node it is nested in; TLC_TRACE_NODES: in none
    uint16_t component;
    uint16_t whole;     // 1: the call that does the work, such as the signature itself
    uint32_t function;  // number of the function among its kind (core_dispatch.h)
    uint32_t operation; // number of the kind, OSSL_OP_*
    char algorithm[TLC_TRACE_ALGORITHM_BYTES];
    // Calls with nothing nested in them; those with something: their times, and without what is
    // nested.
    struct tlc_trace_bucket alone[TLC_TRACE_BUCKETS], around[TLC_TRACE_BUCKETS],
        own[TLC_TRACE_BUCKETS];
};

struct tlc_trace_page {
    _Atomic uint64_t magic;
    _Atomic uint32_t mode, loads; // enum tlc_trace_mode; how often a library started the provider
    _Atomic uint64_t done[TLC_COMPONENT_COUNT]; // calls that did the work of a component
    _Atomic uint64_t lost;                      // calls for which there was no node
    // A known spin: this component's work takes so much longer. Written by whoever measures.
    _Atomic uint32_t burn_component, burn_us;
    _Atomic uint64_t burnt_ns, burns[TLC_COMPONENT_COUNT]; // where it was done, and how often
    struct tlc_trace_node nodes[TLC_TRACE_NODES];
};

// Bucket of a time: exact below TLC_TRACE_PARTS ticks, then TLC_TRACE_PARTS to an octave.
static inline unsigned tlc_trace_bucket(uint64_t ticks)
{
    if (ticks < TLC_TRACE_PARTS)
        return (unsigned)ticks;
    unsigned octave = 63u - (unsigned)__builtin_clzll(ticks);
    unsigned bucket = (octave - 1) * TLC_TRACE_PARTS + (unsigned)(ticks >> (octave - 2) & 3);
    return bucket < TLC_TRACE_BUCKETS ? bucket : TLC_TRACE_BUCKETS - 1;
}

// The processor's time stamp counter: the cheapest clock there is. It counts what passes, also
// while the thread does not run.
static inline uint64_t tlc_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "no time stamp counter is known for this processor"
#endif
}

#endif
