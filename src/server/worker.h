// A worker: one thread with an epoll loop of its own. It accepts, drives its connections and
// counts; nothing on its path is shared with another worker but the listening socket.
// It is private to the room.
#ifndef TLC_SERVER_WORKER_H
#define TLC_SERVER_WORKER_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/counters.h"
#include "server/faults.h"
#include "tlscost/stack.h"

struct tlc_connection;

// What all workers look at. Written before they start, or rarely by the control thread.
struct tlc_host {
    const struct tlc_stack *stack;
    struct tlc_faults *faults; // NULL: none
    unsigned handshake_timeout_ms, drain_ms;
    bool http;
    int wake_control; // eventfd of the control thread
    _Atomic unsigned burn_us;
    _Atomic bool waiting;  // the control thread wants to know when a worker becomes idle
    _Atomic bool stopping; // set before the workers' eventfds are written
};

// A ring of connections; the list itself is the link before the first.
struct tlc_link {
    struct tlc_link *before, *after;
};

struct tlc_worker {
    struct tlc_worker_counters counters;
    alignas(TLC_CACHE_LINES) _Atomic bool idle; // asleep or about to be, with no open connection
    alignas(TLC_CACHE_LINES) struct tlc_host *host;
    struct tlc_stack_context *context;
    int epoll, listener, wake; // `wake`: eventfd, written to end the worker
    bool exclusive;            // other workers wait on `listener` too
    bool listening;            // `listener` is in the epoll set
    uint64_t listen_again_ms;  // while not listening for want of descriptors
    uint64_t now_ms;           // coarse clock, taken once a turn
    uint64_t drain_until_ms;   // 0: not stopping
    size_t open;
    struct tlc_link handshaking; // oldest first, so the first deadline is always at the front
    struct tlc_link established;
    struct tlc_connection *again;     // to be driven once more without waiting for an event
    struct tlc_connection *free_list; // pooled
    void *chunks, *buffers;           // memory behind the pools
    struct tlc_stack_evidence evidence;
    pthread_t thread;
};

// Prepares a worker on `listener` (borrowed); `exclusive`: other workers wait on the same socket.
enum tlc_status tlc_worker_open(struct tlc_worker *worker, struct tlc_host *host,
                                struct tlc_stack_context *context, int listener, bool exclusive,
                                struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_worker_start(struct tlc_worker *worker, unsigned number,
                                 struct tlc_error *error) TLC_CHECKED;
// Ends the wait of the worker so that it sees `stopping`.
void tlc_worker_wake(struct tlc_worker *worker);
void tlc_worker_close(struct tlc_worker *worker);

#endif
