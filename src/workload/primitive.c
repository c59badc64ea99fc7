// The primitive workload: raw operations, each arm in a worker process of its own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/process.h"
#include "evidence/checks.h"
#include "measure/clock.h"
#include "measure/proc.h"
#include "workload/arm_mask.h"
#include "workload/kinds.h"
#include "workload/network_server.h"
#include "workload/operations.h"

// Making an RSA key takes seconds; a slice may be told any number of operations.
enum { START_MS = 60000, ANSWER_MS = 600000, STOP_MS = 2000, MESSAGES_US = 300, TICK_US = 10000 };

struct primitive_arm {
    const struct tlc_arm *arm;
    struct tlc_process worker;
    uint64_t asked, operations;
    double cost_us, span_s;
    // With the checking: by the worker's clock of its thread, by the kernel's of its process.
    double thread_us, process_us;
    struct tlc_cpu_times cpus;
    unsigned slices;
    bool dead;
};

struct tlc_workload {
    const struct tlc_workload_setup *setup;
    struct primitive_arm *arms;
    size_t arm_count;
};

static enum tlc_status check_arm(const struct tlc_plan *plan, const struct tlc_arm *arm,
                                 struct tlc_error *error)
{
    struct tlc_library library;
    struct tlc_stack_error why = {{0}};
    enum tlc_status status = tlc_library_find(arm->stack, &library, error);
    if (status == TLC_OK)
        status = tlc_library_has(&library, arm->operation, error);
    if (status == TLC_OK)
        status = tlc_arm_mask_supported(arm, library.id, library.build, error);
    if (status != TLC_OK)
        return status;
    unsigned lanes = strcmp(library.id, TLC_OWN_STACK) ? 1 : tlc_own_lanes(arm->provider);
    if (plan->schedule.count % lanes)
        return tlc_fail(error, TLC_USAGE,
                        "%s works on %u keys at once; write a count that is a multiple of %u",
                        arm->provider, lanes, lanes);
    if (!arm->provider)
        return TLC_OK;
    struct tlc_stack_operation *operation =
        tlc_library_operation(&library, arm->operation, arm->provider, &why);
    if (!operation)
        return tlc_fail(error, TLC_ENVIRONMENT, "%s", why.text);
    library.operations->operation_free(operation);
    return TLC_OK;
}

static enum tlc_status primitive_check(const struct tlc_workload_setup *setup,
                                       struct tlc_error *error)
{
    for (size_t i = 0; i < setup->plan->arm_count; i++) {
        if (!tlc_is_of_kind(setup, i, &tlc_workload_primitive))
            continue;
        enum tlc_status status = check_arm(setup->plan, &setup->plan->arms[i], error);
        if (status != TLC_OK) {
            tlc_fail_prefix(error, "arm '%s'", setup->plan->arms[i].name);
            return status;
        }
    }
    return TLC_OK;
}

static enum tlc_status primitive_open(const struct tlc_workload_setup *setup,
                                      struct tlc_workload **opened, struct tlc_error *error)
{
    struct tlc_workload *workload = calloc(1, sizeof *workload);
    if (workload)
        workload->arms = calloc(setup->plan->arm_count, sizeof *workload->arms);
    if (!workload || !workload->arms) {
        free(workload);
        return tlc_fail(error, TLC_ENVIRONMENT, "primitive workload: out of memory");
    }
    workload->setup = setup;
    workload->arm_count = setup->plan->arm_count;
    for (size_t i = 0; i < workload->arm_count; i++) {
        workload->arms[i].arm = &setup->plan->arms[i];
        workload->arms[i].worker.control = -1;
    }
    *opened = workload;
    return TLC_OK;
}

static void log_of(const struct tlc_workload *workload, size_t arm, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/worker-%zu.log", workload->setup->work_directory, arm);
}

// The error of a worker that gave no answer: its own last words where it has any.
static enum tlc_status fail_worker(struct tlc_workload *workload, size_t arm,
                                   struct tlc_error *error)
{
    char log[600], said[400];
    log_of(workload, arm, log, sizeof log);
    tlc_log_tail(log, said, sizeof said);
    workload->arms[arm].dead = true;
    return said[0] ? tlc_fail(error, TLC_ENVIRONMENT, "%s", said) : error->status;
}

static enum tlc_status start(struct tlc_workload *workload, size_t arm, json_t **evidence,
                             struct tlc_error *error)
{
    struct primitive_arm *state = &workload->arms[arm];
    char log[600];
    const char *arguments[] = {
        tlc_program_path(),    "speed", "--control", "--stack", state->arm->stack,
        state->arm->operation, NULL,    NULL,        NULL};
    if (state->arm->provider) {
        arguments[6] = "--provider";
        arguments[7] = state->arm->provider;
    }
    log_of(workload, arm, log, sizeof log);
    remove(log);
    struct tlc_arm_mask mask;
    struct tlc_process_options options = {.arguments = arguments,
                                          .environment =
                                              tlc_arm_mask_environment(state->arm, &mask),
                                          .cpus = &workload->setup->server_cpus,
                                          .control = true,
                                          .log = log};
    enum tlc_status status = tlc_process_start(&options, &state->worker, error);
    if (status != TLC_OK)
        return status;
    return tlc_message_receive(state->worker.control, START_MS, evidence, error) == TLC_OK
               ? TLC_OK
               : fail_worker(workload, arm, error);
}

static enum tlc_status ask(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                           uint64_t count, json_t **answer, struct tlc_error *error)
{
    struct primitive_arm *state = &workload->arms[arm];
    json_t *command = json_pack("{s:s, s:I, s:I}", "command", "slice", "duration_us",
                                (json_int_t)duration_us, "count", (json_int_t)count);
    enum tlc_status status = tlc_message_send(state->worker.control, command, error);
    json_decref(command);
    if (status == TLC_OK)
        status = tlc_message_receive(state->worker.control, ANSWER_MS + (int)(duration_us / 1000),
                                     answer, error);
    if (status != TLC_OK)
        return fail_worker(workload, arm, error);
    const char *text = json_string_value(json_object_get(*answer, "error"));
    if (!text)
        return TLC_OK;
    status = tlc_fail(error, TLC_REFUSED, "%.300s", text);
    json_decref(*answer);
    *answer = NULL;
    return status;
}

static void add_times(struct tlc_cpu_times *sum, const struct tlc_cpu_times *part)
{
    sum->user_us += part->user_us + part->nice_us;
    sum->system_us += part->system_us + part->irq_us + part->softirq_us;
    sum->idle_us += part->idle_us + part->iowait_us;
    sum->steal_us += part->steal_us;
    sum->cpus = part->cpus;
}

static void fill_slice(struct primitive_arm *state, const json_t *answer, uint64_t count,
                       struct tlc_slice *slice)
{
    uint64_t done = (uint64_t)json_integer_value(json_object_get(answer, "operations"));
    double span_s = (double)json_integer_value(json_object_get(answer, "span_ns")) / 1e9;
    *slice = (struct tlc_slice){
        .started = count ? count : done,
        .handshakes = done,
        .in_window = done,
        .window_s = span_s,
        .span_s = span_s,
        .cost_us = (double)json_integer_value(json_object_get(answer, "cpu_ns")) / 1000};
    state->asked += slice->started;
    state->operations += done;
    state->cost_us += slice->cost_us;
    state->span_s += span_s;
    state->thread_us += (double)json_integer_value(json_object_get(answer, "thread_ns")) / 1000;
    state->slices++;
}

static enum tlc_status primitive_slice(struct tlc_workload *workload, size_t arm,
                                       uint64_t duration_us, uint64_t count, unsigned concurrency,
                                       struct tlc_slice *slice, struct tlc_error *error)
{
    struct primitive_arm *state = &workload->arms[arm];
    struct tlc_cpu_times before, after;
    json_t *answer = NULL;
    (void)concurrency;
    if (state->dead)
        return tlc_fail(error, TLC_REFUSED, "arm '%s': its worker has ended", state->arm->name);
    uint64_t process_ns = tlc_process_cpu_ns(state->worker.pid);
    enum tlc_status status = tlc_read_cpu_times(&workload->setup->server_cpus, &before, error);
    if (status == TLC_OK)
        status = ask(workload, arm, duration_us, count, &answer, error);
    if (status == TLC_OK)
        status = tlc_read_cpu_times(&workload->setup->server_cpus, &after, error);
    if (status == TLC_OK) {
        struct tlc_cpu_times times = tlc_cpu_times_since(&after, &before);
        fill_slice(state, answer, count, slice);
        add_times(&state->cpus, &times);
        state->process_us += (double)(tlc_process_cpu_ns(state->worker.pid) - process_ns) / 1000;
    }
    json_decref(answer);
    return status;
}

static void primitive_release(struct tlc_workload *workload, size_t arm)
{
    struct primitive_arm *state = &workload->arms[arm];
    if (state->worker.pid > 0 && state->worker.control >= 0) {
        json_t *stop = json_pack("{s:s}", "command", "stop");
        struct tlc_error ignored;
        if (tlc_message_send(state->worker.control, stop, &ignored) != TLC_OK)
            ignored.text[0] = '\0';
        json_decref(stop);
    }
    tlc_process_stop(&state->worker, STOP_MS);
    *state = (struct primitive_arm){.arm = state->arm, .worker = {.control = -1}};
}

static enum tlc_status primitive_prepare(struct tlc_workload *workload, size_t arm,
                                         json_t **evidence, struct tlc_error *error)
{
    struct primitive_arm *state = &workload->arms[arm];
    uint64_t warm_up_us = state->arm->warm_up_us ? state->arm->warm_up_us
                                                 : workload->setup->plan->schedule.warm_up_us;
    *evidence = NULL;
    enum tlc_status status = start(workload, arm, evidence, error);
    if (status == TLC_OK && warm_up_us) {
        json_t *answer = NULL;
        status = ask(workload, arm, warm_up_us, 0, &answer, error);
        json_decref(answer);
    }
    if (status != TLC_OK) {
        tlc_fail_prefix(error, "arm '%s'", state->arm->name);
        json_decref(*evidence);
        *evidence = NULL;
        primitive_release(workload, arm);
    }
    return status;
}

static double part_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

// Two clocks must agree: the worker's of its thread and the kernel's of its process, which alone
// holds the messages of each slice.
static double accounting_gap(const struct primitive_arm *state)
{
    double gap = fabs(state->process_us - state->thread_us) - (double)MESSAGES_US * state->slices;
    return gap > 0 ? part_of(gap, state->cost_us) : 0;
}

static enum tlc_status primitive_stay(struct tlc_workload *workload, size_t arm,
                                      struct tlc_stay *stay, struct tlc_error *error)
{
    struct primitive_arm *state = &workload->arms[arm];
    const struct tlc_cpu_times *cpus = &state->cpus;
    // A slice may be shorter than the kernel's tick, of which one says nothing.
    double steal_us = fmax(0, (double)cpus->steal_us - TICK_US * cpus->cpus);
    (void)error;
    if (!state->dead && !tlc_process_alive(&state->worker, NULL))
        state->dead = true;
    *stay = (struct tlc_stay){
        .server_busy = part_of(state->cost_us, state->span_s * 1e6),
        .generator_busy = 0,
        .steal = part_of(
            steal_us, (double)(cpus->user_us + cpus->system_us + cpus->idle_us + cpus->steal_us)),
        .accounting = accounting_gap(state),
        .server_handshakes = state->asked,
        .server_counts = true,
        .server_alive = !state->dead,
        .detail = json_pack("{s:f, s:I}", "process_us", state->process_us, "memory_bytes",
                            (json_int_t)tlc_tree_memory_bytes(state->worker.pid)),
    };
    return TLC_OK;
}

static void primitive_close(struct tlc_workload *workload)
{
    for (size_t i = 0; workload && i < workload->arm_count; i++)
        primitive_release(workload, i);
    if (workload)
        free(workload->arms);
    free(workload);
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

// A provider is asked for by name or by the path of its module.
static bool is_provider(const char *asked, const char *got)
{
    const char *slash = memrchr(asked, '/', strcspn(asked, "?"));
    const char *name = slash ? slash + 1 : asked;
    size_t length = strcspn(name, "?");
    if (slash && length > 3 && !strncmp(name + length - 3, ".so", 3))
        length -= 3;
    return strlen(got) == length && !strncmp(name, got, length);
}

static void primitive_compare(const struct tlc_arm *arm, const json_t *evidence, char *difference,
                              size_t capacity)
{
    const char *operation = text_of(evidence, "operation"),
               *provider = text_of(evidence, "provider");
    *difference = '\0';
    if (strcmp(operation, arm->operation) != 0)
        snprintf(difference, capacity, "operation: asked %s, got %.64s", arm->operation, operation);
    else if (arm->provider && !is_provider(arm->provider, provider))
        snprintf(difference, capacity, "provider: asked %.100s, got %.64s", arm->provider,
                 *provider ? provider : "one that does not tell");
}

#define SKIPS(check) (1u << TLC_CHECK_##check)

const struct tlc_workload_kind tlc_workload_primitive = {
    .name = "primitive",
    .skips = SKIPS(NEGOTIATED) | SKIPS(CERTIFICATE) | SKIPS(RESUMPTION) | SKIPS(PROVIDER) |
             SKIPS(ERRORS) | SKIPS(LISTEN_OVERFLOW) | SKIPS(GENERATOR_HEADROOM) |
             SKIPS(GENERATOR_LIMITED) | SKIPS(SERVER_SATURATED),
    .compare = primitive_compare,
    .check = primitive_check,
    .open = primitive_open,
    .prepare = primitive_prepare,
    .slice = primitive_slice,
    .stay = primitive_stay,
    .release = primitive_release,
    .close = primitive_close,
};
