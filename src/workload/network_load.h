// A generator process (`tlscost load --control`) and its messages; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_LOAD_H
#define TLC_WORKLOAD_NETWORK_LOAD_H

#include <jansson.h>
#include <sched.h>

#include "base/error.h"
#include "base/process.h"
#include "generator/generator.h"

struct tlc_load {
    struct tlc_process process;
    char log[600];
};

// `index` tells the logs of several apart.
enum tlc_status tlc_load_start(const cpu_set_t *cpus, const char *directory, unsigned index,
                               struct tlc_load *load, struct tlc_error *error) TLC_CHECKED;
// Makes or ends the target `id`.
enum tlc_status tlc_load_prepare(struct tlc_load *load, json_int_t id,
                                 const struct tlc_target_options *target,
                                 struct tlc_error *error) TLC_CHECKED;
void tlc_load_release(struct tlc_load *load, json_int_t id);
// Begins a slice, and waits for its end. What was begun must be waited for, or the next answer
// would be taken for another's.
enum tlc_status tlc_load_begin(struct tlc_load *load, json_int_t id, uint64_t duration_us,
                               uint64_t count, unsigned concurrency,
                               struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_load_end(struct tlc_load *load, uint64_t duration_us,
                             struct tlc_counters *counters, struct tlc_error *error) TLC_CHECKED;
void tlc_load_stop(struct tlc_load *load);

#endif
