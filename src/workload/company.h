// What work costs in company: a microsecond of burn (measure/burn.h) between the steps of
// handshakes, over the same burn alone. Where something outside the process empties the caches now
// and then, what makes a handshake longer has it find less of its data there, and costs more than
// itself. It is read by one thread's CPU clock in a process that holds both sides of a handshake:
// without sockets, generator, or another process's counters.
#ifndef TLC_WORKLOAD_COMPANY_H
#define TLC_WORKLOAD_COMPANY_H

#include "workload/workload.h"

// `count` readings of an arm of the plan on the servers' CPUs, some 0.45 s each at 650 us a
// handshake; *taken of them are there when `stopped` (may be NULL) becomes true in between. The
// arm's server must be one of tlscost's own, whose library has a memory transport:
// TLC_ENVIRONMENT or TLC_USAGE with the reason where not.
enum tlc_status tlc_company_measure(const struct tlc_workload_setup *setup, size_t arm,
                                    bool (*stopped)(void), double *ratios, size_t count,
                                    size_t *taken, struct tlc_error *error) TLC_CHECKED;

#endif
