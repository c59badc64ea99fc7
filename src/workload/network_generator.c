#include "workload/network_generator.h"

#include <stdio.h>

#include "base/message.h"
#include "workload/network_server.h"

enum { STOP_MS = 2000 };

enum tlc_status tlc_arm_generator_start(const cpu_set_t *cpus, const int *namespaces,
                                        const char *log, struct tlc_arm_generator *generator,
                                        struct tlc_error *error)
{
    const char *const arguments[] = {tlc_program_path(), "load", "--control", NULL};
    struct tlc_process_options options = {.arguments = arguments,
                                          .cpus = cpus,
                                          .namespaces = namespaces,
                                          .control = true,
                                          .log = log};
    snprintf(generator->log, sizeof generator->log, "%s", log);
    return tlc_process_start(&options, &generator->process, error);
}

enum tlc_status tlc_arm_generator_tell(struct tlc_arm_generator *generator, json_t *command,
                                       struct tlc_error *error)
{
    enum tlc_status status = tlc_message_send(generator->process.control, command, error);
    json_decref(command);
    return status;
}

enum tlc_status tlc_arm_generator_hear(struct tlc_arm_generator *generator, int timeout_ms,
                                       json_t **answer, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    *answer = NULL;
    for (; status == TLC_OK && generator->owed; generator->owed--) {
        status = tlc_message_receive(generator->process.control, timeout_ms, answer, error);
        json_decref(*answer);
        *answer = NULL;
        if (status != TLC_OK)
            break;
    }
    if (status == TLC_OK)
        status = tlc_message_receive(generator->process.control, timeout_ms, answer, error);
    if (status != TLC_OK) {
        generator->owed++;
        char said[400];
        tlc_log_tail(generator->log, said, sizeof said);
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

enum tlc_status tlc_arm_generator_ask(struct tlc_arm_generator *generator, json_t *command,
                                      int timeout_ms, json_t **answer, struct tlc_error *error)
{
    *answer = NULL;
    enum tlc_status status = tlc_arm_generator_tell(generator, command, error);
    return status == TLC_OK ? tlc_arm_generator_hear(generator, timeout_ms, answer, error) : status;
}

void tlc_arm_generator_stop(struct tlc_arm_generator *generator)
{
    if (generator->process.pid > 0) {
        json_t *stop = json_pack("{s:s}", "command", "stop");
        struct tlc_error ignored;
        if (tlc_message_send(generator->process.control, stop, &ignored) != TLC_OK)
            ignored.text[0] = '\0';
        json_decref(stop);
    }
    tlc_process_stop(&generator->process, STOP_MS);
}
