// One event loop's share of a target: its connections, tickets, pace and counts. Lanes share
// nothing while a slice runs, so a target may have one a thread.
#ifndef TLC_GENERATOR_LANE_H
#define TLC_GENERATOR_LANE_H

#include "generator/address.h"
#include "generator/connection.h"
#include "generator/loop.h"
#include "generator/pacer.h"

// What lanes read of their target.
struct tlc_lane_options {
    const struct tlc_target_options *target;
    const struct tlc_target_address *address;
    const uint8_t *echo;
    unsigned index, lanes;
};

struct tlc_lane {
    struct tlc_lane_options options;
    const struct tlc_loop_kind *kind;
    struct tlc_loop *loop;
    struct tlc_engine_context *context;
    struct tlc_load_connection **connections; // the first `concurrency` take part in the slice
    unsigned *idle; // stack of indices of connections that wait for a start
    unsigned capacity, concurrency, idle_count;
    unsigned batch;
    uint64_t batch_wait_ns;
    struct tlc_life life;
    struct tlc_pacer pacer;
    struct tlc_tally tally;
    uint64_t next_expiry_ns;
    bool hasty, interrupted; // interrupted: open connections have got their last deadline
};

enum tlc_status tlc_lane_new(const struct tlc_lane_options *options, struct tlc_lane **lane,
                             struct tlc_error *error) TLC_CHECKED;
void tlc_lane_free(struct tlc_lane *lane);
// Makes connections and sockets ready: what must not be paid inside the slice.
enum tlc_status tlc_lane_prepare(struct tlc_lane *lane, const struct tlc_slice_options *slice,
                                 struct tlc_error *error) TLC_CHECKED;
// Runs the slice to its end in the calling thread.
enum tlc_status tlc_lane_run(struct tlc_lane *lane, const struct tlc_slice_options *slice,
                             struct tlc_counters *counters, struct tlc_error *error) TLC_CHECKED;

// For loops. The next idle connection when a start is due, begun; NULL otherwise.
struct tlc_load_connection *tlc_lane_start(struct tlc_lane *lane, uint64_t now_ns, unsigned *index,
                                           enum tlc_ask *ask);
// The same for one connection that is idle but not on the idle stack: whether a start was due.
bool tlc_lane_restart(struct tlc_lane *lane, unsigned index, uint64_t now_ns, enum tlc_ask *ask);
// Puts a connection on the idle stack.
void tlc_lane_idle(struct tlc_lane *lane, unsigned index);
// The connection's socket was ended: counts it and puts it on the idle stack.
void tlc_lane_closed(struct tlc_lane *lane, unsigned index);
bool tlc_lane_over(const struct tlc_lane *lane, uint64_t now_ns);
// How long a loop may sleep before it has to look again.
uint64_t tlc_lane_sleep_ns(const struct tlc_lane *lane, uint64_t now_ns);
// Whether it is time to look for connections past their deadline (sets the next time).
bool tlc_lane_expiry_due(struct tlc_lane *lane, uint64_t now_ns);
// Stops the pace when the process was interrupted, and lets open connections be given up soon.
void tlc_lane_heed_interrupt(struct tlc_lane *lane);
static inline unsigned tlc_lane_open(const struct tlc_lane *lane)
{
    return lane->concurrency - lane->idle_count;
}

#endif
