// The two processes of a round, `tlscost serve` and `tlscost load`, driven by control messages
// (docs/control.md), and what is read around a slice: the server's counters and CPU time.
#ifndef TLC_BENCH_RIG_H
#define TLC_BENCH_RIG_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/process.h"
#include "measure/proc.h"

struct rig_options {
    const char *program;     // tlscost
    const char *group;       // the only one the server takes
    const char *certificate; // a name as of `serve --cert`
    const cpu_set_t *server_cpus, *generator_cpus;
    const char *log; // takes what both print on standard error
};

struct rig {
    struct rig_options options;
    struct tlc_process server, generator;
    char address[128]; // ADDR:PORT of the server
    json_t *stack;     // what the server says about its library
};

// Both processes, the server listening on a free port of 127.0.0.1 with one worker, TLS 1.3, one
// group, no tickets, and HTTP answers for clients that ask.
enum tlc_status rig_open(struct rig *rig, const struct rig_options *options,
                         struct tlc_error *error) TLC_CHECKED;
void rig_close(struct rig *rig);

// One request to the generator and its answer (the caller's); an answer with `error` is a failure.
enum tlc_status rig_ask_generator(struct rig *rig, json_t *request, json_t **answer,
                                  struct tlc_error *error) TLC_CHECKED;

// What the server and the machine say at one instant.
struct rig_reading {
    uint64_t handshakes, resumed, retries, failed; // counted by the server
    json_t *reasons;                               // of failures, reason -> count
    uint64_t server_ns, generator_ns;              // run time of the two processes
    struct tlc_cpu_times server_cpus, generator_cpus;
};
// Once no connection is open at the server and its accept queue is empty.
enum tlc_status rig_read(struct rig *rig, struct rig_reading *reading,
                         struct tlc_error *error) TLC_CHECKED;
void rig_reading_free(struct rig_reading *reading);

#endif
