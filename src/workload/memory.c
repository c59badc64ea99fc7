// The memory workload: each instance of an arm is one process that holds both sides.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/process.h"
#include "generator/generator.h"
#include "measure/proc.h"
#include "workload/arm_mask.h"
#include "workload/arm_support.h"
#include "workload/kinds.h"
#include "workload/network_accounting.h"
#include "workload/network_server.h"

enum { ANSWER_MARGIN_MS = 20000, STOP_MS = 2000, LONGEST_MS = 3600000 };

struct memory_arm {
    const struct tlc_arm *arm;
    char certificates[512]; // folder
    struct tlc_process worker;
    struct tlc_sums sums;
    uint64_t server_handshakes;
    uint64_t provider_total, provider_work; // its count, and what came to it in measured slices
    bool prepared, dead;
    bool idle_told; // the memory of idle connections is taken once
};

struct tlc_workload {
    const struct tlc_workload_setup *setup;
    struct memory_arm *arms;
    size_t arm_count;
};

// ---- what an arm may ask

// Settings of the network alone: asked for in memory, they would be said and not done.
static const char *foreign_setting(const struct tlc_arm *arm)
{
    return arm->burn_us                   ? "burn: not supported; write burn: 0us"
           : arm->serve_options           ? "serve_options: there is no server process; write none"
           : arm->workers > 1             ? "workers: both sides share one thread; write workers: 1"
           : strcmp(arm->share, "honest") ? "share: a library makes its own; write share: honest"
           : strcmp(arm->close, "reset")  ? "close: nothing is sent at the end; write close: reset"
           : strcmp(arm->network, "loopback")
               ? "network: nothing lies between; write network: loopback"
           : strcmp(arm->instance, "own") ? "instance: write instance: own"
                                          : NULL;
}

static enum tlc_status check_arm(const struct tlc_arm *arm, struct tlc_error *error)
{
    const struct tlc_stack_plugin *server, *client;
    const char *foreign = foreign_setting(arm);
    if (foreign)
        return tlc_fail(error, TLC_USAGE, "arm '%s': workload memory: %s", arm->name, foreign);
    enum tlc_status status = tlc_stack_load(arm->stack, &server, error);
    if (status == TLC_OK)
        status = tlc_arm_supported(arm, server, error);
    if (status == TLC_OK)
        status = tlc_arm_mask_supported(arm, server->id, server->stack->build(), error);
    if (status == TLC_OK && arm->client_stack)
        status = tlc_stack_load(arm->client_stack, &client, error);
    return status == TLC_OK && arm->client_stack ? tlc_arm_supported(arm, client, error) : status;
}

static enum tlc_status memory_check(const struct tlc_workload_setup *setup, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < setup->plan->arm_count; i++)
        if (tlc_is_of_kind(setup, i, &tlc_workload_memory))
            status = check_arm(&setup->plan->arms[i], error);
    return status;
}

// ---- talking to a worker

static void log_of(const struct tlc_workload *workload, size_t arm, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/pair-%zu.log", workload->setup->work_directory, arm);
}

// Sends a command (taken over) and takes its answer; an "error" member becomes the error.
static enum tlc_status ask(struct tlc_workload *workload, size_t arm, json_t *command,
                           int timeout_ms, json_t **answer, struct tlc_error *error)
{
    struct memory_arm *state = &workload->arms[arm];
    *answer = NULL;
    enum tlc_status status = tlc_message_send(state->worker.control, command, error);
    json_decref(command);
    if (status == TLC_OK)
        status = tlc_message_receive(state->worker.control, timeout_ms, answer, error);
    if (status != TLC_OK) {
        char log[600], said[400];
        log_of(workload, arm, log, sizeof log);
        tlc_log_tail(log, said, sizeof said);
        state->dead = true;
        return tlc_fail_prefix(error, "worker%s%s", said[0] ? ": " : "", said);
    }
    const char *text = json_string_value(json_object_get(*answer, "error"));
    if (!text)
        return TLC_OK;
    status = (enum tlc_status)json_integer_value(json_object_get(*answer, "status"));
    tlc_fail(error, status ? status : TLC_ENVIRONMENT, "%s", text);
    json_decref(*answer);
    *answer = NULL;
    return error->status;
}

static enum tlc_status start_worker(struct tlc_workload *workload, size_t arm,
                                    struct tlc_error *error)
{
    char log[600];
    const char *const arguments[] = {tlc_program_path(), "pair", "--control", NULL};
    log_of(workload, arm, log, sizeof log);
    struct tlc_arm_mask mask;
    struct tlc_process_options options = {
        .arguments = arguments,
        .environment = tlc_arm_mask_environment(workload->arms[arm].arm, &mask),
        .cpus = &workload->setup->server_cpus,
        .control = true,
        .log = log};
    return tlc_process_start(&options, &workload->arms[arm].worker, error);
}

// The plan with this arm alone, which a worker reads as any stored plan.
static json_t *plan_of_arm(const struct tlc_plan *plan, size_t arm)
{
    json_t *json = tlc_plan_to_json(plan);
    json_t *alone = json_pack("[O]", json_array_get(json_object_get(json, "arms"), arm));
    json_t *only = json_array_get(alone, 0);
    json_object_set_new(only, "lever", json_null());
    json_object_set_new(only, "against", json_null());
    // It is the baseline of that plan, which is neither optional nor equal to another.
    json_object_set_new(only, "optional", json_integer(0));
    json_object_set_new(only, "equal", json_integer(0));
    json_object_set_new(json, "levers", json_array());
    json_object_set_new(json, "arms", alone);
    json_object_set_new(json, "control", json_null());
    json_object_set_new(json, "fair_client", json_null());
    return json;
}

// ---- slices

static double number_of(const json_t *answer, const char *member)
{
    return json_number_value(json_object_get(answer, member));
}

static double cost_of(const struct tlc_arm *arm, const struct tlc_slice *slice)
{
    if (!strcmp(arm->side, "client"))
        return slice->client_us;
    return !strcmp(arm->side, "both") ? slice->server_us + slice->client_us : slice->server_us;
}

static void fill_slice(const struct tlc_arm *arm, const struct tlc_counters *counters,
                       const json_t *answer, struct tlc_slice *slice)
{
    *slice = (struct tlc_slice){
        .started = counters->started,
        .handshakes = counters->handshakes,
        .in_window = counters->in_window,
        .resumed = counters->resumed,
        .hello_retry_requests = counters->hello_retry_requests,
        .mismatches = counters->mismatches,
        .errors = tlc_counters_errors(counters),
        .window_s = counters->window_s,
        .span_s = counters->span_s,
        .server_us = number_of(answer, "server_us"),
        .client_us = number_of(answer, "client_us"),
        .rest_us = number_of(answer, "rest_us"),
        .total_us = number_of(answer, "total_us"),
        .wall_us = number_of(answer, "wall_us"),
        .interrupted = (uint64_t)json_integer_value(json_object_get(answer, "interrupted")),
        .detail = tlc_counters_to_json(counters),
    };
    slice->cost_us = cost_of(arm, slice);
}

static enum tlc_status run_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                 uint64_t count, struct tlc_slice *slice, struct tlc_error *error)
{
    struct tlc_counters counters = {0};
    json_t *answer;
    json_t *command = json_pack("{s:s, s:I, s:I}", "command", "slice", "duration_us",
                                (json_int_t)duration_us, "count", (json_int_t)count);
    int timeout_ms = count ? LONGEST_MS : (int)(duration_us / 1000) + ANSWER_MARGIN_MS;
    enum tlc_status status = ask(workload, arm, command, timeout_ms, &answer, error);
    if (status == TLC_OK)
        status = tlc_counters_from_json(json_object_get(answer, "counters"), &counters, error);
    if (status == TLC_OK) {
        struct memory_arm *state = &workload->arms[arm];
        uint64_t total = tlc_arm_provider_work(answer);
        fill_slice(state->arm, &counters, answer, slice);
        state->provider_work += total - state->provider_total;
        state->provider_total = total;
    }
    tlc_counters_free(&counters);
    json_decref(answer);
    return status;
}

static enum tlc_status memory_slice(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                                    uint64_t count, unsigned concurrency, struct tlc_slice *slice,
                                    struct tlc_error *error)
{
    struct memory_arm *state = &workload->arms[arm];
    const struct tlc_workload_setup *setup = workload->setup;
    struct tlc_readings before, after;
    (void)concurrency; // one thread, one handshake at a time
    if (state->dead)
        return tlc_fail(error, TLC_REFUSED, "arm '%s': its process has ended", state->arm->name);
    const struct tlc_observed observed = {.server = state->worker.pid,
                                          .server_cpus = &setup->server_cpus,
                                          .generator_cpus = &setup->generator_cpus};
    enum tlc_status status = tlc_take_readings(&observed, &before, error);
    if (status == TLC_OK)
        status = run_slice(workload, arm, duration_us, count, slice, error);
    if (status == TLC_OK)
        status = tlc_take_readings(&observed, &after, error);
    if (status != TLC_OK)
        return tlc_fail_prefix(error, "arm '%s'", state->arm->name);
    state->server_handshakes += slice->handshakes;
    double run_us = (double)(after.server_ns - before.server_ns) / 1000;
    tlc_sums_add(&state->sums, &before, &after, run_us, run_us, slice->span_s);
    return TLC_OK;
}

// ---- the life of an instance

static void memory_release(struct tlc_workload *workload, size_t arm)
{
    struct memory_arm *state = &workload->arms[arm];
    if (!state->prepared)
        return;
    state->prepared = false;
    if (!state->dead) {
        json_t *answer;
        struct tlc_error ignored;
        if (ask(workload, arm, json_pack("{s:s}", "command", "stop"), STOP_MS, &answer, &ignored) ==
            TLC_OK)
            json_decref(answer);
    }
    tlc_process_stop(&state->worker, STOP_MS);
}

static enum tlc_status take_evidence(struct tlc_workload *workload, size_t arm, json_t **evidence,
                                     struct tlc_error *error)
{
    json_t *answer;
    json_t *command = json_pack("{s:s, s:o, s:s}", "command", "prepare", "plan",
                                plan_of_arm(workload->setup->plan, arm), "certificates",
                                workload->arms[arm].certificates);
    enum tlc_status status = ask(workload, arm, command, ANSWER_MARGIN_MS, &answer, error);
    if (status != TLC_OK)
        return status;
    *evidence = json_incref(json_object_get(answer, "evidence"));
    json_decref(answer);
    return TLC_OK;
}

// A short unmeasured slice, which no sum keeps.
static enum tlc_status warm_up(struct tlc_workload *workload, size_t arm, struct tlc_error *error)
{
    struct memory_arm *state = &workload->arms[arm];
    struct tlc_slice slice = {0};
    enum tlc_status status =
        run_slice(workload, arm, workload->setup->plan->schedule.warm_up_us, 0, &slice, error);
    tlc_slice_clear(&slice);
    state->sums = (struct tlc_sums){0};
    state->server_handshakes = state->provider_work = 0;
    return status;
}

static enum tlc_status memory_prepare(struct tlc_workload *workload, size_t arm, json_t **evidence,
                                      struct tlc_error *error)
{
    struct memory_arm *state = &workload->arms[arm];
    *evidence = NULL;
    state->dead = false;
    state->provider_total = 0;
    enum tlc_status status = start_worker(workload, arm, error);
    state->prepared = status == TLC_OK;
    if (status == TLC_OK)
        status = take_evidence(workload, arm, evidence, error);
    if (status == TLC_OK)
        status = warm_up(workload, arm, error);
    if (status != TLC_OK) {
        tlc_fail_prefix(error, "arm '%s'", state->arm->name);
        json_decref(*evidence);
        *evidence = NULL;
        memory_release(workload, arm);
    }
    return status;
}

// What is not told has its reason beside it, and spoils no figure.
static void tell_idle(struct tlc_workload *workload, size_t arm, struct tlc_stay *stay)
{
    struct memory_arm *state = &workload->arms[arm];
    unsigned connections = workload->setup->idle_connections;
    json_t *answer;
    if (!connections || state->idle_told || state->dead || !strcmp(state->arm->side, "flight"))
        return;
    json_t *command = json_pack("{s:s, s:i}", "command", "idle", "connections", (int)connections);
    struct tlc_error why;
    enum tlc_status status = ask(workload, arm, command, LONGEST_MS, &answer, &why);
    state->idle_told = true;
    if (status != TLC_OK) {
        json_object_set_new(stay->detail, "idle_connections_error", json_string(why.text));
        return;
    }
    json_object_set(stay->detail, "idle_connections", json_object_get(answer, "idle_connections"));
    json_decref(answer);
}

static enum tlc_status memory_stay(struct tlc_workload *workload, size_t arm, struct tlc_stay *stay,
                                   struct tlc_error *error)
{
    struct memory_arm *state = &workload->arms[arm];
    (void)error;
    if (!state->dead && !tlc_process_alive(&state->worker, NULL))
        state->dead = true;
    tlc_sums_stay(&state->sums, 1, stay);
    // Neither a generator nor a listening socket is there; what others use of them is not ours.
    stay->generator_busy = 0;
    stay->listen_overflows = stay->listen_drops = 0;
    stay->server_alive = !state->dead;
    stay->server_handshakes = state->server_handshakes;
    stay->provider_work = state->provider_work;
    // A replayed flight finishes no handshake that the server could count.
    stay->server_counts = strcmp(state->arm->side, "flight") != 0;
    tell_idle(workload, arm, stay);
    return TLC_OK;
}

static void memory_close(struct tlc_workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        memory_release(workload, i);
    free(workload->arms);
    free(workload);
}

static enum tlc_status memory_open(const struct tlc_workload_setup *setup,
                                   struct tlc_workload **opened, struct tlc_error *error)
{
    struct tlc_workload *workload = calloc(1, sizeof *workload);
    size_t count = setup->plan->arm_count;
    enum tlc_status status = TLC_OK;
    if (workload)
        workload->arms = calloc(count, sizeof *workload->arms);
    if (!workload || !workload->arms)
        status = tlc_fail(error, TLC_ENVIRONMENT, "memory workload: out of memory");
    for (size_t i = 0; status == TLC_OK && i < count; i++) {
        struct memory_arm *state = &workload->arms[i];
        workload->setup = setup;
        workload->arm_count = i + 1;
        state->arm = &setup->plan->arms[i];
        state->worker.control = -1;
        if (tlc_is_of_kind(setup, i, &tlc_workload_memory))
            status = tlc_arm_certificates(state->arm, setup->certificate_directory,
                                          state->certificates, sizeof state->certificates, error);
    }
    if (status != TLC_OK) {
        memory_close(workload);
        return status;
    }
    *opened = workload;
    return TLC_OK;
}

const struct tlc_workload_kind tlc_workload_memory = {
    .name = "memory",
    .concurrent = false,
    .check = memory_check,
    .open = memory_open,
    .prepare = memory_prepare,
    .slice = memory_slice,
    .stay = memory_stay,
    .release = memory_release,
    .close = memory_close,
};
