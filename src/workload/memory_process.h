// A worker of the memory workload (memory.h) as its parent sees it; private to the room.
#ifndef TLC_WORKLOAD_MEMORY_PROCESS_H
#define TLC_WORKLOAD_MEMORY_PROCESS_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/process.h"
#include "plan/plan.h"

enum { TLC_MEMORY_ANSWER_MS = 20000 }; // that a worker may take beyond what it was asked to

struct tlc_memory_process {
    struct tlc_process worker;
    char log[600];
    bool dead; // it has not answered
};

// `environment` as of tlc_process_options.
enum tlc_status tlc_memory_start(struct tlc_memory_process *process, const cpu_set_t *cpus,
                                 const char *log, const char *const *environment,
                                 struct tlc_error *error) TLC_CHECKED;
// Sends a command (taken over) and takes its answer; an "error" member becomes the error.
enum tlc_status tlc_memory_ask(struct tlc_memory_process *process, json_t *command, int timeout_ms,
                               json_t **answer, struct tlc_error *error) TLC_CHECKED;
// Has the one arm of `plan` (taken over) opened; the evidence is the caller's.
enum tlc_status tlc_memory_prepare(struct tlc_memory_process *process, json_t *plan,
                                   const char *certificates, json_t **evidence,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_memory_stop(struct tlc_memory_process *process);

// The plan with this arm alone, which a worker reads as any stored plan.
json_t *tlc_memory_plan(const struct tlc_plan *plan, size_t arm);

#endif
