#include "workload/memory_process.h"

#include <stdio.h>

#include "base/message.h"
#include "workload/network_server.h"

enum { STOP_MS = 2000 };

enum tlc_status tlc_memory_start(struct tlc_memory_process *process, const cpu_set_t *cpus,
                                 const char *log, const char *const *environment,
                                 struct tlc_error *error)
{
    const char *const arguments[] = {tlc_program_path(), "pair", "--control", NULL};
    process->dead = false;
    snprintf(process->log, sizeof process->log, "%s", log);
    struct tlc_process_options options = {.arguments = arguments,
                                          .environment = environment,
                                          .cpus = cpus,
                                          .control = true,
                                          .log = process->log};
    return tlc_process_start(&options, &process->worker, error);
}

enum tlc_status tlc_memory_ask(struct tlc_memory_process *process, json_t *command, int timeout_ms,
                               json_t **answer, struct tlc_error *error)
{
    *answer = NULL;
    enum tlc_status status = tlc_message_send(process->worker.control, command, error);
    json_decref(command);
    if (status == TLC_OK)
        status = tlc_message_receive(process->worker.control, timeout_ms, answer, error);
    if (status != TLC_OK) {
        char said[400];
        tlc_log_tail(process->log, said, sizeof said);
        process->dead = true;
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

enum tlc_status tlc_memory_prepare(struct tlc_memory_process *process, json_t *plan,
                                   const char *certificates, json_t **evidence,
                                   struct tlc_error *error)
{
    json_t *answer;
    json_t *command = json_pack("{s:s, s:o, s:s}", "command", "prepare", "plan", plan,
                                "certificates", certificates);
    enum tlc_status status = tlc_memory_ask(process, command, TLC_MEMORY_ANSWER_MS, &answer, error);
    if (status != TLC_OK)
        return status;
    *evidence = json_incref(json_object_get(answer, "evidence"));
    json_decref(answer);
    return TLC_OK;
}

void tlc_memory_stop(struct tlc_memory_process *process)
{
    json_t *answer;
    struct tlc_error ignored;
    if (!process->dead && tlc_memory_ask(process, json_pack("{s:s}", "command", "stop"), STOP_MS,
                                         &answer, &ignored) == TLC_OK)
        json_decref(answer);
    tlc_process_stop(&process->worker, STOP_MS);
}

json_t *tlc_memory_plan(const struct tlc_plan *plan, size_t arm)
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
