// What a slice costs the server and how busy the CPUs were; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_ACCOUNTING_H
#define TLC_WORKLOAD_NETWORK_ACCOUNTING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "measure/cpu_events.h"
#include "measure/proc.h"
#include "measure/softirq.h"
#include "workload/workload.h"

// What is looked at: a server and the CPU sets.
struct tlc_observed {
    pid_t server;
    struct tlc_tree *tree; // its run time, kept open; NULL: looked up by its pid
    bool apart;            // the server lives in a network namespace of its own
    const cpu_set_t *server_cpus, *generator_cpus;
    const struct tlc_cpu_events *server_events, *generator_events; // NULL: not counted
};

// One set of CPUs.
struct tlc_set_reading {
    struct tlc_cpu_times times;
    struct tlc_softirqs softirqs;
    struct tlc_cpu_event_sums events;
};

// What the machine showed at one moment, for differences over a slice.
struct tlc_readings {
    struct tlc_set_reading server, generator;
    struct tlc_tcp_counters tcp;
    uint64_t server_ns; // run time of the server's process tree
};

enum tlc_status tlc_take_readings(const struct tlc_observed *observed,
                                  struct tlc_readings *readings,
                                  struct tlc_error *error) TLC_CHECKED;

// Sums over an arm's slices since it was prepared.
struct tlc_sums {
    double cost_us, span_s;
    double together_us; // cost of all arms of the same slices
    struct tlc_set_reading server, generator;
    uint64_t listen_overflows, listen_drops;
    unsigned slices;
};

void tlc_sums_add(struct tlc_sums *sums, const struct tlc_readings *before,
                  const struct tlc_readings *after, double cost_us, double together_us,
                  double span_s);
// The share of its span in which an arm of a duet had as much of the CPUs as it can use, from the
// run times; 1 when there are CPUs for both.
double tlc_cpu_share(double cost_us, double together_us, unsigned workers, unsigned cpus);
// Fills the shares of a stay and a detail object with the CPU times by field.
void tlc_sums_stay(const struct tlc_sums *sums, unsigned workers, struct tlc_stay *stay);

#endif
