// Servers, paths and clients of all arms, before anything is measured. Private to the room.
#ifndef TLC_CONNECT_SETUP_H
#define TLC_CONNECT_SETUP_H

#include "connect/connect.h"
#include "connect/visit.h"
#include "relay/relay.h"
#include "workload/network_server.h"

struct tlc_connect_arm {
    const struct tlc_arm *arm;
    const struct tlc_stack_plugin *plugin;
    char certificates[512]; // folder
    struct tlc_stack_context *context;
    uint8_t *session; // to resume; NULL: none
    size_t session_bytes;
    json_t *evidence; // of one connection like those that are measured
    struct tlc_wire wire;
};

// A server process; arms whose servers do not differ share it.
struct tlc_connect_host {
    const struct tlc_arm *arm;
    const struct tlc_namespace *namespace; // NULL: the process's own
    struct tlc_arm_server server;
    struct tlc_connect_host *next;
};

// A namespace for each path that differs (netem only).
struct tlc_connect_place {
    struct tlc_path path;
    struct tlc_namespace namespace;
    struct tlc_connect_place *next;
};

// An arm at one round-trip time, and what its connections showed.
struct tlc_connect_spot {
    struct tlc_connect_arm *arm;
    uint64_t rtt_us;
    struct tlc_path path;
    struct tlc_connect_host *host;
    struct tlc_visit_target target;
    double *us[TLC_PHASES]; // room for all connections
    size_t count;           // that were answered
    unsigned begun, failed;
    json_t *errors; // reason -> count
};

struct tlc_connect {
    const struct tlc_connect_options *options;
    struct tlc_connect_arm *arms;
    struct tlc_connect_spot *spots;
    size_t spot_count;
    struct tlc_connect_host *hosts;
    struct tlc_connect_place *places;
    struct tlc_relay *relay; // NULL: netem
    char why[512];           // why it is the relay; empty: it was asked for
    double *late_us;         // how late connections were begun
    size_t late_count;
};

enum tlc_status tlc_connect_open(const struct tlc_connect_options *options,
                                 struct tlc_connect **connect, struct tlc_error *error) TLC_CHECKED;
void tlc_connect_close(struct tlc_connect *connect);

#endif
