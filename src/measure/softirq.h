// Softirqs by CPU of /proc/softirqs: where the kernel did its network work. On loopback the receive
// half of a connection's TCP work runs on the CPU of the sender, so the counts of two CPU sets show
// who paid for whose packets.
#ifndef TLC_MEASURE_SOFTIRQ_H
#define TLC_MEASURE_SOFTIRQ_H

#include <sched.h>
#include <stdint.h>

#include "base/error.h"

// Sums over a set of CPUs since boot. They count how often, not how long.
struct tlc_softirqs {
    uint64_t net_rx, net_tx;
    unsigned cpus; // how many CPUs of the set have a column
};
enum tlc_status tlc_parse_softirqs(const char *softirqs_text, const cpu_set_t *cpus,
                                   struct tlc_softirqs *sums, struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_read_softirqs(const cpu_set_t *cpus, struct tlc_softirqs *sums,
                                  struct tlc_error *error) TLC_CHECKED;
struct tlc_softirqs tlc_softirqs_since(const struct tlc_softirqs *later,
                                       const struct tlc_softirqs *earlier);

#endif
