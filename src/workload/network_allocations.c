#include "workload/network_allocations.h"

#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "measure/allocations.h"
#include "workload/network_generator.h"
#include "workload/network_server.h"
#include "workload/network_target.h"

// What libraries set up once is left to the first handshakes, which do not count.
enum { UNCOUNTED = 32, COUNTED = 128, ANSWER_MS = 30000, SETTLE_MS = 2000 };

enum tlc_status tlc_arm_counted_server(const struct tlc_allocation_run *run,
                                       struct tlc_arm_server *server, struct tlc_error *error)
{
    char log[600], options[600];
    struct tlc_arm counted = *run->arm;
    snprintf(log, sizeof log, "%s/server-allocations.log", run->setup->work_directory);
    snprintf(options, sizeof options, "%.500s --count-allocations",
             counted.serve_options ? counted.serve_options : "");
    counted.serve_options = options;
    const struct tlc_arm_place place = {.cpus = &run->setup->server_cpus, .listen = "127.0.0.1:0"};
    return tlc_arm_server_start(&counted, run->certificates, &place, log, server, error);
}

static enum tlc_status start_generator(const struct tlc_allocation_run *run,
                                       struct tlc_arm_generator *generator, struct tlc_error *error)
{
    const char *const arguments[] = {tlc_program_path(), "load", "--control", "--count-allocations",
                                     NULL};
    const struct tlc_process_options options = {.arguments = arguments,
                                                .cpus = &run->setup->generator_cpus,
                                                .control = true,
                                                .log = generator->log};
    snprintf(generator->log, sizeof generator->log, "%s/generator-allocations.log",
             run->setup->work_directory);
    return tlc_process_start(&options, &generator->process, error);
}

static enum tlc_status prepare(const struct tlc_allocation_run *run, const char *address,
                               struct tlc_arm_generator *generator, struct tlc_error *error)
{
    struct tlc_target_options target;
    struct tlc_arm_loan loan;
    const struct tlc_arm_peer peer = {.plugin = run->plugin,
                                      .address = address,
                                      .certificates = run->certificates,
                                      .evidence = run->evidence};
    enum tlc_status status = tlc_arm_target(run->arm, &peer, &loan, &target, error);
    if (status != TLC_OK)
        return status;
    // The lean engine allocates nothing for a handshake, which would tell nothing of a client.
    target.engine = TLC_ENGINE_FULL;
    target.share = TLC_SHARE_HONEST;
    json_t *answer, *command = json_pack("{s:s, s:i, s:o}", "command", "prepare", "id", 0, "target",
                                         tlc_target_options_to_json(&target));
    tlc_certs_pair_free(&loan.client);
    status = tlc_arm_generator_ask(generator, command, ANSWER_MS, &answer, error);
    json_decref(answer);
    return status;
}

// One slice; *client gets what the generator counted, *server the server's counters at its end.
static enum tlc_status run_slice(struct tlc_arm_generator *generator, struct tlc_arm_server *server,
                                 unsigned count, uint64_t answered, json_t **client,
                                 json_t **counters, struct tlc_error *error)
{
    json_t *answer, *command = json_pack("{s:s, s:i, s:i, s:i}", "command", "slice", "id", 0,
                                         "count", (int)count, "concurrency", 1);
    *client = *counters = NULL;
    enum tlc_status status = tlc_arm_generator_ask(generator, command, ANSWER_MS, &answer, error);
    if (status == TLC_OK)
        status = tlc_arm_server_settle(server, answered, SETTLE_MS, counters, error);
    if (status == TLC_OK)
        *client = json_incref(json_object_get(answer, "allocations"));
    json_decref(answer);
    return status;
}

static void read_counts(const json_t *counters, struct tlc_allocations *counts,
                        uint64_t *handshakes)
{
    tlc_allocations_from_json(json_object_get(counters, "allocations"), counts);
    *handshakes = (uint64_t)json_integer_value(
        json_object_get(json_object_get(counters, "totals"), "handshakes"));
}

static enum tlc_status count(struct tlc_arm_generator *generator, struct tlc_arm_server *server,
                             json_t **counted, struct tlc_error *error)
{
    json_t *client[2] = {NULL, NULL}, *counters[2] = {NULL, NULL};
    struct tlc_allocations before, after;
    uint64_t first, last;
    enum tlc_status status =
        run_slice(generator, server, UNCOUNTED, UNCOUNTED, &client[0], &counters[0], error);
    if (status == TLC_OK)
        status = run_slice(generator, server, COUNTED, UNCOUNTED + COUNTED, &client[1],
                           &counters[1], error);
    if (status == TLC_OK) {
        read_counts(counters[0], &before, &first);
        read_counts(counters[1], &after, &last);
        if (last - first != COUNTED || !json_is_object(client[1]))
            status = tlc_fail(error, TLC_REFUSED, "%llu handshakes of %d were counted",
                              (unsigned long long)(last - first), COUNTED);
    }
    if (status == TLC_OK)
        *counted = json_pack("{s:i, s:o, s:O}", "handshakes", COUNTED, "server",
                             tlc_allocations_per_handshake(&before, &after, last - first), "client",
                             client[1]);
    for (size_t i = 0; i < 2; i++) {
        json_decref(client[i]);
        json_decref(counters[i]);
    }
    return status;
}

enum tlc_status tlc_arm_count_allocations(const struct tlc_allocation_run *run, json_t **counted,
                                          struct tlc_error *error)
{
    struct tlc_arm_server server = {.process = {.control = -1}};
    struct tlc_arm_generator generator = {.process = {.control = -1}};
    *counted = NULL;
    enum tlc_status status = tlc_arm_counted_server(run, &server, error);
    if (status == TLC_OK)
        status = start_generator(run, &generator, error);
    if (status == TLC_OK)
        status = prepare(run, server.address, &generator, error);
    if (status == TLC_OK)
        status = count(&generator, &server, counted, error);
    if (status != TLC_OK)
        tlc_fail_prefix(error, "count allocations");
    tlc_arm_generator_stop(&generator);
    tlc_arm_server_stop(&server);
    return status;
}
