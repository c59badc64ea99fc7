// tlscost count: instructions of each side of a handshake, under callgrind.
#include <argp.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
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
    KEY_STACK = 256,
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
    {"stack", KEY_STACK, "NAME", 0, "TLS library of the server (default openssl)", 0},
    {"cert", KEY_CERT, "NAME", 0, "Certificate (default ecdsa-p256)", 0},
    {"groups", KEY_GROUPS, "GROUP", 0, "Key exchange group (default X25519MLKEM768)", 0},
    {"share", KEY_SHARE, "HOW", 0, "Key shares of the client: honest (default), reused, cheap", 0},
    {"tickets", KEY_TICKETS, "N", 0, "Tickets after a handshake, or off (default: the library's)",
     0},
    {"count", KEY_COUNT, "N", 0, "Handshakes of the short runs; long ones have 3 N (default 20)",
     0},
    {"repeats", KEY_REPEATS, "N", 0, "Pairs of runs, whose spread is told (default 2)", 0},
    {"top", KEY_TOP, "N", 0, "Functions told for each side (default 10)", 0},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Of each step (default 5min)", 0},
    {"against", KEY_AGAINST, "FILE", 0, "Set beside a count that was stored with -o", 0},
    {"fail-above", KEY_FAIL_ABOVE, "SHARE", 0,
     "With --against: exit code 4 when a side takes more than this more, for example 1%", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 0},
    {"output", 'o', "FILE", 0, "Write the JSON document to FILE as well", 0},
    {0},
};

static void take_number(struct argp_state *state, const char *name, const char *text, uint64_t low,
                        uint64_t high, uint64_t *value)
{
    struct options *options = state->input;
    if (tlc_parse_number(name, text, low, high, value, &options->error) != TLC_OK)
        argp_error(state, "%s", options->error.text);
}

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
    case KEY_COUNT:
        take_number(state, "--count", argument, 1, 10000, &options->count.handshakes);
        return 0;
    case KEY_REPEATS:
        take_number(state, "--repeats", argument, 1, 20, &options->count.repeats);
        return 0;
    case KEY_TOP:
        take_number(state, "--top", argument, 0, 1000, &options->count.top);
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
    "change "
    "can be seen in CI. They are of user space alone, and of the code that libraries choose for "
    "valgrind's CPU; they are no times. docs/count.md tells how they are made."
    "\vExamples:\n"
    "  tlscost count\n"
    "  tlscost count --cert rsa-2048 -o base.json\n"
    "  tlscost count --cert rsa-2048 --against base.json --fail-above 1%\n";

static enum tlc_status require_valgrind(json_t *document, struct tlc_error *error)
{
    static const char *const arguments[] = {"valgrind", "--version", NULL};
    struct tlc_error ignored;
    char *version = NULL;
    int code = 0;
    if (tlc_process_output(arguments, 30000, &version, &code, &ignored) != TLC_OK || code) {
        free(version);
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "count: valgrind: not found; install it, for example: apt-get install "
                        "valgrind");
    }
    version[strcspn(version, "\n")] = '\0';
    json_object_set_new(document, "valgrind", json_string(version));
    free(version);
    return TLC_OK;
}

static json_t *configuration_json(const struct tlc_count_options *options)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s?}", "stack", options->stack, "certificate",
                     options->certificate, "groups", options->groups, "share", options->share,
                     "tickets", options->tickets);
}

static const json_t *side_of(const json_t *document, const char *side)
{
    return json_object_get(json_object_get(document, "sides"), side);
}

static double number_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *const side_names[] = {"server", "client"};

static enum tlc_status check_stored(const json_t *document, const json_t *stored, const char *path,
                                    struct tlc_error *error)
{
    const char *command = json_string_value(json_object_get(stored, "command"));
    if (!command || strcmp(command, "count"))
        return tlc_fail(error, TLC_USAGE, "count: --against %s: not a result of 'count'", path);
    if (!json_equal(json_object_get(document, "configuration"),
                    json_object_get(stored, "configuration")))
        return tlc_fail(error, TLC_USAGE,
                        "count: --against %s: it counted another configuration; give the same "
                        "options",
                        path);
    for (int i = 0; i < 2; i++)
        if (!(number_of(side_of(stored, side_names[i]), "instructions_per_handshake") > 0))
            return tlc_fail(error, TLC_USAGE, "count: --against %s: sides.%s: no count", path,
                            side_names[i]);
    return TLC_OK;
}

// The ratio of each side to the stored one. A gate is crossed when the ratio lies above it by more
// than both spreads.
static void add_comparison(json_t *document, const json_t *stored, const struct options *options)
{
    json_t *against = json_object();
    for (int i = 0; i < 2; i++) {
        const json_t *now = side_of(document, side_names[i]);
        const json_t *then = side_of(stored, side_names[i]);
        double ratio = number_of(now, "instructions_per_handshake") /
                       number_of(then, "instructions_per_handshake");
        double slack = number_of(now, "spread") + number_of(then, "spread");
        slack = isfinite(slack) ? slack : 0;
        bool crossed =
            isfinite(options->fail_above) && ratio * (1 - slack) > 1 + options->fail_above;
        json_object_set_new(against, side_names[i],
                            json_pack("{s:f, s:f, s:f, s:b}", "estimate", ratio, "low",
                                      ratio * (1 - slack), "high", ratio * (1 + slack),
                                      "crosses_gate", crossed));
    }
    json_object_set_new(against, "file", json_string(options->against));
    json_object_set_new(document, "against", against);
}

static enum tlc_status check_gate(const json_t *document, const struct options *options,
                                  struct tlc_error *error)
{
    const json_t *against = json_object_get(document, "against");
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(against, side_names[i]);
        if (json_is_true(json_object_get(side, "crosses_gate")))
            return tlc_fail(error, TLC_GATE,
                            "count: the %s takes %.2f %% more instructions than in %s; the limit "
                            "is %g %%",
                            side_names[i], 100 * (number_of(side, "estimate") - 1),
                            options->against, 100 * options->fail_above);
    }
    return TLC_OK;
}

// Names come from programs and libraries; only what can be printed is.
static void print_name(const char *name, int width)
{
    for (; *name && width > 0; name++, width--)
        putchar(isprint((unsigned char)*name) ? *name : '?');
    printf("%*s", width, "");
}

static void print_side(const json_t *document, const char *name)
{
    const json_t *side = side_of(document, name);
    const json_t *against = json_object_get(json_object_get(document, "against"), name);
    size_t index;
    json_t *function;
    printf("%s: %.0f instructions a handshake (two counts apart by %.2f %%)\n", name,
           number_of(side, "instructions_per_handshake"), 100 * number_of(side, "spread"));
    if (against)
        printf("  %.4f times what was stored (%.4f to %.4f)\n", number_of(against, "estimate"),
               number_of(against, "low"), number_of(against, "high"));
    json_array_foreach(json_object_get(side, "functions"), index, function)
    {
        printf("  %12.0f  %5.1f %%  ", number_of(function, "instructions"),
               100 * number_of(function, "share"));
        print_name(json_string_value(json_object_get(function, "name")), 44);
        printf("  ");
        print_name(json_string_value(json_object_get(function, "object")), 30);
        putchar('\n');
    }
    putchar('\n');
}

static void print_document(const json_t *document)
{
    const json_t *configuration = json_object_get(document, "configuration");
    printf("stack %s, certificate %s, group %s, share %s\n\n",
           json_string_value(json_object_get(configuration, "stack")),
           json_string_value(json_object_get(configuration, "certificate")),
           json_string_value(json_object_get(configuration, "groups")),
           json_string_value(json_object_get(configuration, "share")));
    for (int i = 0; i < 2; i++)
        print_side(document, side_names[i]);
    printf("User space only; the kernel's work is in no count.\n");
    const json_t *perf = json_object_get(document, "perf");
    if (!json_is_true(json_object_get(perf, "available")))
        printf("Hardware counters: %s.\n", json_string_value(json_object_get(perf, "reason")));
}

static enum tlc_status count(const struct options *options, json_t *document,
                             struct tlc_error *error)
{
    json_t *stored = NULL;
    enum tlc_status status = TLC_OK;
    if (options->against)
        status = tlc_result_read(options->against, &stored, error);
    if (status == TLC_OK && options->against)
        status = check_stored(document, stored, options->against, error);
    if (status == TLC_OK)
        status = require_valgrind(document, error);
    if (status == TLC_OK)
        status = tlc_count_run(&options->count, document, error);
    if (status == TLC_OK && options->against)
        add_comparison(document, stored, options);
    json_decref(stored);
    return status;
}

int tlc_cmd_count(int argc, char **argv)
{
    struct options options = {.count = {.stack = "openssl",
                                        .certificate = "ecdsa-p256",
                                        .groups = "X25519MLKEM768",
                                        .share = "honest",
                                        .handshakes = 20,
                                        .repeats = 2,
                                        .top = 10,
                                        .timeout_ms = 300000},
                              .fail_above = NAN};
    const struct argp argp = {argp_options, parse_option, "", documentation, NULL, NULL, NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    json_t *document = tlc_result_new("count", tlc_machine_describe());
    json_object_set_new(document, "method", json_string("callgrind"));
    json_object_set_new(document, "configuration", configuration_json(&options.count));
    json_object_set_new(document, "perf", tlc_instructions_describe());
    enum tlc_status status = count(&options, document, &error);
    if (status == TLC_OK && options.output)
        status = tlc_result_write(document, options.output, &error);
    if (status == TLC_OK && options.json)
        tlc_print_json(document);
    else if (status == TLC_OK)
        print_document(document);
    if (status == TLC_OK)
        status = check_gate(document, &options, &error);
    json_decref(document);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
