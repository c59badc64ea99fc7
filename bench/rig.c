#include "bench/rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "measure/clock.h"

enum {
    READY_MS = 20000,
    SLICE_MS = 60000, // far above any slice: an answer that takes longer is a fault
    STOP_MS = 3000
};

static enum tlc_status take_ready(struct rig *rig, struct tlc_error *error)
{
    json_t *ready = NULL;
    enum tlc_status status = tlc_message_receive(rig->server.control, READY_MS, &ready, error);
    if (status != TLC_OK)
        return tlc_fail_prefix(error, "serve: not ready (its words are in %s)", rig->options.log);
    const char *address = json_string_value(json_object_get(ready, "address"));
    if (address && strlen(address) < sizeof rig->address)
        snprintf(rig->address, sizeof rig->address, "%s", address);
    else
        status = tlc_fail(error, TLC_ENVIRONMENT, "serve: its ready message has no address");
    rig->stack = json_incref(json_object_get(ready, "stack"));
    json_decref(ready);
    return status;
}

static enum tlc_status start_server(struct rig *rig, struct tlc_error *error)
{
    // The server's order decides, or its library would take AES-256 from whoever offers both: the
    // suite that every TLS 1.3 client must have (RFC 8446, 9.1), so that all clients use the same.
    static const char ciphers[] =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
    const struct rig_options *options = &rig->options;
    const char *const arguments[] = {options->program,
                                     "serve",
                                     "--control",
                                     "--listen",
                                     "127.0.0.1:0",
                                     "--workers",
                                     "1",
                                     "--cert",
                                     options->certificate,
                                     "--groups",
                                     options->group,
                                     "--ciphers",
                                     ciphers,
                                     "--version",
                                     "1.3",
                                     "--tickets",
                                     "off",
                                     "--alpn",
                                     "http/1.1",
                                     "--http",
                                     NULL};
    const struct tlc_process_options process = {
        .arguments = arguments, .cpus = options->server_cpus, .control = true, .log = options->log};
    enum tlc_status status = tlc_process_start(&process, &rig->server, error);
    return status == TLC_OK ? take_ready(rig, error) : status;
}

static enum tlc_status start_generator(struct rig *rig, struct tlc_error *error)
{
    const char *const arguments[] = {rig->options.program, "load", "--control", NULL};
    const struct tlc_process_options process = {.arguments = arguments,
                                                .cpus = rig->options.generator_cpus,
                                                .control = true,
                                                .log = rig->options.log};
    return tlc_process_start(&process, &rig->generator, error);
}

enum tlc_status rig_open(struct rig *rig, const struct rig_options *options,
                         struct tlc_error *error)
{
    *rig =
        (struct rig){.options = *options, .server = {.control = -1}, .generator = {.control = -1}};
    enum tlc_status status = start_server(rig, error);
    if (status == TLC_OK)
        status = start_generator(rig, error);
    if (status != TLC_OK)
        rig_close(rig);
    return status;
}

void rig_close(struct rig *rig)
{
    tlc_process_stop(&rig->generator, STOP_MS);
    tlc_process_stop(&rig->server, STOP_MS);
    json_decref(rig->stack);
    rig->stack = NULL;
}

static enum tlc_status ask(int control, json_t *request, json_t **answer, struct tlc_error *error)
{
    *answer = NULL;
    enum tlc_status status = tlc_message_send(control, request, error);
    json_decref(request);
    if (status == TLC_OK)
        status = tlc_message_receive(control, SLICE_MS, answer, error);
    const char *refused = json_string_value(json_object_get(*answer, "error"));
    if (status == TLC_OK && refused) {
        status = tlc_fail(error, TLC_ENVIRONMENT, "%s", refused);
        json_decref(*answer);
        *answer = NULL;
    }
    return status;
}

enum tlc_status rig_ask_generator(struct rig *rig, json_t *request, json_t **answer,
                                  struct tlc_error *error)
{
    enum tlc_status status = ask(rig->generator.control, request, answer, error);
    return status == TLC_OK ? status : tlc_fail_prefix(error, "load");
}

static uint64_t total(const json_t *answer, const char *name)
{
    json_t *totals = json_object_get(answer, "totals");
    return (uint64_t)json_integer_value(json_object_get(totals, name));
}

enum tlc_status rig_read(struct rig *rig, struct rig_reading *reading, struct tlc_error *error)
{
    json_t *answer;
    *reading = (struct rig_reading){.reasons = NULL};
    enum tlc_status status =
        ask(rig->server.control, json_pack("{s:s}", "command", "settled"), &answer, error);
    if (status != TLC_OK)
        return tlc_fail_prefix(error, "serve");
    if (!json_is_true(json_object_get(answer, "settled")))
        status = tlc_fail(error, TLC_ENVIRONMENT, "serve: connections stay open after a slice");
    reading->handshakes = total(answer, "handshakes");
    reading->resumed = total(answer, "resumed");
    reading->retries = total(answer, "hello_retry_requests");
    reading->failed = total(answer, "failed");
    reading->reasons = json_incref(json_object_get(answer, "failed"));
    json_decref(answer);
    reading->server_ns = tlc_process_cpu_ns(rig->server.pid);
    reading->generator_ns = tlc_process_cpu_ns(rig->generator.pid);
    if (status == TLC_OK)
        status = tlc_read_cpu_times(rig->options.server_cpus, &reading->server_cpus, error);
    if (status == TLC_OK)
        status = tlc_read_cpu_times(rig->options.generator_cpus, &reading->generator_cpus, error);
    if (status != TLC_OK)
        rig_reading_free(reading);
    return status;
}

void rig_reading_free(struct rig_reading *reading)
{
    json_decref(reading->reasons);
    reading->reasons = NULL;
}
