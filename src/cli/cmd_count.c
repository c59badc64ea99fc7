// tlscost count: what a handshake takes of each side, under callgrind or with performance events.
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/count.h"
#include "cli/share.h"
#include "measure/instructions.h"
#include "measure/machine.h"
#include "result/result.h"

struct options {
    struct tlc_count_options count;
    const char *against, *output;
    double fail_above;
    bool json;
    struct tlc_error error;
};

enum {
    KEY_BY = 256,
    KEY_EVENT,
    KEY_STACK,
    KEY_CERT,
    KEY_GROUPS,
    KEY_SHARE,
    KEY_TICKETS,
    KEY_COUNT,
    KEY_REPEATS,
    KEY_TOP,
    KEY_TIMEOUT,
    KEY_AGAINST,
    KEY_FAIL_ABOVE,
    KEY_JSON
};

static const struct argp_option argp_options[] = {
    {"by", KEY_BY, "METHOD", 0, "What counts: callgrind (default), or perf: hardware counters", 0},
    {"event", KEY_EVENT, "NAME", 0, "With --by perf: " TLC_EVENT_KINDS " (default instructions)",
     0},
    {"stack", KEY_STACK, "NAME", 0, "TLS library of the server (default openssl)", 0},
    {"cert", KEY_CERT, "NAME", 0, "Certificate (default ecdsa-p256)", 0},
    {"groups", KEY_GROUPS, "GROUP", 0, "Key exchange group (default X25519MLKEM768)", 0},
    {"share", KEY_SHARE, "HOW", 0, "Key shares of the client: honest (default), reused, cheap", 0},
    {"tickets", KEY_TICKETS, "N", 0, "Tickets after a handshake, or off (default: the library's)",
     0},
    {"count", KEY_COUNT, "N", 0,
     "Handshakes of the short runs; long ones have 3 N (default 20, by perf 500)", 0},
    {"repeats", KEY_REPEATS, "N", 0, "Pairs of runs, whose spread is told (default 2)", 0},
    {"top", KEY_TOP, "N", 0, "Functions told for each side, by callgrind (default 10)", 0},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Of each step (default 5min)", 0},
    {"against", KEY_AGAINST, "FILE", 0, "Set beside a count that was stored with -o", 0},
    {"fail-above", KEY_FAIL_ABOVE, "SHARE", 0,
     "With --against: exit code 4 when a side takes more than this more, for example 1%", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 0},
    {"output", 'o', "FILE", 0, "Write the JSON document to FILE as well", 0},
    {0},
};

static void take_timeout(struct argp_state *state, const char *text)
{
    struct options *options = state->input;
    uint64_t us = 0;
    if (tlc_parse_duration(text, &us, &options->error) != TLC_OK)
        argp_error(state, "%s", options->error.text);
    else if (us < 1000000 || us > 86400000000)
        argp_error(state, "--timeout '%s': not between 1s and 24h", text);
    options->count.timeout_ms = (int)(us / 1000);
}

static void take_method(struct argp_state *state, const char *name)
{
    struct options *options = state->input;
    options->count.method = tlc_count_method(name);
    if (!options->count.method)
        argp_error(state, "--by '%s': neither callgrind nor perf", name);
}

static void take_event(struct argp_state *state, const char *name)
{
    struct options *options = state->input;
    options->count.event.kind = tlc_event_kind(name);
    if (!options->count.event.kind)
        argp_error(state, "--event '%s': none of " TLC_EVENT_KINDS, name);
}

static error_t parse_text(int key, char *argument, struct options *options)
{
    const struct {
        int key;
        const char **value;
    } texts[] = {{KEY_STACK, &options->count.stack},
                 {KEY_CERT, &options->count.certificate},
                 {KEY_GROUPS, &options->count.groups},
                 {KEY_SHARE, &options->count.share},
                 {KEY_TICKETS, &options->count.tickets},
                 {KEY_AGAINST, &options->against},
                 {'o', &options->output}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].key == key) {
            *texts[i].value = argument;
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_BY:
        take_method(state, argument);
        return 0;
    case KEY_EVENT:
        take_event(state, argument);
        return 0;
    case KEY_COUNT:
        tlc_take_number(state, "--count", argument, 1, 10000, &options->count.handshakes);
        return 0;
    case KEY_REPEATS:
        tlc_take_number(state, "--repeats", argument, 1, 20, &options->count.repeats);
        return 0;
    case KEY_TOP:
        tlc_take_number(state, "--top", argument, 0, 1000, &options->count.top);
        return 0;
    case KEY_TIMEOUT:
        take_timeout(state, argument);
        return 0;
    case KEY_FAIL_ABOVE:
        if (!tlc_parse_share(argument, &options->fail_above))
            argp_error(state, "--fail-above '%s': not a share; write for example 1%%", argument);
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': not an option", argument);
        return 0;
    case ARGP_KEY_END:
        if (isfinite(options->fail_above) && !options->against)
            argp_error(state, "--fail-above: it needs --against FILE");
        return 0;
    default:
        return parse_text(key, argument, options);
    }
}

static const char documentation[] =
    "Count the instructions that a handshake takes on each side, by running server and client "
    "under valgrind's callgrind. Counts hardly move with the load of the machine, so a small "
    "change can be seen in CI. They are of user space alone, and of the code that libraries choose "
    "for valgrind's CPU; they are no times. With --by perf, hardware counters count both sides as "
    "they run, the kernel's work as well; without functions. docs/count.md tells how they are "
    "made."
    "\vExamples:\n"
    "  tlscost count\n"
    "  tlscost count --cert rsa-2048 -o base.json\n"
    "  tlscost count --cert rsa-2048 --against base.json --fail-above 1%\n"
    "  tlscost count --by perf --event cycles\n";

static json_t *configuration_json(const struct tlc_count_options *options)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s?}", "stack", options->stack, "certificate",
                     options->certificate, "groups", options->groups, "share", options->share,
                     "tickets", options->tickets);
}

static enum tlc_status count(struct options *options, json_t *document, struct tlc_error *error)
{
    const char *against = options->against;
    json_t *stored = NULL;
    enum tlc_status status = tlc_count_settle(&options->count, document, error);
    if (status == TLC_OK && against)
        status = tlc_result_read(against, &stored, error);
    if (status == TLC_OK && against)
        status = tlc_count_check_stored(document, stored, against, error);
    if (status == TLC_OK)
        status = tlc_count_require(&options->count, document, error);
    if (status == TLC_OK && against)
        status = tlc_count_check_space(document, stored, against, error);
    if (status == TLC_OK)
        status = tlc_count_run(&options->count, document, error);
    if (status == TLC_OK && against)
        tlc_count_compare(document, stored, against, options->fail_above);
    json_decref(stored);
    return status;
}

int tlc_cmd_count(int argc, char **argv)
{
    struct options options = {.count = {.stack = "openssl",
                                        .certificate = "ecdsa-p256",
                                        .groups = "X25519MLKEM768",
                                        .share = "honest",
                                        .method = tlc_count_method("callgrind"),
                                        .repeats = 2,
                                        .top = 10,
                                        .timeout_ms = 300000},
                              .fail_above = NAN};
    const struct argp argp = {argp_options, parse_option, "", documentation, NULL, NULL, NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    json_t *document = tlc_result_new("count", tlc_machine_describe());
    json_object_set_new(document, "configuration", configuration_json(&options.count));
    json_object_set_new(document, "perf", tlc_instructions_describe());
    enum tlc_status status = count(&options, document, &error);
    if (status == TLC_OK && options.output)
        status = tlc_result_write(document, options.output, &error);
    if (status == TLC_OK && options.json)
        tlc_print_json(document);
    else if (status == TLC_OK)
        tlc_count_print(document);
    if (status == TLC_OK)
        status = tlc_count_gate(document, options.against, options.fail_above, &error);
    json_decref(document);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
