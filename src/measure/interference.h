// How much load on some CPUs slows a fixed piece of work on others: through shared cores, caches,
// power limits, or a host that runs both on one core.
#ifndef TLC_MEASURE_INTERFERENCE_H
#define TLC_MEASURE_INTERFERENCE_H

#include <sched.h>
#include <stdbool.h>

#include "base/error.h"

// Runs `operations` X25519 operations on each CPU of `server` at once, while each CPU of
// `generator` does the same without end (`busy`) or nothing, and gives their mean cost: CPU time of
// the working threads, ns an operation. Every result is compared with the published one.
enum tlc_status tlc_interference_window(const cpu_set_t *server, const cpu_set_t *generator,
                                        bool busy, unsigned operations, double *ns_per_operation,
                                        struct tlc_error *error) TLC_CHECKED;

#endif
