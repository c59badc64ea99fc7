#include "workload/network_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/message.h"
#include "certs/certs.h"
#include "workload/arm_mask.h"

enum { START_MS = 20000, STOP_MS = 2000, ANSWER_MS = 2000, MAX_ARGUMENTS = 64 };

// A growing argument list whose numbers are printed into its own store.
struct arguments {
    const char *list[MAX_ARGUMENTS];
    size_t count;
    char numbers[8][24];
    size_t numbers_used;
    char words[512], timeout[32];
};

static void add(struct arguments *to, const char *option, const char *value)
{
    to->list[to->count++] = option;
    if (value)
        to->list[to->count++] = value;
}

static void add_number(struct arguments *to, const char *option, long value)
{
    char *text = to->numbers[to->numbers_used++];
    snprintf(text, sizeof to->numbers[0], "%ld", value);
    add(to, option, text);
}

// The plan's own options come last, so that they win.
static void add_words(struct arguments *to, const char *words)
{
    char *rest = NULL;
    snprintf(to->words, sizeof to->words, "%s", words ? words : "");
    for (char *word = strtok_r(to->words, " ", &rest); word && to->count < MAX_ARGUMENTS - 1;
         word = strtok_r(NULL, " ", &rest))
        to->list[to->count++] = word;
}

static void add_trace(const struct tlc_arm *arm, const char *file, struct arguments *to)
{
    if (!strcmp(arm->trace, "none"))
        return;
    add(to, "--trace", arm->trace);
    if (file)
        add(to, "--trace-file", file);
}

static void serve_arguments(const struct tlc_arm *arm, const char *certificates,
                            const struct tlc_arm_place *place, const char *ticket_keys,
                            struct arguments *to)
{
    add(to, tlc_program_path(), "serve");
    add(to, "--control", NULL);
    add(to, "--listen", place->listen);
    add(to, "--certs", certificates);
    add(to, "--cert", arm->certificate);
    add(to, "--stack", arm->stack);
    add(to, "--groups", arm->groups);
    add(to, "--version", arm->version);
    add(to, "--accept", arm->accept);
    if (arm->cipher)
        add(to, "--ciphers", arm->cipher);
    if (arm->alpn)
        add(to, "--alpn", arm->alpn);
    add_number(to, "--workers", (long)arm->workers);
    if (!strcmp(arm->resumption, "session-id"))
        add(to, "--tickets", "stateful");
    else if (arm->tickets >= 0)
        add_number(to, "--tickets", arm->tickets);
    if (!strncmp(arm->resumption, "psk_", 4))
        add(to, "--psk-modes", arm->resumption);
    // A file that is to be rotated is made when it is missing; a year is longer than any block.
    if (*ticket_keys) {
        add(to, "--ticket-keys", ticket_keys);
        add(to, "--rotate", "8000h");
    } else if (!strncmp(arm->event, "rotate", 6)) {
        add(to, "--keep", "2");
    }
    if (arm->handshake_timeout_us) {
        snprintf(to->timeout, sizeof to->timeout, "%uus", arm->handshake_timeout_us);
        add(to, "--handshake-timeout", to->timeout);
    }
    if (arm->cookie)
        add(to, "--cookie", NULL);
    if (arm->client_auth)
        add(to, "--client-auth", "require");
    if (arm->names)
        add_number(to, "--names", (long)arm->names);
    if (arm->burn_us && !strcmp(arm->burn_in, "state-machine"))
        add_number(to, "--burn-us", (long)arm->burn_us);
    if (arm->provider)
        add(to, "--provider", arm->provider);
    add_trace(arm, place->trace_file, to);
    add_words(to, arm->serve_options);
    to->list[to->count] = NULL;
}

void tlc_log_tail(const char *log, char *text, size_t capacity)
{
    text[0] = '\0';
    FILE *file = fopen(log, "re");
    if (!file)
        return;
    if (fseek(file, -(long)(capacity - 1), SEEK_END))
        rewind(file);
    size_t got = fread(text, 1, capacity - 1, file);
    fclose(file);
    while (got && (text[got - 1] == '\n' || text[got - 1] == ' '))
        got--;
    text[got] = '\0';
    tlc_json_fit(text);
}

static enum tlc_status start_failed(struct tlc_arm_server *server, const struct tlc_arm *arm,
                                    const char *log, struct tlc_error *error)
{
    char said[512];
    tlc_arm_server_stop(server);
    tlc_log_tail(log, said, sizeof said);
    return tlc_fail(error, TLC_ENVIRONMENT, "start the server of arm '%s': %s", arm->name,
                    said[0] ? said : "it ended without a word");
}

enum tlc_status tlc_arm_server_start(const struct tlc_arm *arm, const char *certificates,
                                     const struct tlc_arm_place *place, const char *log,
                                     struct tlc_arm_server *server, struct tlc_error *error)
{
    struct arguments arguments = {0};
    struct tlc_arm_mask mask;
    server->ticket_keys[0] = '\0';
    if (!strcmp(arm->event, "reload"))
        snprintf(server->ticket_keys, sizeof server->ticket_keys, "%s.keys", log);
    serve_arguments(arm, certificates, place, server->ticket_keys, &arguments);
    struct tlc_process_options options = {.arguments = arguments.list,
                                          .cpus = place->cpus,
                                          .namespaces = place->namespaces,
                                          .environment = tlc_arm_mask_environment(arm, &mask),
                                          .control = true,
                                          .log = log};
    remove(log);
    server->address[0] = '\0';
    json_decref(server->processor);
    server->processor = NULL;
    enum tlc_status status = tlc_process_start(&options, &server->process, error);
    if (status != TLC_OK)
        return status;
    json_t *ready = NULL;
    if (tlc_message_receive(server->process.control, START_MS, &ready, error) != TLC_OK)
        return start_failed(server, arm, log, error);
    const char *address = json_string_value(json_object_get(ready, "address"));
    if (address)
        snprintf(server->address, sizeof server->address, "%s", address);
    server->processor = json_incref(json_object_get(ready, "processor"));
    json_decref(ready);
    return address ? TLC_OK : start_failed(server, arm, log, error);
}

enum tlc_status tlc_arm_server_settle(struct tlc_arm_server *server, uint64_t handshakes,
                                      unsigned timeout_ms, json_t **counters,
                                      struct tlc_error *error)
{
    json_t *ask = json_pack("{s:s, s:I, s:i}", "command", "settled", "handshakes",
                            (json_int_t)handshakes, "timeout_ms", (int)timeout_ms);
    enum tlc_status status = tlc_message_send(server->process.control, ask, error);
    json_decref(ask);
    if (status == TLC_OK)
        status =
            tlc_message_receive(server->process.control, (int)timeout_ms + 2000, counters, error);
    return status;
}

// Sends a command, whose reference it takes, and waits until it is carried out; *answer is the
// caller's.
static enum tlc_status ask_server(struct tlc_arm_server *server, json_t *ask, json_t **answer,
                                  struct tlc_error *error)
{
    char command[32];
    snprintf(command, sizeof command, "%s", json_string_value(json_object_get(ask, "command")));
    enum tlc_status status = tlc_message_send(server->process.control, ask, error);
    json_decref(ask);
    if (status == TLC_OK)
        status = tlc_message_receive(server->process.control, ANSWER_MS, answer, error);
    if (status != TLC_OK)
        return status;
    const char *refused = json_string_value(json_object_get(*answer, "error"));
    if (!refused)
        return TLC_OK;
    status = tlc_fail(error, TLC_ENVIRONMENT, "%s: %s", command, refused);
    json_decref(*answer);
    return status;
}

static enum tlc_status tell_server(struct tlc_arm_server *server, json_t *ask,
                                   struct tlc_error *error)
{
    json_t *answer;
    enum tlc_status status = ask_server(server, ask, &answer, error);
    if (status == TLC_OK)
        json_decref(answer);
    return status;
}

enum tlc_status tlc_arm_server_burn(struct tlc_arm_server *server, unsigned burn_us,
                                    struct tlc_error *error)
{
    json_t *ask = json_pack("{s:s, s:I}", "command", "burn", "us", (json_int_t)burn_us);
    return tell_server(server, ask, error);
}

enum tlc_status tlc_arm_server_charge(struct tlc_arm_server *server, unsigned us, double *charge,
                                      struct tlc_error *error)
{
    json_t *answer, *ask = json_pack("{s:s, s:I}", "command", "charge", "us", (json_int_t)us);
    enum tlc_status status = ask_server(server, ask, &answer, error);
    if (status != TLC_OK)
        return status;
    *charge = json_number_value(json_object_get(answer, "charge"));
    json_decref(answer);
    return *charge > 0 ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "charge: no number");
}

enum tlc_status tlc_arm_server_event(struct tlc_arm_server *server, const char *event,
                                     struct tlc_error *error)
{
    static const char rotate[] = "rotate-";
    json_t *ask;
    if (!strcmp(event, "watch"))
        return TLC_OK;
    if (!strcmp(event, "reload"))
        ask = json_pack("{s:s, s:s}", "command", "ticket-keys", "file", server->ticket_keys);
    else
        ask = json_pack("{s:s, s:s}", "command", "rotate", "how",
                        strncmp(event, rotate, strlen(rotate)) ? "safe" : event + strlen(rotate));
    return tell_server(server, ask, error);
}

uint64_t tlc_arm_provider_work(const json_t *counters)
{
    return (uint64_t)json_integer_value(
        json_object_get(json_object_get(counters, "provider"), "work"));
}

void tlc_arm_server_stop(struct tlc_arm_server *server)
{
    if (server->process.pid > 0 && server->process.control >= 0) {
        json_t *stop = json_pack("{s:s}", "command", "stop");
        struct tlc_error ignored;
        if (tlc_message_send(server->process.control, stop, &ignored) != TLC_OK)
            kill(server->process.pid, SIGTERM);
        json_decref(stop);
    }
    tlc_process_stop(&server->process, STOP_MS);
    json_decref(server->processor);
    server->processor = NULL;
}
