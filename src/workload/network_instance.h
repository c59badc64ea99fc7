// A server process that serves one or several arms; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_INSTANCE_H
#define TLC_WORKLOAD_NETWORK_INSTANCE_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/proc.h"
#include "workload/network_server.h"

// A server process and what is known of it: one for each arm, or the baseline's for several.
struct tlc_instance {
    const struct tlc_arm *arm; // whose configuration it serves
    size_t index;              // of that arm
    struct tlc_arm_server server;
    unsigned users;        // arms prepared on it
    uint64_t answered;     // connections it was asked to finish since its start
    json_t *counters;      // as it told them last
    struct tlc_tree *tree; // its run time; open as long as the server runs
    bool dead;
};

// Starts the server unless another arm runs on it already. One that failed is left too.
enum tlc_status tlc_instance_join(struct tlc_instance *instance, const char *certificates,
                                  const cpu_set_t *cpus, const char *directory,
                                  struct tlc_error *error) TLC_CHECKED;
// The last arm to leave ends the server. NULL is left without an effect.
void tlc_instance_leave(struct tlc_instance *instance);
// Waits until the server has finished what it was asked to; one that cannot answer is dead.
void tlc_instance_settle(struct tlc_instance *instance);
// Tells the server what it burns in each handshake of the slice that follows. Every slice of every
// arm begins with it, so that no server is met colder than another.
enum tlc_status tlc_instance_wake(struct tlc_instance *instance, unsigned burn_us,
                                  struct tlc_error *error) TLC_CHECKED;
// One of the server's own counts since its start, as it told it last.
uint64_t tlc_instance_count(const struct tlc_instance *instance, const char *what);

#endif
