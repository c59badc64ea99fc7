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
#include "measure/proc.h"
#include "stacks/loader.h"
#include "workload/arm_support.h"
#include "workload/kinds.h"
#include "workload/network_held.h"
#include "workload/network_state.h"
#include "workload/network_target.h"
#include "workload/network_trace.h"

static void network_close(struct tlc_workload *workload);

// Arms that share the baseline's server change places with it in a duet: the baseline's server and
// the control's take turns, so that the luck of neither is in the difference.
static void seat_arm(struct tlc_workload *workload, size_t index)
{
    const struct tlc_plan *plan = workload->setup->plan;
    struct network_arm *state = &workload->arms[index];
    struct instance *baseline = &workload->arms[0].own;
    bool shares = strcmp(plan->arms[index].instance, "baseline") == 0;
    state->arm = &plan->arms[index];
    state->own.arm = state->arm;
    state->own.server.process.control = -1;
    state->instance = shares ? baseline : &state->own;
    if (!plan->schedule.duet || plan->control < 0)
        return;
    struct instance *control = &workload->arms[plan->control].own;
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
    for (int i = 0; i < NETWORKS; i++)
        for (int k = 0; k < SEATS; k++)
            workload->paths[i].generators[k].process.control = -1;
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
        status = tlc_network_open_shared(workload, error);
    if (status != TLC_OK) {
        network_close(workload);
        return status;
    }
    *opened = workload;
    return TLC_OK;
}

json_int_t tlc_network_target(const struct tlc_workload *workload, size_t arm, bool other)
{
    return (json_int_t)(arm + (other ? workload->arm_count : 0));
}

// Tells every generator of the arm's network of the arm on one of its servers.
static enum tlc_status prepare_target(struct tlc_workload *workload, size_t index, bool other,
                                      const json_t *evidence, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[index];
    const struct instance *instance = other ? state->other : state->instance;
    struct path *path = tlc_network_path(workload, state->arm);
    struct tlc_target_options target;
    struct tlc_arm_loan loan;
    const struct tlc_arm_peer peer = {.plugin = state->plugin,
                                      .address = instance->server.address,
                                      .certificates = state->certificates,
                                      .evidence = evidence};
    enum tlc_status status = tlc_arm_target(state->arm, &peer, &loan, &target, error);
    for (int i = 0; status == TLC_OK && i < SEATS && path->generators[i].process.pid > 0; i++) {
        json_t *answer = NULL;
        json_t *command = json_pack("{s:s, s:I, s:o}", "command", "prepare", "id",
                                    tlc_network_target(workload, index, other), "target",
                                    tlc_target_options_to_json(&target));
        status = tlc_arm_generator_ask(&path->generators[i], command, TLC_ANSWER_MARGIN_MS, &answer,
                                       error);
        json_decref(answer);
    }
    tlc_certs_pair_free(&loan.client);
    return status;
}

static int make_socket(const void *veth, int domain, int type, int protocol)
{
    return tlc_veth_client_socket(veth, domain, type, protocol);
}

static enum tlc_status probe_arm(struct tlc_workload *workload, struct network_arm *state,
                                 json_t **evidence, struct tlc_error *error)
{
    const struct tlc_veth *veth = tlc_network_path(workload, state->arm)->veth;
    const struct tlc_socket_maker inside = {make_socket, veth};
    struct tlc_certs_pair pair = {0}, client = {0};
    uint16_t groups[TLC_ARM_GROUPS], cipher;
    size_t group_count;
    enum tlc_status status = tlc_arm_codes(state->arm, groups, &group_count, &cipher, error);
    if (status == TLC_OK)
        status = tlc_certs_read(state->certificates, state->arm->certificate, &pair, error);
    if (status == TLC_OK)
        status = tlc_arm_client(state->arm, state->certificates, &client, error);
    const char *alpn[] = {state->arm->alpn, NULL};
    char host[TLC_CERTS_HOST_BYTES] = "localhost";
    if (state->arm->names) // the last one, before which all others were loaded
        tlc_certs_numbered_host(state->arm->names - 1, host);
    struct tlc_probe_options options = {
        .address = state->instance->server.address,
        .plugin = state->plugin,
        .min_version = tlc_code(TLC_NAME_VERSION, state->arm->version),
        .max_version = tlc_code(TLC_NAME_VERSION, state->arm->version),
        .groups = groups,
        .group_count = group_count,
        .ciphers = &cipher,
        .cipher_count = cipher ? 1 : 0,
        .server_name = host,
        .alpn = state->arm->alpn ? alpn : NULL,
        .trust_pem = pair.ca_pem,
        .client_chain_pem = client.chain_pem,
        .client_key_pem = client.key_pem,
        .socket = veth ? &inside : NULL,
        .tickets_awaited = state->arm->tickets > 0 ? (unsigned)state->arm->tickets : 0,
    };
    if (status == TLC_OK)
        status = tlc_probe(&options, evidence, error);
    tlc_certs_pair_free(&pair);
    tlc_certs_pair_free(&client);
    return status;
}

// Once a campaign: the counts are the same in every block.
static enum tlc_status count_once(struct tlc_workload *workload, struct network_arm *state,
                                  const json_t *evidence, struct tlc_error *error)
{
    const struct tlc_allocation_run run = {state->arm, state->plugin, state->certificates,
                                           workload->setup, evidence};
    enum tlc_status status = TLC_OK;
    if (state->arm->allocations && !state->allocations)
        status = tlc_arm_count_allocations(&run, &state->allocations, error);
    if (status == TLC_OK && state->arm->hold && !state->half_open)
        status = tlc_arm_hold(&run, state->external, &state->half_open, error);
    return status;
}

// Samples are taken from the warm server on, in the slices that ask for it.
static enum tlc_status start_sampling(struct tlc_workload *workload, size_t arm,
                                      struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    char directory[600];
    if (!state->arm->attribute)
        return TLC_OK;
    snprintf(directory, sizeof directory, "%.550s/samples-%zu", workload->setup->work_directory,
             arm);
    const struct tlc_sampling_start start = {.plan = workload->setup->plan,
                                             .server =
                                                 state->external ? state->external->server : NULL,
                                             .root = state->instance->server.process.pid,
                                             .directory = directory,
                                             .tagged = strcmp(state->arm->trace, "none") != 0};
    return tlc_sampling_start(&start, &state->sampling, error);
}

static void leave_instance(struct instance *instance)
{
    if (!instance || (instance->users && --instance->users))
        return;
    tlc_arm_server_stop(&instance->server);
    tlc_tree_close(instance->tree);
    tlc_trace_close(instance->trace);
    instance->tree = NULL;
    instance->trace = NULL;
    json_decref(instance->counters);
    json_decref(instance->command);
    instance->counters = instance->command = NULL;
    instance->server.address[0] = '\0';
}

static void release_target(struct tlc_workload *workload, size_t arm, bool other)
{
    struct network_arm *state = &workload->arms[arm];
    struct path *path = tlc_network_path(workload, state->arm);
    for (int i = 0; i < SEATS && state->instance->server.address[0]; i++) {
        json_t *answer = NULL;
        struct tlc_error ignored;
        json_t *command = json_pack("{s:s, s:I}", "command", "release", "id",
                                    tlc_network_target(workload, arm, other));
        if (path->generators[i].process.pid <= 0)
            json_decref(command);
        else if (tlc_arm_generator_ask(&path->generators[i], command, TLC_ANSWER_MARGIN_MS, &answer,
                                       &ignored) == TLC_OK)
            json_decref(answer);
    }
}

static void network_release(struct tlc_workload *workload, size_t arm)
{
    struct network_arm *state = &workload->arms[arm];
    if (!state->prepared)
        return;
    state->prepared = false;
    tlc_sampling_drop(&state->sampling);
    release_target(workload, arm, false);
    if (state->other)
        release_target(workload, arm, true);
    leave_instance(state->other);
    leave_instance(state->instance);
}

static enum tlc_status start_external(struct tlc_workload *workload, struct network_arm *state,
                                      size_t host, const char *log, const char *trace_file,
                                      struct tlc_error *error)
{
    char work[600];
    struct instance *instance = state->instance;
    snprintf(work, sizeof work, "%s/server-%zu", workload->setup->work_directory, host);
    const struct tlc_external_run run = {.arm = instance->arm,
                                         .external = state->external,
                                         .certificates = workload->arms[host].certificates,
                                         .work = work,
                                         .log = log,
                                         .trace_file = instance->trace ? trace_file : NULL,
                                         .cpus = &workload->setup->server_cpus};
    return tlc_external_start(&run, &instance->server.process, instance->server.address,
                              sizeof instance->server.address, &instance->command, error);
}

// Starts the arm's server unless another arm runs on it already.
static enum tlc_status join_instance(struct tlc_workload *workload, struct network_arm *state,
                                     struct instance *instance, struct tlc_error *error)
{
    char log[600], trace_file[600];
    size_t host = 0;
    if (instance->users++)
        return TLC_OK;
    while (&workload->arms[host].own != instance)
        host++;
    snprintf(log, sizeof log, "%s/server-%zu.log", workload->setup->work_directory, host);
    instance->answered = 0;
    instance->dead = false;
    enum tlc_status status = tlc_network_trace_open(workload, host, trace_file, error);
    if (status != TLC_OK)
        return status;
    if (state->external)
        return start_external(workload, state, host, log, trace_file, error);
    const struct tlc_veth *veth = tlc_network_path(workload, instance->arm)->veth;
    struct tlc_arm_place place = {
        .cpus = &workload->setup->server_cpus,
        .namespaces = veth ? veth->namespaces[TLC_VETH_OF_SERVER] : NULL,
        .listen = veth ? TLC_VETH_SERVER ":0" : "127.0.0.1:0",
        .trace_file = instance->trace ? trace_file : NULL,
    };
    status = tlc_arm_server_start(instance->arm, workload->arms[host].certificates, &place, log,
                                  &instance->server, error);
    if (status == TLC_OK)
        instance->tree = tlc_tree_open(instance->server.process.pid);
    return status;
}

static enum tlc_status join_instances(struct tlc_workload *workload, struct network_arm *state,
                                      struct tlc_error *error)
{
    state->prepared = true;
    enum tlc_status status = join_instance(workload, state, state->instance, error);
    if (!state->other)
        return status;
    if (status == TLC_OK)
        return join_instance(workload, state, state->other, error);
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
        status = probe_arm(workload, state, evidence, error);
    if (status == TLC_OK) {
        state->instance->answered++; // the probe's own handshake
        if (state->instance->server.processor)
            json_object_set(*evidence, "processor", state->instance->server.processor);
        tlc_network_settle(state, state->instance);
        status = prepare_target(workload, arm, false, *evidence, error);
    }
    if (status == TLC_OK && state->other)
        status = prepare_target(workload, arm, true, *evidence, error);
    if (status == TLC_OK)
        status = count_once(workload, state, *evidence, error);
    if (status == TLC_OK)
        status = tlc_network_warm_up(workload, arm, error);
    if (status == TLC_OK)
        status = start_sampling(workload, arm, error);
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

// What the samples of an attributed arm say. A server that compiles while it runs names its
// functions first.
static enum tlc_status end_sampling(struct tlc_workload *workload, struct network_arm *state,
                                    json_t **parts, struct tlc_error *error)
{
    char log[600];
    pid_t pid = state->instance->server.process.pid;
    enum tlc_status status = TLC_OK;
    if (!state->sampling.sampler)
        return TLC_OK;
    snprintf(log, sizeof log, "%.580s/symbols.log", workload->setup->work_directory);
    if (state->external && pid > 0)
        status = tlc_external_name_functions(state->arm, state->external, pid, log, error);
    if (status == TLC_OK)
        status = tlc_sampling_end(&state->sampling, workload->components, parts, error);
    if (state->external && pid > 0)
        tlc_external_forget_functions(state->external, pid);
    return status;
}

static enum tlc_status network_stay(struct tlc_workload *workload, size_t arm,
                                    struct tlc_stay *stay, struct tlc_error *error)
{
    struct network_arm *state = &workload->arms[arm];
    struct instance *instance = state->instance;
    json_t *parts = NULL;
    enum tlc_status status = end_sampling(workload, state, &parts, error);
    if (status != TLC_OK)
        return status;
    if (!instance->dead && !tlc_process_alive(&instance->server.process, NULL))
        instance->dead = true;
    tlc_sums_stay(&state->sums, state->arm->workers, stay);
    stay->server_handshakes = state->server_handshakes;
    stay->provider_work = state->provider_work;
    stay->client_certificates = state->client_certificates;
    stay->server_counts = !state->external;
    stay->server_alive = !instance->dead;
    if (instance->counters)
        json_object_set(stay->detail, "server_counters", instance->counters);
    if (parts)
        json_object_set_new(stay->detail, "attribution", parts);
    if (state->allocations)
        json_object_set(stay->detail, "allocations", state->allocations);
    if (state->half_open)
        json_object_set(stay->detail, "half_open", state->half_open);
    if (state->capacity > 0)
        json_object_set_new(stay->detail, "capacity", json_real(state->capacity));
    tlc_network_trace_stay(state, stay);
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
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        json_decref(workload->arms[i].half_open);
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        tlc_trace_sums_free(workload->arms[i].trace);
    tlc_network_close_shared(workload);
    free(workload->arms);
    free(workload);
}

const struct tlc_workload_kind tlc_workload_network = {
    .name = "network",
    .concurrent = true,
    .check = tlc_network_check,
    .bring = tlc_external_bring,
    .open = network_open,
    .prepare = network_prepare,
    .slice = tlc_network_slice,
    .duet = tlc_network_duet,
    .stay = network_stay,
    .release = network_release,
    .close = network_close,
};
