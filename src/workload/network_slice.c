// Slices of the network workload: one arm, or two at once, sampled or not.
#include <string.h>

#include "workload/network_seat.h"
#include "workload/network_trace.h"

enum { CAPACITY_US = 300000 };

static enum tlc_status plain_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                   uint64_t count, unsigned concurrency, struct tlc_slice *slice,
                                   struct tlc_error *error)
{
    struct tlc_seat seat = tlc_seat_of(workload, arm, false, 0, concurrency);
    json_t *buckets = NULL;
    enum tlc_status status =
        tlc_seats_run(workload, &seat, 1, duration_us, count, &buckets, slice, error);
    if (status == TLC_OK)
        slice->buckets = buckets;
    else
        json_decref(buckets);
    return status;
}

// Counts what followed as part of one slice.
static enum tlc_status add_part(const struct tlc_arm *arm, struct tlc_slice *slice,
                                const struct tlc_slice *more, struct tlc_error *error)
{
    struct tlc_counters counters = {0}, other = {0};
    enum tlc_status status = tlc_counters_from_json(slice->detail, &counters, error);
    if (status == TLC_OK)
        status = tlc_counters_from_json(more->detail, &other, error);
    if (status == TLC_OK)
        status = tlc_seat_add_counters(&counters, &other, error);
    if (status == TLC_OK) {
        json_decref(slice->detail);
        double cost_us = slice->cost_us + more->cost_us;
        tlc_seat_slice(arm, &counters, cost_us, slice->burnt_us + more->burnt_us, slice);
    }
    tlc_counters_free(&other);
    tlc_counters_free(&counters);
    return status;
}

// One server serves both in turns, one of them before and after the other, so that a drift meets
// both alike.
static enum tlc_status run_turns(struct tlc_workload *workload, const struct tlc_duet *duet,
                                 struct tlc_slice slices[2], struct tlc_error *error)
{
    enum { PARTS = 3, CHARGED_US = 4000 };
    bool crossed = duet->turn % 2;     // on the control's server
    size_t outer = duet->turn / 2 % 2; // this one comes before and after the other
    const size_t order[PARTS] = {outer, !outer, outer};
    struct tlc_slice last = {0};
    double charge = 0;
    struct instance *server = tlc_seat_of(workload, duet->arms[0], crossed, 0, 1).instance;
    enum tlc_status status = tlc_arm_server_charge(&server->server, CHARGED_US, &charge, error);
    for (size_t part = 0; status == TLC_OK && part < PARTS; part++) {
        size_t which = order[part], share = which == outer ? 2 : 1;
        struct tlc_seat seat = tlc_seat_of(workload, duet->arms[which], which ? !crossed : crossed,
                                           0, duet->concurrency[which]);
        status = tlc_seats_run(workload, &seat, 1, duet->duration_us / share, duet->count / share,
                               NULL, part == PARTS - 1 ? &last : &slices[which], error);
    }
    if (status == TLC_OK)
        status = add_part(workload->arms[duet->arms[outer]].arm, &slices[outer], &last, error);
    tlc_slice_clear(&last);
    for (size_t i = 0; status == TLC_OK && i < 2; i++)
        slices[i].burnt_charge = slices[i].burnt_us > 0 ? charge : 0;
    return status;
}

// A slice in which the server is sampled. It has no part in the arm's sums: samples cost time.
static enum tlc_status sampled_slice(struct tlc_workload *workload, size_t arm,
                                     uint64_t duration_us, uint64_t count, unsigned concurrency,
                                     struct tlc_slice *slice, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    const struct network_arm before = *state;
    struct tlc_slice found = {0};
    enum tlc_status status = tlc_sampler_enable(state->sampling.sampler, true, error);
    if (status != TLC_OK)
        return status;
    status = plain_slice(workload, arm, duration_us, count, concurrency, &found, error);
    struct tlc_error why;
    enum tlc_status silenced = tlc_sampler_enable(state->sampling.sampler, false, &why);
    state->sums = before.sums;
    state->server_handshakes = before.server_handshakes;
    state->client_certificates = before.client_certificates;
    state->provider_work = before.provider_work;
    if (status == TLC_OK && silenced != TLC_OK) {
        *error = why;
        status = silenced;
    }
    if (status == TLC_OK) {
        state->sampling.handshakes += found.handshakes;
        state->sampling.cost_us += found.cost_us;
        slice->sampled_handshakes = found.handshakes;
        slice->sampled_us = found.cost_us;
        slice->sampled_faults = found.errors + found.mismatches;
    }
    tlc_slice_clear(&found);
    return status;
}

// Of an attributed arm two slices, one of them sampled; which comes first takes turns.
enum tlc_status tlc_network_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                  uint64_t count, unsigned concurrency, struct tlc_slice *slice,
                                  struct tlc_error *error)
{
    struct tlc_sampling *sampling = &workload->arms[arm].sampling;
    struct tlc_slice sampled = {0};
    bool first = sampling->sampler && sampling->turn++ % 2;
    enum tlc_status status = TLC_OK;
    if (first)
        status = sampled_slice(workload, arm, duration_us, count, concurrency, &sampled, error);
    if (status == TLC_OK)
        status = plain_slice(workload, arm, duration_us, count, concurrency, slice, error);
    if (status == TLC_OK && sampling->sampler && !first)
        status = sampled_slice(workload, arm, duration_us, count, concurrency, &sampled, error);
    if (status != TLC_OK)
        return status;
    slice->sampled_handshakes = sampled.sampled_handshakes;
    slice->sampled_us = sampled.sampled_us;
    slice->errors += sampled.sampled_faults;
    return TLC_OK;
}

enum tlc_status tlc_network_duet(struct tlc_workload *workload, const struct tlc_duet *duet,
                                 struct tlc_slice slices[2], struct tlc_error *error)
{
    struct tlc_seat seats[SEATS];
    struct tlc_slice found[SEATS];
    if (tlc_plan_takes_turns(workload->setup->plan, duet->arms[1]))
        return run_turns(workload, duet, slices, error);
    bool crossed = duet->turn % 2 && workload->arms[duet->arms[0]].other &&
                   workload->arms[duet->arms[1]].other;
    // Which is begun first, and by which generator, takes turns as well: the first one runs alone
    // for a moment, and the last one after it.
    size_t first = duet->turn / 2 % SEATS, load = duet->turn / 4 % SEATS;
    for (size_t i = 0; i < SEATS; i++) {
        size_t which = (i + first) % SEATS;
        seats[i] = tlc_seat_of(workload, duet->arms[which], crossed, (which + load) % SEATS,
                               duet->concurrency[which]);
    }
    if (seats[0].instance == seats[1].instance)
        return tlc_fail(error, TLC_USAGE,
                        "arms '%s' and '%s': a duet needs two servers, and both are measured on "
                        "one; add control: true to the plan, or write duet: false",
                        seats[0].state->arm->name, seats[1].state->arm->name);
    enum tlc_status status =
        tlc_seats_run(workload, seats, SEATS, duet->duration_us, duet->count, NULL, found, error);
    for (size_t i = 0; status == TLC_OK && i < SEATS; i++)
        slices[(i + first) % SEATS] = found[i];
    return status;
}

// What the warm server can do, by the very load that is then offered in shares of it.
static enum tlc_status find_capacity(struct tlc_workload *workload, struct tlc_seat *seat,
                                     struct tlc_error *error)
{
    struct tlc_slice slice = {0};
    enum tlc_status status = tlc_seats_run(workload, seat, 1, CAPACITY_US, 0, NULL, &slice, error);
    seat->state->capacity = slice.span_s > 0 ? (double)slice.handshakes / slice.span_s : 0;
    if (status == TLC_OK && seat->state->capacity <= 0)
        status = tlc_fail(error, TLC_REFUSED, "capacity: no handshake was completed");
    tlc_slice_clear(&slice);
    return status;
}

enum tlc_status tlc_network_warm_up(struct tlc_workload *workload, size_t arm,
                                    struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct tlc_slice slice = {0};
    uint64_t duration_us = state->arm->warm_up_us ? state->arm->warm_up_us
                                                  : workload->setup->plan->schedule.warm_up_us;
    enum tlc_status status = TLC_OK;
    // However slow the machine is, every client has been here once.
    struct tlc_seat seat = tlc_seat_of(workload, arm, false, 0, state->arm->concurrency);
    if (state->arm->visitors)
        status = tlc_seats_run(workload, &seat, 1, 0, state->arm->visitors, NULL, &slice, error);
    tlc_slice_clear(&slice);
    seat = tlc_seat_of(workload, arm, false, 0, state->arm->concurrency);
    if (state->arm->offered > 0) { // too many at once would measure the queues
        seat.closed = true;
        seat.concurrency = seat.concurrency < TLC_SEAT_BATCH ? seat.concurrency : TLC_SEAT_BATCH;
    }
    if (status == TLC_OK && duration_us)
        status = tlc_seats_run(workload, &seat, 1, duration_us, 0, NULL, &slice, error);
    tlc_slice_clear(&slice);
    if (status == TLC_OK && state->arm->offered > 0)
        status = find_capacity(workload, &seat, error);
    state->sums = (struct tlc_sums){0};
    if (state->trace)
        tlc_trace_sums_clear(state->trace);
    state->traced = 0;
    state->server_handshakes = state->client_certificates = state->provider_work = 0;
    return status;
}
