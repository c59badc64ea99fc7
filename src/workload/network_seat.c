// Servers and generators that are driven for a slice: from readings to figures.
#include "workload/network_seat.h"

#include <string.h>

#include "measure/proc.h"
#include "workload/buckets.h"
#include "workload/network_trace.h"

enum { SETTLE_MS = 2000, EXTERNAL_SETTLE_MS = 200, LONGEST_MS = 600000 };

static uint64_t total_of(const json_t *counters, const char *what)
{
    return (uint64_t)json_integer_value(json_object_get(json_object_get(counters, "totals"), what));
}

// Handshakes begun in a second; 0: as the server follows.
static double pace_of(const struct tlc_seat *seat)
{
    const struct tlc_arm *arm = seat->state->arm;
    if (arm->offered > 0)
        return seat->closed ? 0 : arm->offered * seat->state->capacity;
    if (arm->pace)
        return arm->pace;
    return tlc_arm_is_unfinished(arm) ? TLC_MOST_PACE : 0;
}

// Connections that the bound on the rate leaves alone share their wake-ups as in a closed loop.
static int batch_of(const struct tlc_seat *seat)
{
    const struct tlc_arm *arm = seat->state->arm;
    return !arm->pace && tlc_arm_is_unfinished(arm) ? TLC_SEAT_BATCH : 0;
}

static enum tlc_status begin_load(struct tlc_seat *seat, uint64_t duration_us, uint64_t count,
                                  struct tlc_error *error)
{
    return tlc_arm_generator_tell(seat->generator,
                                  json_pack("{s:s, s:I, s:I, s:I, s:i, s:b, s:f, s:i}", "command",
                                            "slice", "id", seat->target, "duration_us",
                                            (json_int_t)duration_us, "count", (json_int_t)count,
                                            "concurrency", (int)seat->concurrency, "keep_latencies",
                                            1, "rate", pace_of(seat), "batch", batch_of(seat)),
                                  error);
}

static enum tlc_status end_load(struct tlc_seat *seat, uint64_t duration_us,
                                struct tlc_error *error)
{
    json_t *answer = NULL;
    // So many handshakes take as long as they take; each has a time-out of its own.
    int timeout_ms = duration_us ? (int)(duration_us / 1000) + TLC_ANSWER_MARGIN_MS : LONGEST_MS;
    enum tlc_status status = tlc_arm_generator_hear(seat->generator, timeout_ms, &answer, error);
    if (status == TLC_OK)
        status =
            tlc_counters_from_json(json_object_get(answer, "counters"), &seat->counters, error);
    json_decref(answer);
    return status;
}

void tlc_network_settle(const struct network_arm *state, struct instance *instance)
{
    if (state->external) {
        tlc_external_settle(instance->server.process.pid, EXTERNAL_SETTLE_MS);
        return;
    }
    json_t *counters = NULL;
    struct tlc_error why;
    if (tlc_arm_server_settle(&instance->server, instance->answered, SETTLE_MS, &counters, &why) !=
        TLC_OK) {
        instance->dead = true;
        return;
    }
    json_decref(instance->counters);
    instance->counters = counters;
}

static uint64_t error_of(const struct tlc_counters *counters, const char *kind)
{
    return (uint64_t)json_integer_value(json_object_get(counters->errors, kind));
}

void tlc_seat_slice(const struct tlc_arm *arm, const struct tlc_counters *counters, double cost_us,
                    double burnt_us, struct tlc_slice *slice)
{
    uint64_t given_up = 0;
    if (arm->offered > 0)
        given_up = error_of(counters, "timeout") + error_of(counters, "connect-timeout");
    *slice = (struct tlc_slice){
        .started = counters->started,
        .handshakes = tlc_arm_is_unfinished(arm) ? counters->stopped : counters->handshakes,
        .in_window = counters->in_window,
        .resumed = counters->resumed,
        .hello_retry_requests = counters->hello_retry_requests,
        .mismatches = counters->mismatches,
        .errors = tlc_counters_errors(counters) - given_up,
        .given_up = given_up,
        .window_s = counters->window_s,
        .span_s = counters->span_s,
        .cost_us = cost_us,
        .burnt_us = burnt_us,
        .client_us = counters->cpu_user_us + counters->cpu_system_us,
        .detail = tlc_counters_to_json(counters),
    };
}

// What of the server's counts the arm's clients bring about.
static const char *served_of(const struct tlc_arm *arm)
{
    return tlc_arm_is_unfinished(arm) ? "accepted" : "handshakes";
}

// Tells the server what it burns in each handshake of the slice that follows. Every slice begins
// with it, so that no server is met colder than another.
static enum tlc_status wake_seat(struct tlc_seat *seat, struct tlc_error *error)
{
    struct instance *instance = seat->instance;
    const struct tlc_arm *arm = seat->state->arm;
    struct tlc_error why;
    unsigned component = tlc_network_burn_component(arm);
    unsigned burn_us = component == TLC_NO_COMPONENT ? arm->burn_us : 0;
    if (!instance->dead && !seat->state->external &&
        tlc_arm_server_burn(&instance->server, burn_us, &why) != TLC_OK)
        instance->dead = true;
    if (instance->trace) {
        tlc_trace_burn(instance->trace, component, arm->burn_us);
        tlc_trace_mark(instance->trace);
    }
    if (instance->dead)
        return tlc_fail(error, TLC_REFUSED, "arm '%s': its server has ended", arm->name);
    seat->served = total_of(instance->counters, served_of(arm));
    seat->burnt_ns = total_of(instance->counters, "burnt_ns");
    seat->provider_work = tlc_arm_provider_work(instance->counters);
    seat->client_certificates = total_of(instance->counters, "client_certificates");
    return TLC_OK;
}

static enum tlc_status read_seat(struct tlc_workload *workload, const struct tlc_seat *seat,
                                 struct tlc_readings *readings, struct tlc_error *error)
{
    const struct tlc_observed observed = {
        .server = seat->instance->server.process.pid,
        .tree = seat->instance->tree,
        .apart = tlc_network_path(workload, seat->state->arm)->veth,
        .server_cpus = &workload->setup->server_cpus,
        .generator_cpus = &workload->setup->generator_cpus,
        .server_events = workload->server_events,
        .generator_events = workload->generator_events,
    };
    return tlc_take_readings(&observed, readings, error);
}

// All seats at once. One that was begun is waited for even when another one fails.
static enum tlc_status drive(struct tlc_seat *seats, size_t count, uint64_t duration_us,
                             uint64_t asked, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    size_t begun = 0;
    for (; status == TLC_OK && begun < count; begun++)
        status = begin_load(&seats[begun], duration_us, asked, error);
    if (status != TLC_OK)
        begun--;
    for (size_t i = 0; i < begun; i++) {
        struct tlc_error why;
        enum tlc_status ended = end_load(&seats[i], duration_us, &why);
        seats[i].instance->answered += seats[i].counters.started;
        if (status == TLC_OK && ended != TLC_OK) {
            *error = why;
            status = ended;
        }
    }
    return status;
}

static void charge_seat(struct tlc_seat *seat)
{
    struct instance *instance = seat->instance;
    instance->dead = instance->dead || seat->after.server_ns < seat->before.server_ns;
    seat->cost_us =
        instance->dead ? 0 : (double)(seat->after.server_ns - seat->before.server_ns) / 1000;
}

static void fill_seats(const struct tlc_workload *workload, struct tlc_seat *seats, size_t count,
                       struct tlc_slice *slices)
{
    double together_us = 0;
    for (size_t i = 0; i < count; i++) {
        charge_seat(&seats[i]);
        together_us += seats[i].cost_us;
    }
    for (size_t i = 0; i < count; i++) {
        struct tlc_seat *seat = &seats[i];
        struct network_arm *state = seat->state;
        const json_t *counters = seat->instance->counters;
        seat->counters.span_s *= tlc_cpu_share(seat->cost_us, together_us, state->arm->workers,
                                               (unsigned)CPU_COUNT(&workload->setup->server_cpus));
        tlc_sums_add(&state->sums, &seat->before, &seat->after, seat->cost_us, together_us,
                     seat->counters.span_s);
        state->server_handshakes += total_of(counters, served_of(state->arm)) - seat->served;
        state->client_certificates +=
            total_of(counters, "client_certificates") - seat->client_certificates;
        state->provider_work += tlc_arm_provider_work(counters) - seat->provider_work;
        uint64_t burnt_ns = total_of(counters, "burnt_ns") - seat->burnt_ns;
        if (seat->instance->trace && state->trace) {
            burnt_ns -= tlc_trace_burnt_ns(state->trace);
            tlc_trace_sums_add(state->trace, seat->instance->trace);
            burnt_ns += tlc_trace_burnt_ns(state->trace);
        }
        tlc_seat_slice(state->arm, &seat->counters, seat->cost_us, (double)burnt_ns / 1000,
                       &slices[i]);
        state->traced += slices[i].handshakes;
    }
}

static uint64_t run_time_ns(const struct instance *instance)
{
    return instance->tree ? tlc_tree_read_ns(instance->tree, NULL)
                          : tlc_tree_cpu_ns(instance->server.process.pid, NULL);
}

enum tlc_status tlc_seat_add_counters(struct tlc_counters *whole, const struct tlc_counters *more,
                                      struct tlc_error *error)
{
    double window_s = whole->window_s + more->window_s, span_s = whole->span_s + more->span_s;
    enum tlc_status status = tlc_counters_merge(whole, more, error);
    whole->window_s = window_s;
    whole->span_s = span_s;
    return status;
}

// One bucket of a slice: short enough to show how things change, drained at its end.
static enum tlc_status run_bucket(struct tlc_seat *seat, json_t *buckets, struct tlc_error *error)
{
    struct tlc_counters whole = seat->counters;
    seat->counters = (struct tlc_counters){0};
    uint64_t before_ns = run_time_ns(seat->instance);
    enum tlc_status status = drive(seat, 1, TLC_BUCKET_US, 0, error);
    if (status == TLC_OK) {
        tlc_network_settle(seat->state, seat->instance);
        uint64_t after_ns = run_time_ns(seat->instance);
        tlc_buckets_add(buckets, seat->counters.handshakes, seat->counters.resumed,
                        after_ns > before_ns ? (double)(after_ns - before_ns) / 1000 : 0);
        status = tlc_seat_add_counters(&whole, &seat->counters, error);
    }
    tlc_counters_free(&seat->counters);
    seat->counters = whole;
    return status;
}

// A slice cut into buckets, the arm's event at its half.
static enum tlc_status drive_buckets(struct tlc_seat *seat, uint64_t duration_us, json_t **buckets,
                                     struct tlc_error *error)
{
    const char *event = seat->state->arm->event;
    uint64_t count = duration_us / TLC_BUCKET_US;
    enum tlc_status status = TLC_OK;
    *buckets = tlc_buckets_new(event, (unsigned)(count / 2));
    for (uint64_t i = 0; i < count && status == TLC_OK && !seat->instance->dead; i++) {
        if (i == count / 2)
            status = tlc_arm_server_event(&seat->instance->server, event, error);
        if (status == TLC_OK)
            status = run_bucket(seat, *buckets, error);
    }
    return status;
}

static bool has_buckets(const struct tlc_seat *seat, uint64_t duration_us)
{
    return strcmp(seat->state->arm->event, "none") != 0 && duration_us >= TLC_EVENT_SLICE_US;
}

enum tlc_status tlc_seats_run(struct tlc_workload *workload, struct tlc_seat *seats, size_t count,
                              uint64_t duration_us, uint64_t asked, json_t **buckets,
                              struct tlc_slice *slices, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        status = wake_seat(&seats[i], error);
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        status = read_seat(workload, &seats[i], &seats[i].before, error);
    if (status == TLC_OK)
        status = buckets && has_buckets(seats, duration_us)
                     ? drive_buckets(seats, duration_us, buckets, error)
                     : drive(seats, count, duration_us, asked, error);
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        tlc_network_settle(seats[i].state, seats[i].instance);
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        status = read_seat(workload, &seats[i], &seats[i].after, error);
    if (status == TLC_OK)
        fill_seats(workload, seats, count, slices);
    for (size_t i = 0; i < count; i++)
        tlc_counters_free(&seats[i].counters);
    return status;
}

struct tlc_seat tlc_seat_of(struct tlc_workload *workload, size_t arm, bool other, size_t load,
                            unsigned concurrency)
{
    struct network_arm *state = &workload->arms[arm];
    return (struct tlc_seat){.state = state,
                             .instance = other ? state->other : state->instance,
                             .generator = &tlc_network_path(workload, state->arm)->generators[load],
                             .target = tlc_network_target(workload, arm, other),
                             .concurrency = concurrency};
}
