// Performance events counted on whole CPUs (perf_event_open(2)): everything that runs there, the
// kernel's interrupts included. A third accounting beside /proc/stat and the run time of processes.
#ifndef TLC_MEASURE_CPU_EVENTS_H
#define TLC_MEASURE_CPU_EVENTS_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum tlc_cpu_event {
    TLC_EVENT_CPU_CLOCK,        // ns, busy or idle: what the fields of /proc/stat must add up to
    TLC_EVENT_CONTEXT_SWITCHES, // software events: on every machine
    TLC_EVENT_CYCLES,           // hardware events: halted cycles are not counted
    TLC_EVENT_INSTRUCTIONS,
    TLC_EVENT_COUNT
};
const char *tlc_cpu_event_name(enum tlc_cpu_event event); // "cpu_clock_ns", ...

struct tlc_cpu_event_sums {
    uint64_t of[TLC_EVENT_COUNT]; // sums over the CPUs, counted since the events were opened
    bool counted[TLC_EVENT_COUNT];
};

struct tlc_cpu_events;
// NULL when none may be counted on these CPUs; *reason (may be NULL) gets why, a static text. An
// event that is missing on one CPU of the set is missing as a whole.
struct tlc_cpu_events *tlc_cpu_events_open(const cpu_set_t *cpus, const char **reason);
void tlc_cpu_events_read(const struct tlc_cpu_events *events, struct tlc_cpu_event_sums *sums);
void tlc_cpu_events_close(struct tlc_cpu_events *events); // NULL is allowed
// Counts between two readings. An event that a counter was shared for is scaled by the kernel's
// times.
struct tlc_cpu_event_sums tlc_cpu_events_since(const struct tlc_cpu_event_sums *later,
                                               const struct tlc_cpu_event_sums *earlier);

#endif
