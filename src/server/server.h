// The host that serves any stack: listeners, workers, SNI table, tickets, counters.
#ifndef TLC_SERVER_SERVER_H
#define TLC_SERVER_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stacks/loader.h"

enum tlc_accept { TLC_ACCEPT_SHARED, TLC_ACCEPT_REUSEPORT };

struct tlc_server_options {
    const char *listen; // "127.0.0.1:0", "[::1]:4433", "unix:/path"
    const struct tlc_stack_plugin *plugin;
    struct tlc_stack_config
        stack;        // certificates, groups, versions, tickets, ...; borrowed until stop
    unsigned workers; // threads, at least 1
    enum tlc_accept accept;
    int backlog;                   // listen(2) backlog; 0: 4096 (the kernel caps it at somaxconn)
    int control;                   // control socket; -1: none
    unsigned handshake_timeout_ms; // a connection that has not finished its handshake is closed; 0:
                                   // 10 000
    unsigned burn_us;              // CPU burnt in each handshake (part of calibration); 0: none
};

// Counts of one worker or of all. Mergeable by addition.
struct tlc_server_counters {
    uint64_t accepted, closed, handshakes, resumed, hello_retry_requests;
    uint64_t bytes_read, bytes_written; // application data
    json_t *failed;                     // reason -> count, over all workers
};

// Serves until a stop message, SIGINT or SIGTERM, or the control peer's end; then closes the
// listeners, finishes open connections for up to a second and returns. *counters gets the JSON that
// is printed at exit: {schema, command, stack, address, workers:[{...}], totals:{...},
// failed:{reason:count}}.
enum tlc_status tlc_server_run(const struct tlc_server_options *options, json_t **counters,
                               struct tlc_error *error) TLC_CHECKED;

#endif
