// tlscost connect-time: what a client waits on a long path.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/connect_plan.h"
#include "cli/connect_run.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"
#include "report/report.h"
#include "result/result.h"

struct options {
    struct tlc_connect_plan asked;
    const char *plan, *output;
    enum tlc_connect_network network;
    uint64_t seed;
    bool json, quiet, keep_logs, described; // described: an option of the configuration was given
    struct tlc_error error;
};

enum {
    KEY_RTT = 256,
    KEY_JITTER,
    KEY_LOSS,
    KEY_RATE,
    KEY_INITIAL_WINDOW,
    KEY_NETWORK,
    KEY_VERSIONS,
    KEY_GROUPS,
    KEY_CERTS,
    KEY_INTERMEDIATES,
    KEY_AUTHORITY,
    KEY_ALPN,
    KEY_STACK,
    KEY_RESUME,
    KEY_HELLO_RETRY,
    KEY_UPGRADE,
    KEY_COUNT,
    KEY_PACE,
    KEY_TIMEOUT,
    KEY_SEED,
    KEY_JSON,
    KEY_KEEP_LOGS
};

static const struct argp_option argp_options[] = {
    {NULL, 0, NULL, 0, "The path:", 1},
    {"rtt", KEY_RTT, "TIME[,...]", 0, "Round-trip times (default 150ms)", 1},
    {"jitter", KEY_JITTER, "TIME", 0, "Each segment's delay varies by this much (default 0us)", 1},
    {"loss", KEY_LOSS, "SHARE", 0, "Segments lost, for example 1% (default 0%)", 1},
    {"rate", KEY_RATE, "RATE", 0, "Of each direction, for example 10mbit (default: no limit)", 1},
    {"initial-window", KEY_INITIAL_WINDOW, "N", 0,
     "Segments a sender may send before an acknowledgement (default 10)", 1},
    {"network", KEY_NETWORK, "HOW", 0,
     "'netem' of the kernel, the 'relay', or 'auto': netem where it is (default)", 1},
    {NULL, 0, NULL, 0, "What is connected to; lists make an arm for each combination:", 2},
    {"versions", KEY_VERSIONS, "V[,V]", 0, "TLS versions (default 1.3,1.2)", 2},
    {"groups", KEY_GROUPS, "A:B[,...]", 0, "Key exchange groups (default X25519:P-256)", 2},
    {"certs", KEY_CERTS, "NAME[,...]", 0, "Certificates (default ecdsa-p256)", 2},
    {"intermediates", KEY_INTERMEDIATES, "N[,...]", 0,
     "CA certificates behind the server's own (default 0)", 2},
    {"authority", KEY_AUTHORITY, "HOW", 0,
     "Keys of the CAs: 'rsa-2048' (default), or 'leaf': of the certificate's type", 2},
    {"alpn", KEY_ALPN, "NAME", 0, "Choose this protocol in the handshake, as http/1.1", 2},
    {"stack", KEY_STACK, "NAME", 0, "TLS library of both sides (default openssl)", 2},
    {"resume", KEY_RESUME, NULL, 0, "Each of them resumed as well", 2},
    {"hello-retry", KEY_HELLO_RETRY, NULL, 0, "Each with a HelloRetryRequest as well", 2},
    {"upgrade", KEY_UPGRADE, NULL, 0,
     "Each with a request that changes the protocol, instead of ALPN, as well", 2},
    {NULL, 0, NULL, 0, "How often:", 3},
    {"count", KEY_COUNT, "N", 0, "Connections of each arm at each RTT (default 100)", 3},
    {"pace", KEY_PACE, "N", 0, "Connections begun in a second, all together (default 100)", 3},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "A connection that takes longer failed (default 10s)", 3},
    {"seed", KEY_SEED, "N", 0, "Of begin times, jitter and losses (default 1)", 3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 4},
    {"output", 'o', "FILE", 0, "Write the JSON document to FILE as well", 4},
    {"quiet", 'q', NULL, 0, "No progress on standard error", 4},
    {"keep-logs", KEY_KEEP_LOGS, NULL, 0, "Keep the servers' logs, and say where", 4},
    {0},
};

static bool parse_network(const char *text, enum tlc_connect_network *network)
{
    static const char *const words[] = {"auto", "relay", "netem"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, words[i])) {
            *network = (enum tlc_connect_network)i;
            return true;
        }
    return false;
}

static error_t parse_text(int key, const char *argument, struct options *options)
{
    struct tlc_connect_plan *asked = &options->asked;
    const struct {
        int key;
        const char **value;
    } texts[] = {{KEY_RTT, &asked->rtt},
                 {KEY_JITTER, &asked->jitter},
                 {KEY_LOSS, &asked->loss},
                 {KEY_RATE, &asked->rate},
                 {KEY_INITIAL_WINDOW, &asked->initial_window},
                 {KEY_VERSIONS, &asked->versions},
                 {KEY_GROUPS, &asked->groups},
                 {KEY_CERTS, &asked->certificates},
                 {KEY_INTERMEDIATES, &asked->intermediates},
                 {KEY_AUTHORITY, &asked->authority},
                 {KEY_ALPN, &asked->alpn},
                 {KEY_STACK, &asked->stack},
                 {KEY_COUNT, &asked->connections},
                 {KEY_PACE, &asked->pace},
                 {KEY_TIMEOUT, &asked->timeout}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].key == key) {
            *texts[i].value = argument;
            options->described = true;
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_switch(int key, struct options *options)
{
    const struct {
        int key;
        bool *value;
        bool describes;
    } switches[] = {{KEY_RESUME, &options->asked.resume, true},
                    {KEY_HELLO_RETRY, &options->asked.hello_retry, true},
                    {KEY_UPGRADE, &options->asked.upgrade, true},
                    {KEY_JSON, &options->json, false},
                    {'q', &options->quiet, false},
                    {KEY_KEEP_LOGS, &options->keep_logs, false}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].key == key) {
            *switches[i].value = true;
            options->described = options->described || switches[i].describes;
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_NETWORK:
        if (!parse_network(argument, &options->network))
            argp_error(state, "--network '%s': unknown; write auto, relay or netem", argument);
        return 0;
    case KEY_SEED:
        if (tlc_parse_number("--seed", argument, 0, INT64_MAX, &options->seed, &options->error) !=
            TLC_OK)
            argp_error(state, "%s", options->error.text);
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "'%s': one plan at a time", argument);
        options->plan = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->plan && options->described)
            argp_error(state,
                       "'%s': a plan says itself what to measure; leave out the options of "
                       "path, configuration and count",
                       options->plan);
        return 0;
    default:
        return argument ? parse_text(key, argument, options) : parse_switch(key, options);
    }
}

static const char documentation[] =
    "Measure what a client waits on a long path: until TCP is connected, until the ServerHello, "
    "until its handshake is complete, until the first byte of an answer. Servers and client run "
    "here; between them is the kernel's netem, or a relay that models propagation delay, TCP's "
    "initial window, losses and rate. docs/connect-time.md tells how. PLAN (a name of 'tlscost "
    "plans' or a YAML file) takes the place of the options of path and configuration."
    "\vExamples:\n"
    "  tlscost connect-time\n"
    "  tlscost connect-time --rtt 20ms,150ms --resume --hello-retry\n"
    "  tlscost connect-time --versions 1.3 --certs mldsa-65,mldsa-87 -o r.json\n"
    "  tlscost connect-time connect-time --network relay\n\n"
    "Exit code 3 means that connections failed, or were not what was asked for.";

static enum tlc_status read_plan(const struct options *options, struct tlc_plan **plan,
                                 struct tlc_error *error)
{
    char *path = NULL;
    *plan = NULL;
    if (!options->plan)
        return tlc_connect_plan_make(&options->asked, plan, error);
    enum tlc_status status = tlc_plan_find(options->plan, &path, error);
    if (status == TLC_OK)
        status = tlc_plan_read(path, plan, error);
    free(path);
    if (status == TLC_OK && !tlc_is_connect_plan(*plan))
        status = tlc_fail(error, TLC_USAGE,
                          "connect-time: plan '%s': its workload is %s; 'tlscost run' runs it",
                          (*plan)->name, (*plan)->workload);
    return status;
}

static enum tlc_status tell(const struct options *options, const json_t *result,
                            struct tlc_error *error)
{
    struct tlc_error writing = {0};
    enum tlc_status status = options->json ? tlc_result_write(result, "-", error)
                                           : tlc_report_write(result, "terminal", stdout, error);
    if (options->output && tlc_result_write(result, options->output, &writing) != TLC_OK) {
        *error = writing;
        return writing.status;
    }
    return status;
}

int tlc_cmd_connect_time(int argc, char **argv)
{
    struct options options = {.asked = {.rtt = "150ms",
                                        .versions = "1.3,1.2",
                                        .groups = "X25519:P-256",
                                        .certificates = "ecdsa-p256",
                                        .intermediates = "0",
                                        .connections = "100",
                                        .pace = "100"},
                              .seed = 1};
    const struct argp argp = {argp_options, parse_option, "[PLAN]", documentation,
                              NULL,         NULL,         NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0}, telling = {0};
    struct tlc_plan *plan = NULL;
    json_t *result = NULL;
    tlc_catch_interrupts();
    enum tlc_status status =
        options.output ? tlc_can_be_written("connect-time", "--output", options.output, &error) : TLC_OK;
    if (status == TLC_OK)
        status = read_plan(&options, &plan, &error);
    struct tlc_connect_options connect = {
        .plan = plan, .network = options.network, .seed = options.seed};
    if (status == TLC_OK)
        status = tlc_connect_measure(&connect, options.quiet, options.keep_logs, &result, &error);
    if (result && tell(&options, result, &telling) != TLC_OK && status == TLC_OK) {
        status = telling.status;
        error = telling;
    }
    json_decref(result);
    tlc_plan_free(plan);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
