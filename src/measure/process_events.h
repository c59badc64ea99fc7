// Performance events counted of processes (perf_event_open(2)), wherever they run; what they do in
// user space and what the kernel does in their name apart.
#ifndef TLC_MEASURE_PROCESS_EVENTS_H
#define TLC_MEASURE_PROCESS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct tlc_event_kind {
    const char *name; // "instructions", ...
    const char *unit; // in words for a user
    uint32_t type;    // perf_event_open(2)
    uint64_t config;
    bool divided; // user space and kernel can be told apart
};
// NULL when there is none of this name.
const struct tlc_event_kind *tlc_event_kind(const char *name);
#define TLC_EVENT_KINDS "instructions, cycles, branches, branch-misses, cache-misses, task-clock"

// What is to be counted: a kind, and whether the kernel's work counts (never set for a kind that is
// not divided, which counts both at once).
struct tlc_process_event {
    const struct tlc_event_kind *kind;
    bool kernel;
};

struct tlc_event_reading {
    uint64_t value, enabled_ns, running_ns;
};
struct tlc_process_reading {
    struct tlc_event_reading user; // of a kind that is not divided: all
    struct tlc_event_reading kernel;
};
struct tlc_process_counts {
    double total;        // user and kernel, as far as counted
    double user, kernel; // NAN: not told
};

// Whether this process may count `kind`, and the kernel's share of it. TLC_ENVIRONMENT with the
// reason and what would help when it may not. Where only the kernel's share is forbidden,
// `without_kernel` gets why; else it is empty.
enum tlc_status tlc_process_event_find(const struct tlc_event_kind *kind,
                                       struct tlc_process_event *event, char *without_kernel,
                                       size_t bytes, struct tlc_error *error) TLC_CHECKED;

struct tlc_process_events;
// Of all threads that a running process has now, and of those that they start.
enum tlc_status tlc_process_events_of(struct tlc_process_event event, pid_t pid,
                                      struct tlc_process_events **events,
                                      struct tlc_error *error) TLC_CHECKED;
// Of the next process that the calling thread starts, from its exec on; counted whole when it has
// been waited for. Of that one only: when the kernel switches from a thread to its child it may
// hand the counter to the child instead of a copy, and nothing enables the copies of later
// children.
enum tlc_status tlc_process_events_of_child(struct tlc_process_event event,
                                            struct tlc_process_events **events,
                                            struct tlc_error *error) TLC_CHECKED;
// Counted since they were opened.
enum tlc_status tlc_process_events_read(const struct tlc_process_events *events,
                                        struct tlc_process_reading *reading,
                                        struct tlc_error *error) TLC_CHECKED;
void tlc_process_events_close(struct tlc_process_events *events); // NULL is allowed

// --- pure ---

// Counts between two readings. TLC_REFUSED when a counter was not there all the time: then the
// count is of a part only, and scaling it would be a guess.
enum tlc_status tlc_process_counts_between(struct tlc_process_event event,
                                           const struct tlc_process_reading *earlier,
                                           const struct tlc_process_reading *later,
                                           struct tlc_process_counts *counts,
                                           struct tlc_error *error) TLC_CHECKED;

// What is known of a machine where an event could not be opened.
struct tlc_event_refusal {
    int code;      // errno of perf_event_open(2)
    bool kernel;   // it was the kernel's share
    long paranoid; // kernel.perf_event_paranoid; below -1: not known
    bool virtual;
};
// Why, and what would help, in words for a user.
void tlc_event_refusal_text(const struct tlc_event_kind *kind,
                            const struct tlc_event_refusal *refusal, char *text, size_t bytes);

#endif
