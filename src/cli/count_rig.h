// One server and, by turns, clients, whatever counts them.
#ifndef TLC_CLI_COUNT_RIG_H
#define TLC_CLI_COUNT_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/process.h"
#include "cli/count.h"
#include "measure/callgrind.h"

struct tlc_count_rig {
    const struct tlc_count_options *options;
    char folder[640], log[700], keys[700], address[128];
    struct tlc_process server;
    void *state; // the method's own
};

enum tlc_status tlc_count_rig_open(const struct tlc_count_options *options,
                                   struct tlc_count_rig *rig, struct tlc_error *error) TLC_CHECKED;
void tlc_count_rig_close(struct tlc_count_rig *rig); // ends the server
// Starts `tlscost serve`, with the words of `before` (NULL-terminated; may be NULL) in front of it,
// and waits until it listens.
enum tlc_status tlc_count_rig_serve(struct tlc_count_rig *rig, const char *const *before,
                                    struct tlc_error *error) TLC_CHECKED;
// Handshakes one after the other, ended in order, so that nothing of them is left for the next run.
enum tlc_status tlc_count_rig_load(const struct tlc_count_rig *rig, const char *const *before,
                                   uint64_t handshakes, struct tlc_error *error) TLC_CHECKED;

typedef bool tlc_count_awaited(struct tlc_count_rig *rig);
// Waits until something is there; fails in the server's own words when it ends or takes too long.
enum tlc_status tlc_count_rig_await(struct tlc_count_rig *rig, const char *what,
                                    tlc_count_awaited *is_there,
                                    struct tlc_error *error) TLC_CHECKED;
// Waits until nothing of the last handshakes is left to do in the server.
enum tlc_status tlc_count_rig_await_idle(struct tlc_count_rig *rig,
                                         struct tlc_error *error) TLC_CHECKED;

// What a side took in a run.
struct tlc_counted {
    double total, user, kernel;     // NAN: not told
    struct tlc_callgrind functions; // none: count is 0
};

struct tlc_count_method {
    const char *name;
    uint64_t handshakes; // of a short run when the user does not say
    uint64_t warm_up;    // handshakes whose first-time work is nobody's cost
    enum tlc_status (*require)(struct tlc_count_options *options, json_t *document,
                               struct tlc_error *error);
    enum tlc_status (*start)(struct tlc_count_rig *rig, struct tlc_error *error);
    // After the warm-up: from here on the server counts.
    enum tlc_status (*begin)(struct tlc_count_rig *rig, struct tlc_error *error);
    // What the server took since the last time; it is idle.
    enum tlc_status (*server)(struct tlc_count_rig *rig, struct tlc_counted *counted,
                              struct tlc_error *error);
    // A run of the client, and what it took.
    enum tlc_status (*client)(struct tlc_count_rig *rig, uint64_t handshakes,
                              struct tlc_counted *counted, struct tlc_error *error);
    void (*stop)(struct tlc_count_rig *rig); // also after a start that failed
};
extern const struct tlc_count_method tlc_count_by_callgrind, tlc_count_by_perf;

#endif
