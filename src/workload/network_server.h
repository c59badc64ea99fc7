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
};

// Where a server runs: its CPUs, its namespaces (as in tlc_process_options) and its address.
struct tlc_arm_place {
    const cpu_set_t *cpus;
    const int *namespaces;
    const char *listen; // "127.0.0.1:0"
};

// Makes what is missing of the arm's certificates in a folder below `directory`; *path gets it.
// Arms that differ in intermediates or authority have folders of their own.
enum tlc_status tlc_arm_certificates(const struct tlc_arm *arm, const char *directory, char *path,
                                     size_t capacity, struct tlc_error *error) TLC_CHECKED;
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
void tlc_arm_server_stop(struct tlc_arm_server *server);
// The last lines of a log, for errors; empty when there are none.
void tlc_log_tail(const char *log, char *text, size_t capacity);

#endif
