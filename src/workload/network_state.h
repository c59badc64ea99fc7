// What the files of the network workload share: its state. Private to the room.
#ifndef TLC_WORKLOAD_NETWORK_STATE_H
#define TLC_WORKLOAD_NETWORK_STATE_H

#include "measure/trace.h"
#include "workload/external.h"
#include "workload/network_accounting.h"
#include "workload/network_generator.h"
#include "workload/network_sampling.h"
#include "workload/network_server.h"
#include "workload/network_veth.h"

enum { SEATS = 2 };
enum network { LOOPBACK, VETH, VETH_UNSTEERED, NETWORKS };

// What lies between server and client; there when an arm needs it.
struct path {
    struct tlc_veth *veth;                      // NULL: loopback
    struct tlc_arm_generator generators[SEATS]; // the second one only where plans have duets
};

// A server process and what is known of it: one for each arm, or the baseline's for several.
struct instance {
    const struct tlc_arm *arm; // whose configuration it serves
    struct tlc_arm_server server;
    unsigned users;          // arms prepared on it
    uint64_t answered;       // connections it was asked to finish since its start
    json_t *counters;        // as it told them last
    json_t *command;         // of a server that is not ours, as it was run
    struct tlc_trace *trace; // what its tracing provider writes; NULL: none
    struct tlc_tree *tree;   // run time of one of ours; open as long as it runs
    bool dead;
};

struct network_arm {
    const struct tlc_arm *arm;
    const struct tlc_stack_plugin *plugin;
    char certificates[512]; // folder
    struct instance own, *instance;
    struct instance *other; // where its slices of a duet run in every second round; NULL: nowhere
    struct tlc_external *external;    // a server that is not ours; NULL: `tlscost serve`
    struct tlc_external own_external; // unless another arm has opened the same one
    struct tlc_sums sums;
    uint64_t server_handshakes;   // the server's own count over the arm's slices
    uint64_t client_certificates; // of these handshakes, those with a client's certificate
    uint64_t provider_work;       // and what its crypto provider did
    struct tlc_trace_sums *trace; // over the arm's slices; NULL: not traced
    uint64_t traced;              // handshakes in them
    json_t *allocations;          // of a handshake, counted once; NULL: not asked for
    json_t *half_open;            // what the arm's unfinished handshakes hold, alike
    double capacity;              // handshakes a second that the warm-up found; 0: not asked for
    struct tlc_sampling sampling;
    bool prepared;
};

struct tlc_workload {
    const struct tlc_workload_setup *setup;
    struct path paths[NETWORKS];
    struct tlc_cpu_events *server_events, *generator_events; // NULL: not permitted
    struct tlc_components *components;                       // NULL: no arm is attributed
    struct network_arm *arms;
    size_t arm_count;
};

// Opens what all arms share, for arms that have their seats; close takes a part of it too.
enum tlc_status tlc_network_open_shared(struct tlc_workload *workload,
                                        struct tlc_error *error) TLC_CHECKED;
void tlc_network_close_shared(struct tlc_workload *workload);
// The network that an arm asks for.
struct path *tlc_network_path(struct tlc_workload *workload, const struct tlc_arm *arm);
// The number of an arm's target on its home server, or on its other one.
json_int_t tlc_network_target(const struct tlc_workload *workload, size_t arm, bool other);

// Waits until the server has finished what it was asked to; one that cannot answer is dead.
void tlc_network_settle(const struct network_arm *state, struct instance *instance);
// As in tlc_workload_kind.
enum tlc_status tlc_network_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                  uint64_t count, unsigned concurrency, struct tlc_slice *slice,
                                  struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_network_duet(struct tlc_workload *workload, const struct tlc_duet *duet,
                                 struct tlc_slice slices[2], struct tlc_error *error) TLC_CHECKED;
// A short unmeasured slice, which no sum keeps.
enum tlc_status tlc_network_warm_up(struct tlc_workload *workload, size_t arm,
                                    struct tlc_error *error) TLC_CHECKED;

#endif
