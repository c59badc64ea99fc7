// The server process of an arm: its certificates, command line, start, control messages and end.
#ifndef TLC_WORKLOAD_NETWORK_SERVER_H
#define TLC_WORKLOAD_NETWORK_SERVER_H

#include <jansson.h>
#include <sched.h>

#include "base/error.h"
#include "base/process.h"
#include "plan/plan.h"

struct tlc_arm_server {
    struct tlc_process process;
    char address[128];
    char ticket_keys[640]; // file of its ticket keys; empty: none
    json_t *processor;     // as its library sees it, text; NULL: not told
};

// Where a server runs: its CPUs, its namespaces (as in tlc_process_options) and its address.
struct tlc_arm_place {
    const cpu_set_t *cpus;
    const int *namespaces;
    const char *listen;     // "127.0.0.1:0"
    const char *trace_file; // that a traced server shares; NULL: none
};

// Starts `tlscost serve` for the arm and waits until it listens. `log` takes what it prints.
enum tlc_status tlc_arm_server_start(const struct tlc_arm *arm, const char *certificates,
                                     const struct tlc_arm_place *place, const char *log,
                                     struct tlc_arm_server *server,
                                     struct tlc_error *error) TLC_CHECKED;
// Waits until no connection is open and at least `handshakes` were finished or failed since its
// start, or the time is over; *counters (the caller's) is the server's answer either way.
enum tlc_status tlc_arm_server_settle(struct tlc_arm_server *server, uint64_t handshakes,
                                      unsigned timeout_ms, json_t **counters,
                                      struct tlc_error *error) TLC_CHECKED;
// Changes what the server burns in each handshake from now on.
enum tlc_status tlc_arm_server_burn(struct tlc_arm_server *server, unsigned burn_us,
                                    struct tlc_error *error) TLC_CHECKED;
// What the kernel charges the idle server for `us` microseconds of the work that a burn is made of,
// over these microseconds.
enum tlc_status tlc_arm_server_charge(struct tlc_arm_server *server, unsigned us, double *charge,
                                      struct tlc_error *error) TLC_CHECKED;
// Makes the arm's event happen now.
enum tlc_status tlc_arm_server_event(struct tlc_arm_server *server, const char *event,
                                     struct tlc_error *error) TLC_CHECKED;
// What the server's crypto provider did, at most once in a handshake, by its counters.
uint64_t tlc_arm_provider_work(const json_t *counters);
void tlc_arm_server_stop(struct tlc_arm_server *server);
// The last lines of a log, for errors; empty when there are none.
void tlc_log_tail(const char *log, char *text, size_t capacity);

#endif
