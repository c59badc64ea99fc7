// tlscost pair: handshakes between a client and a server in one process, each side's cost told.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "campaign/campaign.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/measuring.h"
#include "cli/pair_matrix.h"
#include "cli/pair_plan.h"
#include "cli/plan_run.h"
#include "report/pair.h"
#include "result/result.h"
#include "workload/memory.h"

enum { SLICE_LEAST_US = 1000, SLICE_MOST_US = 60000000, IDLE_MOST = 100000 };

struct options {
    struct tlc_pair_options pair;
    struct tlc_measuring_options measuring;
    const char *servers;
    uint64_t idle;
    bool control, matrix, time;
    struct tlc_error error;
};

enum {
    KEY_VERSIONS = 256,
    KEY_GROUPS,
    KEY_CERTS,
    KEY_RESUMPTION,
    KEY_CLIENT_AUTH,
    KEY_INTERMEDIATES,
    KEY_STACK,
    KEY_CLIENT_STACK,
    KEY_PROVIDER,
    KEY_SIDE,
    KEY_REPLAY,
    KEY_DURATION,
    KEY_COUNT,
    KEY_ITERATIONS,
    KEY_BLOCKS,
    KEY_WARM_UP,
    KEY_IDLE,
    KEY_BUSY_MACHINE,
    KEY_CONTROL,
    KEY_MATRIX,
    KEY_TIME,
    KEY_SERVERS
};

static const struct argp_option argp_options[] = {
    {"versions", KEY_VERSIONS, "LIST", 0, "TLS versions (default: TLSv1.3)", 0},
    {"groups", KEY_GROUPS, "LIST", 0,
     "Key exchange groups; A:B is one arm that offers both (default: X25519MLKEM768)", 0},
    {"certs", KEY_CERTS, "LIST", 0, "Key types of the server's certificate (default: ecdsa-p256)",
     0},
    {"resumption", KEY_RESUMPTION, "LIST", 0,
     "full, resumed (the version's usual way), psk_dhe_ke, psk_ke, ticket, session-id (default: "
     "full)",
     0},
    {"client-auth", KEY_CLIENT_AUTH, "LIST", 0,
     "Key types of a client certificate that the server demands, or none (default: none)", 0},
    {"intermediates", KEY_INTERMEDIATES, "LIST", 0,
     "CA certificates sent behind the leaf, 0 to 6 (default: 0)", 0},
    {"stack", KEY_STACK, "LIST", 0, "TLS libraries of the server (default: openssl)", 0},
    {"client-stack", KEY_CLIENT_STACK, "LIST", 0,
     "TLS libraries of the client, or same (default: same)", 0},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "Provider of cryptography that the server's library loads, by name or path", 0},
    {"side", KEY_SIDE, "SIDE", 0,
     "Whose CPU time the ratios compare: server, client, both (default: server)", 0},
    {"replay", KEY_REPLAY, NULL, 0,
     "Beside each arm the server alone, up to its first flight, by a recorded ClientHello", 0},
    {"matrix", KEY_MATRIX, NULL, 0,
     "Try every client against every server (default: all stacks) with one value of each list", 0},
    {"time", KEY_TIME, NULL, 0, "With --matrix: measure the pairs that work", 0},
    {"servers", KEY_SERVERS, "LIST", 0,
     "With --matrix: servers of other makers too, by their descriptions (nginx, go, ...)", 0},
    {"duration", KEY_DURATION, "TIME", 0, "Length of an iteration (default: 100ms)", 0},
    {"count", KEY_COUNT, "N", 0, "Handshakes of an iteration, instead of a length", 0},
    {"iterations", KEY_ITERATIONS, "N", 0, "Iterations in each process, 1 to 10000 (default: 5)",
     0},
    {"blocks", KEY_BLOCKS, "N", 0,
     "Fresh processes of each arm, 1 to 200; 6 at least for intervals (default: 6)", 0},
    {"warm-up", KEY_WARM_UP, "TIME", 0, "Handshakes of a fresh process first (default: 100ms)", 0},
    {"idle", KEY_IDLE, "N", 0,
     "Idle connections held to tell the server's memory for one; 0: none (default: 1000)", 0},
    {"busy-machine", KEY_BUSY_MACHINE, NULL, 0,
     "Other programs use the same CPUs: do not refuse figures for that (accounting, steal)", 0},
    {"control", KEY_CONTROL, NULL, 0,
     "Be one of the processes: take orders on descriptor 3 (see docs/pair.md)", 0},
    {0},
};

static void set_time(struct argp_state *state, const char *option, const char *text, uint64_t low,
                     uint64_t *value)
{
    struct tlc_error error;
    if (tlc_parse_duration(text, value, &error) != TLC_OK)
        argp_error(state, "%s: %s", option, error.text);
    else if (*value < low || *value > SLICE_MOST_US)
        argp_error(state, "%s: '%s': not within %s to 60s", option, text, low ? "1ms" : "0ms");
}

// The options that are lists or words go to the plan as they are.
static const char **word_of(struct tlc_pair_options *pair, int key)
{
    switch (key) {
    case KEY_VERSIONS:
        return &pair->versions;
    case KEY_GROUPS:
        return &pair->groups;
    case KEY_CERTS:
        return &pair->certificates;
    case KEY_RESUMPTION:
        return &pair->resumption;
    case KEY_CLIENT_AUTH:
        return &pair->client_auth;
    case KEY_INTERMEDIATES:
        return &pair->intermediates;
    case KEY_STACK:
        return &pair->stacks;
    case KEY_CLIENT_STACK:
        return &pair->client_stacks;
    case KEY_PROVIDER:
        return &pair->provider;
    default:
        return NULL;
    }
}

static bool parse_schedule(int key, const char *argument, struct argp_state *state,
                           struct options *options)
{
    struct tlc_pair_options *pair = &options->pair;
    switch (key) {
    case KEY_DURATION:
        set_time(state, "--duration", argument, SLICE_LEAST_US, &pair->slice_us);
        return true;
    case KEY_WARM_UP:
        set_time(state, "--warm-up", argument, 0, &pair->warm_up_us);
        return true;
    case KEY_COUNT:
        tlc_take_number(state, "--count", argument, 1, 1000000000, &pair->count);
        return true;
    case KEY_ITERATIONS:
        tlc_take_number(state, "--iterations", argument, 1, 10000, &pair->iterations);
        return true;
    case KEY_BLOCKS:
        tlc_take_number(state, "--blocks", argument, 1, 200, &pair->blocks);
        return true;
    case KEY_IDLE:
        tlc_take_number(state, "--idle", argument, 0, IDLE_MOST, &options->idle);
        return true;
    default:
        return false;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    const char **word = word_of(&options->pair, key);
    if (word) {
        *word = argument;
        return 0;
    }
    if (parse_schedule(key, argument, state, options))
        return 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measuring;
        return 0;
    case KEY_SIDE:
        if (strcmp(argument, "server") != 0 && strcmp(argument, "client") != 0 &&
            strcmp(argument, "both") != 0)
            argp_error(state, "--side: '%s': write server, client or both", argument);
        options->pair.side = argument;
        return 0;
    case KEY_BUSY_MACHINE:
        options->pair.busy_machine = true;
        return 0;
    case KEY_MATRIX:
        options->matrix = true;
        return 0;
    case KEY_TIME:
        options->time = true;
        return 0;
    case KEY_SERVERS:
        options->servers = argument;
        return 0;
    case KEY_REPLAY:
        options->pair.replay = true;
        return 0;
    case KEY_CONTROL:
        options->control = true;
        return 0;
    case ARGP_KEY_ARG:
        tlc_options_only(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Make handshakes between a client and a server inside one process, over memory, and tell what "
    "each side costs. Lists are parted by commas, and each combination of their values is an arm; "
    "those that cannot exist are left out. All arms are measured in interleaved slices, in several "
    "fresh processes each."
    "\vExamples:\n"
    "  tlscost pair\n"
    "  tlscost pair --groups X25519,X25519MLKEM768 --certs ecdsa-p256,mldsa-65\n"
    "  tlscost pair --versions 1.2,1.3 --groups P-256 --resumption full,resumed\n"
    "  tlscost pair --client-stack openssl-3.6.5 --client-auth ed25519\n"
    "  tlscost pair --replay --count 1000 --json\n"
    "  tlscost pair --matrix --groups X25519 --time --servers nginx,go\n\n"
    "The report of a result written with -o, but of a matrix: tlscost report FILE. Exit code 3 "
    "means that checks refused figures.";

static enum tlc_status measure(const struct options *options, struct tlc_plan *plan,
                               json_t **result, struct tlc_error *error)
{
    struct tlc_measuring measuring;
    enum tlc_status status = tlc_measuring_begin(&measuring, "pair", &options->measuring, error);
    measuring.campaign.plan = plan;
    measuring.campaign.idle_connections = (unsigned)options->idle;
    if (status == TLC_OK)
        status = tlc_campaign_run(&measuring.campaign, result, error);
    tlc_measuring_end(&measuring, false);
    return status;
}

static enum tlc_status show(const struct options *options, const json_t *result,
                            struct tlc_error *error)
{
    struct tlc_error writing = {0};
    enum tlc_status status = options->measuring.json ? tlc_result_write(result, "-", error)
                                                     : tlc_pair_report_write(result, stdout, error);
    if (options->measuring.output &&
        tlc_result_write(result, options->measuring.output, &writing) != TLC_OK) {
        *error = writing;
        return writing.status;
    }
    return status;
}

static int run_pair(const struct options *options)
{
    struct tlc_error error = {0}, showing = {0};
    struct tlc_plan *plan = NULL;
    json_t *result = NULL;
    unsigned left_out = 0;
    tlc_catch_interrupts();
    enum tlc_status status =
        options->measuring.output
            ? tlc_can_be_written("pair", "--output", options->measuring.output, &error)
            : TLC_OK;
    if (status == TLC_OK)
        status = tlc_pair_plan(&options->pair, &plan, &left_out, &error);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    if (left_out && !options->measuring.quiet)
        fprintf(stderr, "tlscost: pair: %u combinations cannot exist and are left out\n", left_out);
    status = measure(options, plan, &result, &error);
    int code = TLC_OK;
    if (status != TLC_OK)
        code = tlc_report_error(&error);
    if (result && show(options, result, &showing) != TLC_OK)
        code = tlc_report_error(&showing);
    json_decref(result);
    tlc_plan_free(plan);
    return code;
}

int tlc_cmd_pair(int argc, char **argv)
{
    struct options options = {.pair = {.versions = "TLSv1.3",
                                       .groups = "X25519MLKEM768",
                                       .certificates = "ecdsa-p256",
                                       .resumption = "full",
                                       .client_auth = "none",
                                       .intermediates = "0",
                                       .client_stacks = "same",
                                       .side = "server",
                                       .blocks = 6,
                                       .iterations = 5,
                                       .slice_us = 100000,
                                       .warm_up_us = 100000},
                              .idle = 1000};
    const struct argp argp = {argp_options,           parse_option, NULL, documentation,
                              tlc_measuring_children, NULL,         NULL};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    if (options.control) {
        enum tlc_status status = tlc_memory_serve(TLC_CONTROL_FD, &options.error);
        return status == TLC_OK ? TLC_OK : tlc_report_error(&options.error);
    }
    if (options.matrix) {
        const struct tlc_matrix_options matrix = {.pair = &options.pair,
                                                  .servers = options.servers,
                                                  .time = options.time,
                                                  .measuring = &options.measuring};
        return tlc_pair_matrix(&matrix);
    }
    if (options.time || options.servers) {
        fprintf(stderr, "tlscost: pair: --time and --servers belong to --matrix\n");
        return TLC_USAGE;
    }
    if (!options.pair.stacks)
        options.pair.stacks = "openssl";
    return run_pair(&options);
}
