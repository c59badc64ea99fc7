#include "workload/network_load.h"

#include <stdio.h>

#include "base/message.h"
#include "workload/network_server.h"

enum { ANSWER_MARGIN_MS = 15000, STOP_MS = 2000 };

enum tlc_status tlc_load_start(const cpu_set_t *cpus, const char *directory, unsigned index,
                               struct tlc_load *load, struct tlc_error *error)
{
    const char *const arguments[] = {tlc_program_path(), "load", "--control", NULL};
    struct tlc_process_options options = {
        .arguments = arguments, .cpus = cpus, .control = true, .log = load->log};
    if (index)
        snprintf(load->log, sizeof load->log, "%s/generator-%u.log", directory, index + 1);
    else
        snprintf(load->log, sizeof load->log, "%s/generator.log", directory);
    return tlc_process_start(&options, &load->process, error);
}

static enum tlc_status tell(struct tlc_load *load, json_t *command, struct tlc_error *error)
{
    enum tlc_status status = tlc_message_send(load->process.control, command, error);
    json_decref(command);
    return status;
}

// Takes an answer; an "error" member becomes the error.
static enum tlc_status hear(struct tlc_load *load, int timeout_ms, json_t **answer,
                            struct tlc_error *error)
{
    *answer = NULL;
    enum tlc_status status = tlc_message_receive(load->process.control, timeout_ms, answer, error);
    if (status != TLC_OK) {
        char said[400];
        tlc_log_tail(load->log, said, sizeof said);
        tlc_fail_prefix(error, "generator%s%s", said[0] ? ": " : "", said);
        return status;
    }
    const char *text = json_string_value(json_object_get(*answer, "error"));
    if (!text)
        return TLC_OK;
    status = (enum tlc_status)json_integer_value(json_object_get(*answer, "status"));
    status = tlc_fail(error, status ? status : TLC_ENVIRONMENT, "generator: %s", text);
    json_decref(*answer);
    *answer = NULL;
    return status;
}

static enum tlc_status ask(struct tlc_load *load, json_t *command, struct tlc_error *error)
{
    json_t *answer = NULL;
    enum tlc_status status = tell(load, command, error);
    if (status == TLC_OK)
        status = hear(load, ANSWER_MARGIN_MS, &answer, error);
    json_decref(answer);
    return status;
}

enum tlc_status tlc_load_prepare(struct tlc_load *load, json_int_t id,
                                 const struct tlc_target_options *target, struct tlc_error *error)
{
    return ask(load,
               json_pack("{s:s, s:I, s:o}", "command", "prepare", "id", id, "target",
                         tlc_target_options_to_json(target)),
               error);
}

void tlc_load_release(struct tlc_load *load, json_int_t id)
{
    struct tlc_error ignored;
    if (load->process.pid > 0 &&
        ask(load, json_pack("{s:s, s:I}", "command", "release", "id", id), &ignored) != TLC_OK)
        ignored.text[0] = '\0';
}

enum tlc_status tlc_load_begin(struct tlc_load *load, json_int_t id, uint64_t duration_us,
                               uint64_t count, unsigned concurrency, struct tlc_error *error)
{
    return tell(load,
                json_pack("{s:s, s:I, s:I, s:I, s:i, s:b}", "command", "slice", "id", id,
                          "duration_us", (json_int_t)duration_us, "count", (json_int_t)count,
                          "concurrency", (int)concurrency, "keep_latencies", 1),
                error);
}

enum tlc_status tlc_load_end(struct tlc_load *load, uint64_t duration_us,
                             struct tlc_counters *counters, struct tlc_error *error)
{
    json_t *answer = NULL;
    enum tlc_status status =
        hear(load, (int)(duration_us / 1000) + ANSWER_MARGIN_MS, &answer, error);
    if (status == TLC_OK)
        status = tlc_counters_from_json(json_object_get(answer, "counters"), counters, error);
    json_decref(answer);
    return status;
}

void tlc_load_stop(struct tlc_load *load)
{
    struct tlc_error ignored;
    if (load->process.pid > 0 &&
        tell(load, json_pack("{s:s}", "command", "stop"), &ignored) != TLC_OK)
        ignored.text[0] = '\0';
    tlc_process_stop(&load->process, STOP_MS);
}
