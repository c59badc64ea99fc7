// The network workload: a server process for each arm and one generator process, over loopback.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "evidence/probe.h"
#include "generator/generator.h"
#include "stacks/loader.h"
#include "workload/kinds.h"
#include "workload/network_accounting.h"
#include "workload/network_instance.h"
#include "workload/network_load.h"
#include "workload/network_target.h"

enum { SEATS = 2 };

struct network_arm {
    const struct tlc_arm *arm;
    const struct tlc_stack_plugin *plugin;
    char certificates[512]; // folder
    struct tlc_instance own, *instance;
    struct tlc_instance
        *other; // where its slices of a duet run in every second round; NULL: nowhere
    struct tlc_sums sums;
    uint64_t server_handshakes; // the server's own count over the arm's slices
    bool prepared;
};

struct tlc_workload {
    const struct tlc_workload_setup *setup;
    struct tlc_load loads[SEATS]; // the second one only where plans have duets
    struct network_arm *arms;
    size_t arm_count;
};

// One arm in a slice: on which server, driven by which generator.
struct seat {
    struct network_arm *state;
    struct tlc_instance *instance;
    struct tlc_load *load;
    json_int_t target;
    unsigned concurrency;
    uint64_t run_ns, served, burnt_ns; // of the server, before the slice
    double cost_us;
    struct tlc_counters counters;
};

// Makes the certificates of all arms before anything is measured.
static enum tlc_status make_certificates(struct tlc_workload *workload, struct tlc_error *error)
{
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if (!tlc_is_of_kind(workload->setup, i, &tlc_workload_network))
            continue;
        snprintf(state->certificates, sizeof state->certificates, "%s/certs-%u",
                 workload->setup->certificate_directory, state->arm->intermediates);
        struct tlc_certs_options options = {.directory = state->certificates,
                                            .intermediates = state->arm->intermediates};
        enum tlc_status status = tlc_certs_make(&options, NULL, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static enum tlc_status start_generators(struct tlc_workload *workload, struct tlc_error *error)
{
    const struct tlc_workload_setup *setup = workload->setup;
    unsigned seats = setup->plan->schedule.duet ? SEATS : 1;
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; status == TLC_OK && i < seats; i++)
        status = tlc_load_start(&setup->generator_cpus, setup->work_directory, i,
                                &workload->loads[i], error);
    return status;
}

static void network_close(struct tlc_workload *workload);

// Arms that share the baseline's server change places with it in a duet: the baseline's server and
// the control's take turns, so that the luck of neither is in the difference.
static void seat_arm(struct tlc_workload *workload, size_t index)
{
    const struct tlc_plan *plan = workload->setup->plan;
    struct network_arm *state = &workload->arms[index];
    struct tlc_instance *baseline = &workload->arms[0].own;
    bool shares = strcmp(plan->arms[index].instance, "baseline") == 0;
    state->arm = &plan->arms[index];
    state->own.arm = state->arm;
    state->own.index = index;
    state->own.server.process.control = -1;
    state->instance = shares ? baseline : &state->own;
    if (!plan->schedule.duet || plan->control < 0)
        return;
    struct tlc_instance *control = &workload->arms[plan->control].own;
    if (shares)
        *state = (struct network_arm){
            .arm = state->arm, .own = state->own, .instance = control, .other = baseline};
    else if (index == 0)
        state->other = control;
}

static enum tlc_status network_open(const struct tlc_workload_setup *setup,
                                    struct tlc_workload **opened, struct tlc_error *error)
{
    struct tlc_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return tlc_fail(error, TLC_ENVIRONMENT, "network workload: out of memory");
    workload->setup = setup;
    for (unsigned i = 0; i < SEATS; i++)
        workload->loads[i].process.control = -1;
    workload->arm_count = setup->plan->arm_count;
    workload->arms = calloc(workload->arm_count, sizeof *workload->arms);
    enum tlc_status status =
        workload->arms ? TLC_OK
                       : tlc_fail(error, TLC_ENVIRONMENT, "network workload: out of memory");
    for (size_t i = 0; status == TLC_OK && i < workload->arm_count; i++) {
        seat_arm(workload, i);
        if (tlc_is_of_kind(setup, i, &tlc_workload_network))
            status = tlc_stack_load(setup->plan->arms[i].stack, &workload->arms[i].plugin, error);
    }
    if (status == TLC_OK)
        status = make_certificates(workload, error);
    if (status == TLC_OK)
        status = start_generators(workload, error);
    if (status != TLC_OK) {
        network_close(workload);
        return status;
    }
    *opened = workload;
    return TLC_OK;
}

// The number of an arm's target on its home server, or on its other one.
static json_int_t target_id(const struct tlc_workload *workload, size_t arm, bool other)
{
    return (json_int_t)(arm + (other ? workload->arm_count : 0));
}

// Tells every generator of the arm on one of its servers.
static enum tlc_status prepare_target(struct tlc_workload *workload, size_t index, bool other,
                                      const json_t *evidence, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[index];
    const struct tlc_instance *instance = other ? state->other : state->instance;
    struct tlc_target_options target;
    const char *alpn[2];
    enum tlc_status status = tlc_arm_target(state->arm, state->plugin, instance->server.address,
                                            evidence, alpn, &target, error);
    for (unsigned i = 0; status == TLC_OK && i < SEATS && workload->loads[i].process.pid > 0; i++)
        status = tlc_load_prepare(&workload->loads[i], target_id(workload, index, other), &target,
                                  error);
    return status;
}

static enum tlc_status probe_arm(struct network_arm *state, json_t **evidence,
                                 struct tlc_error *error)
{
    struct tlc_certs_pair pair = {0};
    uint16_t groups[TLC_ARM_GROUPS], cipher;
    size_t group_count;
    enum tlc_status status = tlc_arm_codes(state->arm, groups, &group_count, &cipher, error);
    if (status == TLC_OK)
        status = tlc_certs_read(state->certificates, state->arm->certificate, &pair, error);
    if (status != TLC_OK)
        return status;
    const char *alpn[] = {state->arm->alpn, NULL};
    struct tlc_probe_options options = {
        .address = state->instance->server.address,
        .plugin = state->plugin,
        .min_version = tlc_code(TLC_NAME_VERSION, state->arm->version),
        .max_version = tlc_code(TLC_NAME_VERSION, state->arm->version),
        .groups = groups,
        .group_count = group_count,
        .ciphers = &cipher,
        .cipher_count = cipher ? 1 : 0,
        .server_name = "localhost",
        .alpn = state->arm->alpn ? alpn : NULL,
        .trust_pem = pair.ca_pem,
        .tickets_awaited = state->arm->tickets > 0 ? (unsigned)state->arm->tickets : 0,
    };
    status = tlc_probe(&options, evidence, error);
    tlc_certs_pair_free(&pair);
    return status;
}

static uint64_t errors_of(const json_t *errors)
{
    uint64_t sum = 0;
    const char *kind;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)errors, kind, count) sum +=
        (uint64_t)json_integer_value(count);
    return sum;
}

static void fill_slice(const struct tlc_counters *counters, double cost_us, double burnt_us,
                       struct tlc_slice *slice)
{
    *slice = (struct tlc_slice){
        .started = counters->started,
        .handshakes = counters->handshakes,
        .in_window = counters->in_window,
        .resumed = counters->resumed,
        .hello_retry_requests = counters->hello_retry_requests,
        .mismatches = counters->mismatches,
        .errors = errors_of(counters->errors),
        .window_s = counters->window_s,
        .span_s = counters->span_s,
        .cost_us = cost_us,
        .burnt_us = burnt_us,
        .client_us = counters->cpu_user_us + counters->cpu_system_us,
        .detail = tlc_counters_to_json(counters),
    };
}

static enum tlc_status wake_seat(struct seat *seat, struct tlc_error *error)
{
    const struct tlc_arm *arm = seat->state->arm;
    enum tlc_status status = tlc_instance_wake(seat->instance, arm->burn_us, error);
    if (status != TLC_OK)
        tlc_fail_prefix(error, "arm '%s'", arm->name);
    return status;
}

static void begin_seat(struct seat *seat)
{
    seat->served = tlc_instance_count(seat->instance, "handshakes");
    seat->burnt_ns = tlc_instance_count(seat->instance, "burnt_ns");
    seat->run_ns = tlc_tree_read_ns(seat->instance->tree, NULL);
}

// All seats at once. One that was begun is waited for even when another one fails.
static enum tlc_status drive(struct seat *seats, size_t count, uint64_t duration_us, uint64_t asked,
                             struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    size_t begun = 0;
    for (; status == TLC_OK && begun < count; begun++)
        status = tlc_load_begin(seats[begun].load, seats[begun].target, duration_us, asked,
                                seats[begun].concurrency, error);
    if (status != TLC_OK)
        begun--;
    for (size_t i = 0; i < begun; i++) {
        struct tlc_error why;
        enum tlc_status ended = tlc_load_end(seats[i].load, duration_us, &seats[i].counters, &why);
        seats[i].instance->answered += seats[i].counters.started;
        if (status == TLC_OK && ended != TLC_OK) {
            *error = why;
            status = ended;
        }
    }
    return status;
}

static void end_seat(struct seat *seat)
{
    tlc_instance_settle(seat->instance);
    uint64_t run_ns = tlc_tree_read_ns(seat->instance->tree, NULL);
    seat->cost_us = seat->instance->dead ? 0 : (double)(run_ns - seat->run_ns) / 1000;
}

static void fill_seats(const struct tlc_workload *workload, struct seat *seats, size_t count,
                       const struct tlc_readings *before, const struct tlc_readings *after,
                       struct tlc_slice *slices)
{
    double together_us = 0;
    for (size_t i = 0; i < count; i++)
        together_us += seats[i].cost_us;
    for (size_t i = 0; i < count; i++) {
        struct seat *seat = &seats[i];
        struct network_arm *state = seat->state;
        const struct tlc_instance *instance = seat->instance;
        double share = tlc_cpu_share(seat->cost_us, together_us, state->arm->workers,
                                     (unsigned)CPU_COUNT(&workload->setup->server_cpus));
        seat->counters.span_s *= share;
        tlc_sums_add(&state->sums, before, after, seat->cost_us, together_us,
                     seat->counters.span_s);
        state->server_handshakes += tlc_instance_count(instance, "handshakes") - seat->served;
        fill_slice(&seat->counters, seat->cost_us,
                   (double)(tlc_instance_count(instance, "burnt_ns") - seat->burnt_ns) / 1000,
                   &slices[i]);
    }
}

// One slice of one arm, or of two at once.
static enum tlc_status run_seats(struct tlc_workload *workload, struct seat *seats, size_t count,
                                 uint64_t duration_us, uint64_t asked, struct tlc_slice *slices,
                                 struct tlc_error *error)
{
    const struct tlc_workload_setup *setup = workload->setup;
    struct tlc_readings before, after;
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        status = wake_seat(&seats[i], error);
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        begin_seat(&seats[i]);
    if (status == TLC_OK)
        status = tlc_take_readings(&setup->server_cpus, &setup->generator_cpus, &before, error);
    if (status == TLC_OK)
        status = drive(seats, count, duration_us, asked, error);
    if (status == TLC_OK) {
        for (size_t i = 0; i < count; i++)
            end_seat(&seats[i]);
        status = tlc_take_readings(&setup->server_cpus, &setup->generator_cpus, &after, error);
    }
    if (status == TLC_OK)
        fill_seats(workload, seats, count, &before, &after, slices);
    for (size_t i = 0; i < count; i++)
        tlc_counters_free(&seats[i].counters);
    return status;
}

static struct seat seat_of(struct tlc_workload *workload, size_t arm, bool other, size_t load,
                           unsigned concurrency)
{
    struct network_arm *state = &workload->arms[arm];
    return (struct seat){.state = state,
                         .instance = other ? state->other : state->instance,
                         .load = &workload->loads[load],
                         .target = target_id(workload, arm, other),
                         .concurrency = concurrency};
}

static enum tlc_status network_slice(struct tlc_workload *workload, size_t arm,
                                     uint64_t duration_us, uint64_t count, unsigned concurrency,
                                     struct tlc_slice *slice, struct tlc_error *error)
{
    struct seat seat = seat_of(workload, arm, false, 0, concurrency);
    return run_seats(workload, &seat, 1, duration_us, count, slice, error);
}

static enum tlc_status network_duet(struct tlc_workload *workload, const struct tlc_duet *duet,
                                    struct tlc_slice slices[2], struct tlc_error *error)
{
    struct seat seats[SEATS];
    struct tlc_slice found[SEATS];
    bool crossed = duet->turn % 2 && workload->arms[duet->arms[0]].other &&
                   workload->arms[duet->arms[1]].other;
    // Which is begun first, and by which generator, takes turns as well: the first one runs alone
    // for a moment, and the last one after it.
    size_t first = duet->turn / 2 % SEATS, load = duet->turn / 4 % SEATS;
    for (size_t i = 0; i < SEATS; i++) {
        size_t which = (i + first) % SEATS;
        seats[i] = seat_of(workload, duet->arms[which], crossed, (which + load) % SEATS,
                           duet->concurrency[which]);
    }
    if (seats[0].instance == seats[1].instance)
        return tlc_fail(error, TLC_USAGE,
                        "arms '%s' and '%s': a duet needs two servers, and both are measured on "
                        "one; add control: true to the plan, or write duet: false",
                        seats[0].state->arm->name, seats[1].state->arm->name);
    enum tlc_status status =
        run_seats(workload, seats, SEATS, duet->duration_us, duet->count, found, error);
    for (size_t i = 0; status == TLC_OK && i < SEATS; i++)
        slices[(i + first) % SEATS] = found[i];
    return status;
}

// A short unmeasured slice, which no sum keeps.
static enum tlc_status warm_up(struct tlc_workload *workload, size_t arm, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct tlc_slice slice = {0};
    enum tlc_status status =
        network_slice(workload, arm, workload->setup->plan->schedule.warm_up_us, 0,
                      state->arm->concurrency, &slice, error);
    tlc_slice_clear(&slice);
    state->sums = (struct tlc_sums){0};
    state->server_handshakes = 0;
    return status;
}

static void network_release(struct tlc_workload *workload, size_t arm)
{
    struct network_arm *state = &workload->arms[arm];
    if (!state->prepared)
        return;
    state->prepared = false;
    for (unsigned i = 0; i < SEATS && state->instance->server.address[0]; i++) {
        tlc_load_release(&workload->loads[i], target_id(workload, arm, false));
        if (state->other)
            tlc_load_release(&workload->loads[i], target_id(workload, arm, true));
    }
    tlc_instance_leave(state->instance);
    tlc_instance_leave(state->other);
}

static enum tlc_status join(struct tlc_workload *workload, struct tlc_instance *instance,
                            struct tlc_error *error)
{
    return tlc_instance_join(instance, workload->arms[instance->index].certificates,
                             &workload->setup->server_cpus, workload->setup->work_directory, error);
}

static enum tlc_status join_instances(struct tlc_workload *workload, struct network_arm *state,
                                      struct tlc_error *error)
{
    state->prepared = true;
    enum tlc_status status = join(workload, state->instance, error);
    if (!state->other)
        return status;
    if (status == TLC_OK)
        return join(workload, state->other, error);
    state->other->users++; // which leaving it takes back
    return status;
}

static enum tlc_status network_prepare(struct tlc_workload *workload, size_t arm, json_t **evidence,
                                       struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    state->sums = (struct tlc_sums){0};
    *evidence = NULL;
    enum tlc_status status = join_instances(workload, state, error);
    bool started = status == TLC_OK;
    if (status == TLC_OK)
        status = probe_arm(state, evidence, error);
    if (status == TLC_OK) {
        state->instance->answered++; // the probe's own handshake
        tlc_instance_settle(state->instance);
        status = prepare_target(workload, arm, false, *evidence, error);
    }
    if (status == TLC_OK && state->other)
        status = prepare_target(workload, arm, true, *evidence, error);
    if (status == TLC_OK)
        status = warm_up(workload, arm, error);
    // A server that runs and cannot be measured costs its sample; one that cannot start, the run.
    if (status != TLC_OK && started)
        status = error->status = TLC_REFUSED;
    if (status != TLC_OK) {
        tlc_fail_prefix(error, "arm '%s'", state->arm->name);
        json_decref(*evidence);
        *evidence = NULL;
        network_release(workload, arm);
    }
    return status;
}

static enum tlc_status network_stay(struct tlc_workload *workload, size_t arm,
                                    struct tlc_stay *stay, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct tlc_instance *instance = state->instance;
    (void)error;
    if (!instance->dead && !tlc_process_alive(&instance->server.process, NULL))
        instance->dead = true;
    tlc_sums_stay(&state->sums, state->arm->workers, stay);
    stay->server_handshakes = state->server_handshakes;
    stay->server_counts = true;
    stay->server_alive = !instance->dead;
    json_object_set(stay->detail, "server_counters", instance->counters);
    json_object_set_new(
        stay->detail, "memory_bytes",
        json_integer((json_int_t)tlc_tree_memory_bytes(instance->server.process.pid)));
    return TLC_OK;
}

static void network_close(struct tlc_workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        network_release(workload, i);
    for (unsigned i = 0; i < SEATS; i++)
        tlc_load_stop(&workload->loads[i]);
    free(workload->arms);
    free(workload);
}

const struct tlc_workload_kind tlc_workload_network = {
    .name = "network",
    .concurrent = true,
    .check = tlc_network_check,
    .open = network_open,
    .prepare = network_prepare,
    .slice = network_slice,
    .duet = network_duet,
    .stay = network_stay,
    .release = network_release,
    .close = network_close,
};
