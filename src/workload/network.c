// The network workload: a server process for each arm and one generator process, over loopback.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/names.h"
#include "base/process.h"
#include "certs/certs.h"
#include "evidence/checks.h"
#include "evidence/probe.h"
#include "generator/generator.h"
#include "measure/cpu_events.h"
#include "measure/proc.h"
#include "stacks/loader.h"
#include "workload/arm_support.h"
#include "workload/buckets.h"
#include "workload/external.h"
#include "workload/kinds.h"
#include "workload/network_accounting.h"
#include "workload/network_allocations.h"
#include "workload/network_generator.h"
#include "workload/network_server.h"
#include "workload/network_target.h"
#include "workload/network_veth.h"

enum { SETTLE_MS = 2000, EXTERNAL_SETTLE_MS = 200 };
enum network { LOOPBACK, VETH, VETH_UNSTEERED, NETWORKS };

// What lies between server and client; there when an arm needs it.
struct path {
    struct tlc_veth *veth; // NULL: loopback
    struct tlc_arm_generator generator;
};

// A server process and what is known of it: one for each arm, or the baseline's for several.
struct instance {
    const struct tlc_arm *arm; // whose configuration it serves
    struct tlc_arm_server server;
    unsigned users;    // arms prepared on it
    unsigned burn_us;  // what it burns now
    uint64_t answered; // connections it was asked to finish since its start
    json_t *counters;  // as it told them last
    json_t *command;   // of a server that is not ours, as it was run
    bool dead;
};

struct network_arm {
    const struct tlc_arm *arm;
    const struct tlc_stack_plugin *plugin;
    char certificates[512]; // folder
    struct instance own, *instance;
    struct tlc_external *external;    // a server that is not ours; NULL: `tlscost serve`
    struct tlc_external own_external; // unless another arm has opened the same one
    struct tlc_sums sums;
    uint64_t server_handshakes; // the server's own count over the arm's slices
    uint64_t provider_work;     // and that of its crypto provider
    json_t *allocations;        // of a handshake, counted once; NULL: not asked for
    bool prepared;
};

struct tlc_workload {
    const struct tlc_workload_setup *setup;
    struct path paths[NETWORKS];
    struct tlc_cpu_events *server_events, *generator_events; // NULL: not permitted
    struct network_arm *arms;
    size_t arm_count;
};

// Makes the certificates of all arms before anything is measured.
static enum tlc_status make_certificates(struct tlc_workload *workload, struct tlc_error *error)
{
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if (!tlc_is_of_kind(workload->setup, i, &tlc_workload_network))
            continue;
        enum tlc_status status =
            tlc_arm_certificates(state->arm, workload->setup->certificate_directory,
                                 state->certificates, sizeof state->certificates, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static enum network network_of(const struct tlc_arm *arm)
{
    return !strcmp(arm->network, "veth")             ? VETH
           : !strcmp(arm->network, "veth-unsteered") ? VETH_UNSTEERED
                                                     : LOOPBACK;
}

static struct path *path_of(struct tlc_workload *workload, const struct network_arm *state)
{
    return &workload->paths[network_of(state->arm)];
}

static enum tlc_status open_path(struct tlc_workload *workload, enum network network,
                                 struct tlc_error *error)
{
    const struct tlc_workload_setup *setup = workload->setup;
    struct path *path = &workload->paths[network];
    enum tlc_status status = TLC_OK;
    if (network == VETH)
        status = tlc_veth_open(&setup->server_cpus, &setup->generator_cpus, &path->veth, error);
    else if (network == VETH_UNSTEERED)
        status = tlc_veth_open(NULL, NULL, &path->veth, error);
    if (status != TLC_OK)
        return status;
    char log[600];
    snprintf(log, sizeof log, "%.500s/generator-%d.log", setup->work_directory, (int)network);
    return tlc_arm_generator_start(&setup->generator_cpus,
                                   path->veth ? path->veth->namespaces[TLC_VETH_OF_CLIENT] : NULL,
                                   log, &path->generator, error);
}

// A network, with a generator in it, for each kind that an arm asks for.
static enum tlc_status open_paths(struct tlc_workload *workload, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < workload->arm_count; i++) {
        enum network network = network_of(workload->arms[i].arm);
        if (tlc_is_of_kind(workload->setup, i, &tlc_workload_network) &&
            workload->paths[network].generator.process.pid <= 0)
            status = open_path(workload, network, error);
    }
    return status;
}

// Fetches and builds what is not ours, before anything is measured and once for all arms.
static enum tlc_status open_externals(struct tlc_workload *workload, struct tlc_error *error)
{
    char log[600];
    snprintf(log, sizeof log, "%s/build.log", workload->setup->work_directory);
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if (!state->plugin || !state->arm->server)
            continue;
        for (size_t k = 0; k < i && !state->external; k++)
            if (workload->arms[k].external &&
                !strcmp(workload->arms[k].arm->server, state->arm->server))
                state->external = workload->arms[k].external;
        if (state->external)
            continue;
        enum tlc_status status = tlc_external_open(state->arm, log, &state->own_external, error);
        if (status != TLC_OK)
            return tlc_fail_prefix(error, "arm '%s'", state->arm->name);
        state->external = &state->own_external;
    }
    return TLC_OK;
}

static void network_close(struct tlc_workload *workload);

static enum tlc_status network_open(const struct tlc_workload_setup *setup,
                                    struct tlc_workload **opened, struct tlc_error *error)
{
    struct tlc_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return tlc_fail(error, TLC_ENVIRONMENT, "network workload: out of memory");
    workload->setup = setup;
    for (int i = 0; i < NETWORKS; i++)
        workload->paths[i].generator.process.control = -1;
    workload->server_events = tlc_cpu_events_open(&setup->server_cpus, NULL);
    workload->generator_events = tlc_cpu_events_open(&setup->generator_cpus, NULL);
    workload->arm_count = setup->plan->arm_count;
    workload->arms = calloc(workload->arm_count, sizeof *workload->arms);
    enum tlc_status status =
        workload->arms ? TLC_OK
                       : tlc_fail(error, TLC_ENVIRONMENT, "network workload: out of memory");
    for (size_t i = 0; status == TLC_OK && i < workload->arm_count; i++) {
        workload->arms[i].arm = &setup->plan->arms[i];
        workload->arms[i].own.arm = workload->arms[i].arm;
        workload->arms[i].own.server.process.control = -1;
        workload->arms[i].instance = strcmp(workload->arms[i].arm->instance, "baseline")
                                         ? &workload->arms[i].own
                                         : &workload->arms[0].own;
        if (tlc_is_of_kind(setup, i, &tlc_workload_network))
            status = tlc_stack_load(setup->plan->arms[i].stack, &workload->arms[i].plugin, error);
    }
    if (status == TLC_OK)
        status = make_certificates(workload, error);
    if (status == TLC_OK)
        status = open_externals(workload, error);
    if (status == TLC_OK)
        status = open_paths(workload, error);
    if (status != TLC_OK) {
        network_close(workload);
        return status;
    }
    *opened = workload;
    return TLC_OK;
}

static enum tlc_status prepare_target(struct tlc_workload *workload, size_t index,
                                      const json_t *evidence, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[index];
    struct tlc_target_options target;
    const char *alpn[2];
    enum tlc_status status = tlc_arm_target(
        state->arm, state->plugin, state->instance->server.address, evidence, alpn, &target, error);
    if (status != TLC_OK)
        return status;
    json_t *command = json_pack("{s:s, s:I, s:o}", "command", "prepare", "id", (json_int_t)index,
                                "target", tlc_target_options_to_json(&target));
    json_t *answer;
    status = tlc_arm_generator_ask(&path_of(workload, state)->generator, command,
                                   TLC_ANSWER_MARGIN_MS, &answer, error);
    json_decref(answer);
    return status;
}

static int make_socket(const void *veth, int domain, int type, int protocol)
{
    return tlc_veth_client_socket(veth, domain, type, protocol);
}

static enum tlc_status probe_arm(struct tlc_workload *workload, struct network_arm *state,
                                 json_t **evidence, struct tlc_error *error)
{
    const struct tlc_veth *veth = path_of(workload, state)->veth;
    const struct tlc_socket_maker inside = {make_socket, veth};
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
        .socket = veth ? &inside : NULL,
        .tickets_awaited = state->arm->tickets > 0 ? (unsigned)state->arm->tickets : 0,
    };
    status = tlc_probe(&options, evidence, error);
    tlc_certs_pair_free(&pair);
    return status;
}

static uint64_t total_of(const json_t *counters, const char *what)
{
    return (uint64_t)json_integer_value(json_object_get(json_object_get(counters, "totals"), what));
}

static enum tlc_status run_generator(struct tlc_workload *workload, size_t index,
                                     uint64_t duration_us, uint64_t count, unsigned concurrency,
                                     struct tlc_counters *counters, struct tlc_error *error)
{
    json_t *command =
        json_pack("{s:s, s:I, s:I, s:I, s:i, s:b}", "command", "slice", "id", (json_int_t)index,
                  "duration_us", (json_int_t)duration_us, "count", (json_int_t)count, "concurrency",
                  (int)concurrency, "keep_latencies", 1);
    json_t *answer;
    int timeout_ms = (int)(duration_us / 1000) + TLC_ANSWER_MARGIN_MS;
    enum tlc_status status = tlc_arm_generator_ask(
        &path_of(workload, &workload->arms[index])->generator, command, timeout_ms, &answer, error);
    if (status == TLC_OK)
        status = tlc_counters_from_json(json_object_get(answer, "counters"), counters, error);
    json_decref(answer);
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

// Waits until the server has finished what it was asked to; one that cannot answer is dead.
static void settle(struct network_arm *state)
{
    struct instance *instance = state->instance;
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

// The arms of one server differ in what it burns; a server of its own burns the same always.
static enum tlc_status set_burn(struct instance *instance, unsigned burn_us,
                                struct tlc_error *error)
{
    if (instance->burn_us == burn_us)
        return TLC_OK;
    enum tlc_status status = tlc_arm_server_burn(&instance->server, burn_us, error);
    if (status == TLC_OK)
        instance->burn_us = burn_us;
    return status;
}

// One bucket of a slice: short enough to show how things change, drained at its end.
static enum tlc_status run_bucket(struct tlc_workload *workload, size_t arm, unsigned concurrency,
                                  struct tlc_counters *counters, json_t *buckets,
                                  struct tlc_error *error)
{
    struct instance *instance = workload->arms[arm].instance;
    pid_t root = instance->server.process.pid;
    struct tlc_counters part = {0};
    uint64_t before_ns = tlc_tree_cpu_ns(root, NULL);
    enum tlc_status status =
        run_generator(workload, arm, TLC_BUCKET_US, 0, concurrency, &part, error);
    if (status == TLC_OK) {
        instance->answered += part.started;
        settle(workload->arms + arm);
        uint64_t after_ns = tlc_tree_cpu_ns(root, NULL);
        tlc_buckets_add(buckets, part.handshakes, part.resumed,
                        after_ns > before_ns ? (double)(after_ns - before_ns) / 1000 : 0);
        // Merging is for parts side by side; these follow each other.
        double window_s = counters->window_s + part.window_s;
        double span_s = counters->span_s + part.span_s;
        status = tlc_counters_merge(counters, &part, error);
        counters->window_s = window_s;
        counters->span_s = span_s;
    }
    tlc_counters_free(&part);
    return status;
}

// A slice cut into buckets, the arm's event at its half.
static enum tlc_status run_buckets(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                   unsigned concurrency, struct tlc_counters *counters,
                                   json_t **buckets, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    uint64_t count = duration_us / TLC_BUCKET_US;
    enum tlc_status status = TLC_OK;
    *buckets = tlc_buckets_new(state->arm->event, (unsigned)(count / 2));
    for (uint64_t i = 0; i < count && status == TLC_OK && !state->instance->dead; i++) {
        if (i == count / 2)
            status = tlc_arm_server_event(&state->instance->server, state->arm->event, error);
        if (status == TLC_OK)
            status = run_bucket(workload, arm, concurrency, counters, *buckets, error);
    }
    return status;
}

// The load of a slice, to its drained end.
static enum tlc_status run_load(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                uint64_t count, unsigned concurrency, struct tlc_counters *counters,
                                json_t **buckets, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    if (buckets && strcmp(state->arm->event, "none") != 0 && duration_us >= TLC_EVENT_SLICE_US)
        return run_buckets(workload, arm, duration_us, concurrency, counters, buckets, error);
    enum tlc_status status =
        run_generator(workload, arm, duration_us, count, concurrency, counters, error);
    if (status == TLC_OK) {
        state->instance->answered += counters->started;
        settle(state);
    }
    return status;
}

// `buckets` NULL: neither event nor buckets.
static enum tlc_status run_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                 uint64_t count, unsigned concurrency, json_t **buckets,
                                 struct tlc_slice *slice, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct instance *instance = state->instance;
    if (instance->dead)
        return tlc_fail(error, TLC_REFUSED, "arm '%s': its server has ended", state->arm->name);
    struct tlc_readings before, after;
    struct tlc_counters counters = {0};
    struct tlc_observed observed = {
        .server = instance->server.process.pid,
        .apart = path_of(workload, state)->veth,
        .server_cpus = &workload->setup->server_cpus,
        .generator_cpus = &workload->setup->generator_cpus,
        .server_events = workload->server_events,
        .generator_events = workload->generator_events,
    };
    uint64_t served = total_of(instance->counters, "handshakes");
    uint64_t burnt_ns = total_of(instance->counters, "burnt_ns");
    uint64_t provider_work = tlc_arm_provider_work(instance->counters);
    enum tlc_status status = set_burn(instance, state->arm->burn_us, error);
    if (status == TLC_OK)
        status = tlc_take_readings(&observed, &before, error);
    if (status == TLC_OK)
        status =
            run_load(workload, arm, duration_us, count, concurrency, &counters, buckets, error);
    if (status == TLC_OK)
        status = tlc_take_readings(&observed, &after, error);
    if (status == TLC_OK) {
        instance->dead = instance->dead || after.server_ns < before.server_ns;
        double cost_us = instance->dead ? 0 : (double)(after.server_ns - before.server_ns) / 1000;
        tlc_sums_add(&state->sums, &before, &after, cost_us, counters.span_s);
        state->server_handshakes += total_of(instance->counters, "handshakes") - served;
        state->provider_work += tlc_arm_provider_work(instance->counters) - provider_work;
        burnt_ns = total_of(instance->counters, "burnt_ns") - burnt_ns;
        fill_slice(&counters, cost_us, (double)burnt_ns / 1000, slice);
    }
    tlc_counters_free(&counters);
    return status;
}

static enum tlc_status network_slice(struct tlc_workload *workload, size_t arm,
                                     uint64_t duration_us, uint64_t count, unsigned concurrency,
                                     struct tlc_slice *slice, struct tlc_error *error)
{
    json_t *buckets = NULL;
    enum tlc_status status =
        run_slice(workload, arm, duration_us, count, concurrency, &buckets, slice, error);
    if (status == TLC_OK)
        slice->buckets = buckets;
    else
        json_decref(buckets);
    return status;
}

// Once a campaign: the count is the same in every block.
static enum tlc_status count_allocations(struct tlc_workload *workload, struct network_arm *state,
                                         const json_t *evidence, struct tlc_error *error)
{
    if (!state->arm->allocations || state->allocations)
        return TLC_OK;
    const struct tlc_allocation_run run = {state->arm, state->plugin, state->certificates,
                                           workload->setup, evidence};
    return tlc_arm_count_allocations(&run, &state->allocations, error);
}

// A short unmeasured slice, which no sum keeps.
static enum tlc_status warm_up(struct tlc_workload *workload, size_t arm, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct tlc_slice slice = {0};
    uint64_t duration_us = state->arm->warm_up_us ? state->arm->warm_up_us
                                                  : workload->setup->plan->schedule.warm_up_us;
    enum tlc_status status = TLC_OK;
    // However slow the machine is, every client has been here once.
    if (state->arm->visitors)
        status = run_slice(workload, arm, 0, state->arm->visitors, state->arm->concurrency, NULL,
                           &slice, error);
    tlc_slice_clear(&slice);
    if (status != TLC_OK)
        return status;
    status = run_slice(workload, arm, duration_us, 0, state->arm->concurrency, NULL, &slice, error);
    tlc_slice_clear(&slice);
    state->sums = (struct tlc_sums){0};
    state->server_handshakes = state->provider_work = 0;
    return status;
}

static void leave_instance(struct instance *instance)
{
    if (instance->users && --instance->users)
        return;
    tlc_arm_server_stop(&instance->server);
    json_decref(instance->counters);
    json_decref(instance->command);
    instance->counters = instance->command = NULL;
    instance->server.address[0] = '\0';
}

static void network_release(struct tlc_workload *workload, size_t arm)
{
    struct network_arm *state = &workload->arms[arm];
    if (!state->prepared)
        return;
    state->prepared = false;
    if (path_of(workload, state)->generator.process.pid > 0 && state->instance->server.address[0]) {
        json_t *answer;
        struct tlc_error ignored;
        json_t *command = json_pack("{s:s, s:I}", "command", "release", "id", (json_int_t)arm);
        if (tlc_arm_generator_ask(&path_of(workload, state)->generator, command,
                                  TLC_ANSWER_MARGIN_MS, &answer, &ignored) == TLC_OK)
            json_decref(answer);
    }
    leave_instance(state->instance);
}

static enum tlc_status start_external(struct tlc_workload *workload, struct network_arm *state,
                                      size_t host, const char *log, struct tlc_error *error)
{
    char work[600];
    struct instance *instance = state->instance;
    snprintf(work, sizeof work, "%s/server-%zu", workload->setup->work_directory, host);
    const struct tlc_external_run run = {.arm = instance->arm,
                                         .external = state->external,
                                         .certificates = workload->arms[host].certificates,
                                         .work = work,
                                         .log = log,
                                         .cpus = &workload->setup->server_cpus};
    return tlc_external_start(&run, &instance->server.process, instance->server.address,
                              sizeof instance->server.address, &instance->command, error);
}

// Starts the arm's server unless another arm runs on it already.
static enum tlc_status join_instance(struct tlc_workload *workload, struct network_arm *state,
                                     struct tlc_error *error)
{
    struct instance *instance = state->instance;
    char log[600];
    state->prepared = true;
    if (instance->users++)
        return TLC_OK;
    size_t host = instance == &state->own ? (size_t)(state - workload->arms) : 0;
    snprintf(log, sizeof log, "%s/server-%zu.log", workload->setup->work_directory, host);
    instance->answered = 0;
    instance->dead = false;
    instance->burn_us = instance->arm->burn_us;
    if (state->external)
        return start_external(workload, state, host, log, error);
    const struct tlc_veth *veth = workload->paths[network_of(instance->arm)].veth;
    struct tlc_arm_place place = {
        .cpus = &workload->setup->server_cpus,
        .namespaces = veth ? veth->namespaces[TLC_VETH_OF_SERVER] : NULL,
        .listen = veth ? TLC_VETH_SERVER ":0" : "127.0.0.1:0",
    };
    return tlc_arm_server_start(instance->arm, workload->arms[host].certificates, &place, log,
                                &instance->server, error);
}

static enum tlc_status network_prepare(struct tlc_workload *workload, size_t arm, json_t **evidence,
                                       struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    state->sums = (struct tlc_sums){0};
    *evidence = NULL;
    enum tlc_status status = join_instance(workload, state, error);
    if (status == TLC_OK)
        status = probe_arm(workload, state, evidence, error);
    if (status == TLC_OK) {
        state->instance->answered++; // the probe's own handshake
        settle(state);
        status = prepare_target(workload, arm, *evidence, error);
    }
    if (status == TLC_OK)
        status = count_allocations(workload, state, *evidence, error);
    if (status == TLC_OK)
        status = warm_up(workload, arm, error);
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
    struct instance *instance = state->instance;
    (void)error;
    if (!instance->dead && !tlc_process_alive(&instance->server.process, NULL))
        instance->dead = true;
    tlc_sums_stay(&state->sums, state->arm->workers, stay);
    stay->server_handshakes = state->server_handshakes;
    stay->provider_work = state->provider_work;
    stay->server_counts = !state->external;
    stay->server_alive = !instance->dead;
    if (instance->counters)
        json_object_set(stay->detail, "server_counters", instance->counters);
    if (state->allocations)
        json_object_set(stay->detail, "allocations", state->allocations);
    if (state->external)
        json_object_set_new(stay->detail, "server",
                            json_pack("{s:s, s:s, s:s, s:O?}", "name",
                                      state->external->server->name, "about",
                                      state->external->server->about, "version",
                                      state->external->version, "run", instance->command));
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
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        json_decref(workload->arms[i].allocations);
    for (int i = 0; i < NETWORKS; i++) {
        tlc_arm_generator_stop(&workload->paths[i].generator);
        tlc_veth_close(workload->paths[i].veth);
    }
    tlc_cpu_events_close(workload->server_events);
    tlc_cpu_events_close(workload->generator_events);
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        tlc_external_close(&workload->arms[i].own_external);
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
    .stay = network_stay,
    .release = network_release,
    .close = network_close,
};
