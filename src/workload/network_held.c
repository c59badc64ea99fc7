#include "workload/network_held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator/hold.h"
#include "measure/proc.h"
#include "workload/network_generator.h"
#include "workload/network_target.h"

// What a server sets up once, or for its first connections, is left to hellos that do not count.
enum {
    UNCOUNTED = 64,
    COUNTED = 256,
    ANSWER_MS = 60000,
    SETTLE_MS = 2000,
    EXTERNAL_SETTLE_MS = 200
};

// The server and generator of one telling.
struct keeper {
    const struct tlc_allocation_run *run;
    const struct tlc_external *external;
    struct tlc_arm_server server;
    struct tlc_arm_generator generator;
    char file[700]; // of the counts of a server that is not ours; empty: they are not counted
    bool counted;
    uint64_t answered;
};

static bool counts_as(const struct keeper *keeper, const char *how)
{
    const char *counted = keeper->external->server->allocations;
    return counted && !strcmp(counted, how);
}

static enum tlc_status start_external(struct keeper *keeper, struct tlc_error *error)
{
    char work[600], log[600], module[4096], preload[4200], file[800];
    const char *environment[] = {NULL, NULL, NULL};
    const char *folder = keeper->run->setup->work_directory;
    json_t *command = NULL;
    snprintf(work, sizeof work, "%.500s/server-held", folder);
    snprintf(log, sizeof log, "%.500s/server-held.log", folder);
    keeper->counted = counts_as(keeper, "own") || counts_as(keeper, "preload");
    if (keeper->counted) {
        snprintf(keeper->file, sizeof keeper->file, "%.500s/server-held.allocations", folder);
        remove(keeper->file);
        snprintf(file, sizeof file, TLC_ALLOCATIONS_VARIABLE "=%s", keeper->file);
        environment[0] = file;
    }
    if (counts_as(keeper, "preload")) {
        if (tlc_allocations_module(module, sizeof module, error) != TLC_OK)
            return error->status;
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", module);
        environment[1] = preload;
    }
    const struct tlc_external_run run = {.arm = keeper->run->arm,
                                         .external = keeper->external,
                                         .certificates = keeper->run->certificates,
                                         .work = work,
                                         .log = log,
                                         .cpus = &keeper->run->setup->server_cpus,
                                         .environment = environment};
    enum tlc_status status =
        tlc_external_start(&run, &keeper->server.process, keeper->server.address,
                           sizeof keeper->server.address, &command, error);
    json_decref(command);
    return status;
}

static enum tlc_status start_server(struct keeper *keeper, struct tlc_error *error)
{
    if (keeper->external)
        return start_external(keeper, error);
    keeper->counted = true;
    return tlc_arm_counted_server(keeper->run, &keeper->server, error);
}

static enum tlc_status ask(struct keeper *keeper, json_t *command, json_t **answer,
                           struct tlc_error *error)
{
    return tlc_arm_generator_ask(&keeper->generator, command, ANSWER_MS, answer, error);
}

static enum tlc_status start_generator(struct keeper *keeper, struct tlc_error *error)
{
    char log[600];
    struct tlc_target_options target;
    struct tlc_arm_loan loan;
    const struct tlc_allocation_run *run = keeper->run;
    const struct tlc_arm_peer peer = {.plugin = run->plugin,
                                      .address = keeper->server.address,
                                      .certificates = run->certificates,
                                      .evidence = run->evidence};
    snprintf(log, sizeof log, "%.500s/generator-held.log", run->setup->work_directory);
    enum tlc_status status =
        tlc_arm_generator_start(&run->setup->generator_cpus, NULL, log, &keeper->generator, error);
    if (status == TLC_OK)
        status = tlc_arm_target(run->arm, &peer, &loan, &target, error);
    if (status != TLC_OK)
        return status;
    target.split_every = 0; // that is a matter of time, not of memory
    json_t *answer = NULL;
    status = ask(keeper,
                 json_pack("{s:s, s:i, s:o}", "command", "prepare", "id", 0, "target",
                           tlc_target_options_to_json(&target)),
                 &answer, error);
    json_decref(answer);
    tlc_certs_pair_free(&loan.client);
    return status;
}

// What the server has counted and holds, once it has done what it was asked. `open`: connections
// that are kept, so that it is not waited until all are gone.
static enum tlc_status read_server(struct keeper *keeper, bool open, struct tlc_allocations *counts,
                                   uint64_t *memory_bytes, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    *counts = (struct tlc_allocations){0};
    if (keeper->external) {
        tlc_external_settle(keeper->server.process.pid, EXTERNAL_SETTLE_MS);
        if (keeper->counted)
            status = tlc_allocations_read_file(keeper->file, counts, error);
    } else {
        json_t *counters = NULL;
        status = tlc_arm_server_settle(&keeper->server, open ? 0 : keeper->answered,
                                       open ? 1 : SETTLE_MS, &counters, error);
        if (status == TLC_OK)
            tlc_arm_counted(counters, counts);
        json_decref(counters);
    }
    *memory_bytes = tlc_tree_memory_bytes(keeper->server.process.pid);
    return status;
}

// So many handshakes one after the other; *answered are those that reached their stop point.
static enum tlc_status send_hellos(struct keeper *keeper, unsigned count, uint64_t *answered,
                                   struct tlc_error *error)
{
    json_t *answer = NULL;
    enum tlc_status status = ask(keeper,
                                 json_pack("{s:s, s:i, s:i, s:i}", "command", "slice", "id", 0,
                                           "count", (int)count, "concurrency", 1),
                                 &answer, error);
    keeper->answered += count;
    if (status == TLC_OK)
        *answered = (uint64_t)json_integer_value(
            json_object_get(json_object_get(answer, "counters"), "stopped"));
    json_decref(answer);
    return status;
}

static enum tlc_status count_hellos(struct keeper *keeper, json_t *told, struct tlc_error *error)
{
    struct tlc_allocations before, after;
    uint64_t answered = 0, memory;
    enum tlc_status status = send_hellos(keeper, UNCOUNTED, &answered, error);
    if (status == TLC_OK)
        status = read_server(keeper, false, &before, &memory, error);
    if (status == TLC_OK)
        status = send_hellos(keeper, COUNTED, &answered, error);
    if (status == TLC_OK)
        status = read_server(keeper, false, &after, &memory, error);
    if (status == TLC_OK && answered != COUNTED)
        status = tlc_fail(error, TLC_REFUSED, "%llu of %d ClientHellos were answered",
                          (unsigned long long)answered, COUNTED);
    if (status != TLC_OK)
        return status;
    json_object_set_new(told, "hellos", json_integer(COUNTED));
    json_object_set_new(told, "allocations",
                        keeper->counted ? tlc_allocations_per_handshake(&before, &after, COUNTED)
                                        : json_null());
    return TLC_OK;
}

static json_t *each(double growth, bool known, unsigned count)
{
    return known ? json_real(growth / count) : json_null();
}

static double grown(uint64_t after, uint64_t before)
{
    return (double)(int64_t)(after - before); // less is possible
}

// Opens the connections, and what the server holds more for them.
static enum tlc_status fill(struct keeper *keeper, unsigned count, json_t *told,
                            struct tlc_error *error)
{
    struct tlc_allocations before, after;
    uint64_t memory_before, memory_after;
    json_t *answer = NULL;
    enum tlc_status status = read_server(keeper, false, &before, &memory_before, error);
    if (status == TLC_OK)
        status = ask(keeper,
                     json_pack("{s:s, s:i, s:i}", "command", "hold", "id", 0, "count", (int)count),
                     &answer, error);
    if (status == TLC_OK)
        status = read_server(keeper, true, &after, &memory_after, error);
    if (status == TLC_OK) {
        const json_t *held = json_object_get(answer, "held");
        json_object_set_new(told, "held", json_integer((json_int_t)count));
        json_object_set_new(told, "heap_bytes",
                            each(grown(after.held, before.held), keeper->counted, count));
        json_object_set_new(told, "memory_bytes",
                            each(grown(memory_after, memory_before), true, count));
        json_object_set_new(
            told, "bytes_in",
            each(json_number_value(json_object_get(held, "bytes_sent")), true, count));
    }
    json_decref(answer);
    return status;
}

static enum tlc_status watch(struct keeper *keeper, unsigned count, json_t *told,
                             struct tlc_error *error)
{
    static const char *const members[] = {"closed", "first_us", "median_us", "last_us"};
    json_t *answer = NULL;
    unsigned wait_us = keeper->run->arm->hold_for_us;
    enum tlc_status status =
        tlc_arm_generator_ask(&keeper->generator,
                              json_pack("{s:s, s:i, s:I}", "command", "await-ends", "id", 0,
                                        "duration_us", (json_int_t)wait_us),
                              (int)(wait_us / 1000) + TLC_ANSWER_MARGIN_MS, &answer, error);
    if (status != TLC_OK)
        return status;
    const json_t *held = json_object_get(answer, "held");
    json_object_set_new(told, "waited_us", json_integer((json_int_t)wait_us));
    // By now what was under way has come: the whole flight.
    json_object_set_new(
        told, "bytes_out",
        each(json_number_value(json_object_get(held, "bytes_received")), true, count));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(told, members[i], json_object_get(held, members[i]));
    json_decref(answer);
    return TLC_OK;
}

enum tlc_status tlc_arm_hold(const struct tlc_allocation_run *run,
                             const struct tlc_external *external, json_t **told,
                             struct tlc_error *error)
{
    struct keeper keeper = {.run = run,
                            .external = external,
                            .server = {.process = {.control = -1}},
                            .generator = {.process = {.control = -1}}};
    *told = json_object();
    enum tlc_status status = start_server(&keeper, error);
    if (status == TLC_OK)
        status = start_generator(&keeper, error);
    if (status == TLC_OK)
        status = count_hellos(&keeper, *told, error);
    if (status == TLC_OK)
        status = fill(&keeper, run->arm->hold, *told, error);
    if (status == TLC_OK)
        status = watch(&keeper, run->arm->hold, *told, error);
    if (status != TLC_OK) {
        tlc_fail_prefix(error, "hold");
        json_decref(*told);
        *told = NULL;
    }
    tlc_arm_generator_stop(&keeper.generator);
    tlc_arm_server_stop(&keeper.server);
    return status;
}
