// The workload `connect`: what a client waits on a long path, phase by phase. Waiting takes no CPU
// time, so connections of all arms are in flight at once, begun by an open loop.
#ifndef TLC_CONNECT_CONNECT_H
#define TLC_CONNECT_CONNECT_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"

enum tlc_connect_network {
    TLC_NETWORK_AUTO,  // netem where the machine has it, otherwise the relay
    TLC_NETWORK_RELAY, // relay/relay.h
    TLC_NETWORK_NETEM  // relay/namespace.h
};

struct tlc_connect_options {
    const struct tlc_plan *plan;       // of the workload `connect`
    const char *work_directory;        // logs; exists, 0700
    const char *certificate_directory; // test certificates are made and kept below it
    enum tlc_connect_network network;
    uint64_t seed;                // of begin times, order, and the relay's jitter and losses
    const cpu_set_t *server_cpus; // NULL: any
    // Told now and then how far it is (0..1) and the seconds left; NULL: nobody listens.
    void (*progress)(void *user, double done, double seconds_left);
    void *user;
    bool (*stop)(void); // true: begin no more connections and end
};

// Measures and builds the result document (docs/connect-time.md). With TLC_REFUSED (connections of
// an arm failed) and TLC_INTERRUPTED there is a *result too.
enum tlc_status tlc_connect_run(const struct tlc_connect_options *options, json_t **result,
                                struct tlc_error *error) TLC_CHECKED;

#endif
