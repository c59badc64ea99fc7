#include "workload/company.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workload/arm_support.h"
#include "workload/memory_process.h"

// A burn of four times the longest of a calibration, for a sharper reading.
enum { BURN_US = 200, HANDSHAKES = 4, TURNS = 64 };

// The arm as one of the memory workload: what belongs to the network alone is left out.
static json_t *plan_in_memory(const struct tlc_plan *plan, size_t arm)
{
    json_t *json = tlc_memory_plan(plan, arm);
    json_t *alone = json_array_get(json_object_get(json, "arms"), 0);
    json_object_set_new(alone, "workload", json_string("memory"));
    json_object_set_new(alone, "engine", json_string("full"));
    json_object_set_new(alone, "share", json_string("honest"));
    return json;
}

static enum tlc_status read_one(struct tlc_memory_process *process, double *ratio,
                                struct tlc_error *error)
{
    json_t *answer;
    json_t *command = json_pack("{s:s, s:i, s:i, s:i}", "command", "company", "burn_us", BURN_US,
                                "handshakes", HANDSHAKES, "turns", TURNS);
    enum tlc_status status = tlc_memory_ask(process, command, TLC_MEMORY_ANSWER_MS, &answer, error);
    if (status != TLC_OK)
        return status;
    *ratio = json_number_value(json_object_get(answer, "company")) /
             json_number_value(json_object_get(answer, "alone"));
    json_decref(answer);
    return isfinite(*ratio) ? TLC_OK
                            : tlc_fail(error, TLC_ENVIRONMENT, "worker: company: no figure");
}

enum tlc_status tlc_company_measure(const struct tlc_workload_setup *setup, size_t arm,
                                    bool (*stopped)(void), double *ratios, size_t count,
                                    size_t *taken, struct tlc_error *error)
{
    char folder[512], log[600];
    struct tlc_memory_process process = {.worker = {.control = -1}};
    const struct tlc_arm *of = &setup->plan->arms[arm];
    json_t *evidence = NULL;
    *taken = 0;
    if (of->server)
        return tlc_fail(error, TLC_USAGE, "arm '%s': its server is no library in memory", of->name);
    snprintf(log, sizeof log, "%s/company.log", setup->work_directory);
    enum tlc_status status =
        tlc_arm_certificates(of, setup->certificate_directory, folder, sizeof folder, error);
    if (status == TLC_OK)
        status = tlc_memory_start(&process, &setup->server_cpus, log, NULL, error);
    if (status != TLC_OK)
        return status;
    status =
        tlc_memory_prepare(&process, plan_in_memory(setup->plan, arm), folder, &evidence, error);
    json_decref(evidence);
    while (status == TLC_OK && *taken < count && !(stopped && stopped())) {
        status = read_one(&process, &ratios[*taken], error);
        *taken += status == TLC_OK;
    }
    tlc_memory_stop(&process);
    return status == TLC_OK ? TLC_OK : tlc_fail_prefix(error, "arm '%s', in company", of->name);
}
