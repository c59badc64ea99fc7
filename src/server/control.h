// The control thread: signals, framed messages (docs/control.md), waiting for a settled server. It
// sleeps in poll while nobody asks anything.
// It is private to the room.
#ifndef TLC_SERVER_CONTROL_H
#define TLC_SERVER_CONTROL_H

#include <jansson.h>

#include "server/keys.h"
#include "server/listener.h"
#include "server/worker.h"

struct tlc_server {
    const struct tlc_server_options *options;
    struct tlc_host host;
    struct tlc_stack_context **contexts; // one, or one a worker where each has keys of its own
    unsigned context_count;
    struct tlc_keys keys;
    struct tlc_worker *workers;
    unsigned worker_count;
    int *listeners; // one, or one a worker
    unsigned listener_count;
    struct tlc_address address;
    char address_text[TLC_ADDRESS_BYTES];
    json_t *stack; // what the counters say of the stack
    int signals;   // signalfd
};

// {workers:[...], totals:{...}, failed:{...}}; the caller's reference.
json_t *tlc_server_snapshot(const struct tlc_server *server);
// Serves messages and signals until the server has to stop.
enum tlc_status tlc_control_serve(struct tlc_server *server, struct tlc_error *error) TLC_CHECKED;

#endif
