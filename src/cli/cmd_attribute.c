// tlscost attribute: where the server's CPU time of a handshake goes, from the command line.
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/attribute_plan.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"

struct options {
    struct tlc_attribute_options plan;
    struct tlc_measuring_options measuring;
    const char *folded;
};

enum {
    KEY_GROUPS = 256,
    KEY_CERTS,
    KEY_STACK,
    KEY_SERVER,
    KEY_CIPHER,
    KEY_BURN,
    KEY_TIME,
    KEY_BLOCKS,
    KEY_FREQUENCY,
    KEY_NO_OPERATIONS,
    KEY_NO_TIMES,
    KEY_BUSY_MACHINE,
    KEY_FOLDED
};

static const struct argp_option argp_options[] = {
    {"groups", KEY_GROUPS, "A,B", 0,
     "Key exchange groups, an arm each; the others are compared with the first (default: "
     "X25519,X25519MLKEM768)",
     0},
    {"certs", KEY_CERTS, "A,B", 0, "Key types of the server's certificate (default: ecdsa-p256)",
     0},
    {"stack", KEY_STACK, "NAME", 0, "TLS library of the server (default: openssl)", 0},
    {"server", KEY_SERVER, "NAME", 0,
     "A server that is not ours, by the name of its description: go, nginx, haproxy, ...", 0},
    {"cipher", KEY_CIPHER, "NAME", 0,
     "Cipher suite, or any: the library's choice (default: TLS_AES_128_GCM_SHA256)", 0},
    {"burn", KEY_BURN, "TIME", 0,
     "A further arm whose server burns so long in each handshake: it must be read as that", 0},
    {"time", KEY_TIME, "SECONDS", 0,
     "Time of measuring, warm-ups, raw operations and timed arms included; starting the servers, "
     "reading the samples and checking the generator come on top (default: 60)",
     0},
    {"blocks", KEY_BLOCKS, "N", 0, "Fresh servers of each arm, 6 to 200 (default: 8)", 0},
    {"frequency", KEY_FREQUENCY, "HZ", 0,
     "Samples in a second of the server's CPU time, 20 to 1000 (default: 499)", 0},
    {"no-operations", KEY_NO_OPERATIONS, NULL, 0,
     "Without the library's raw operations beside the parts", 0},
    {"no-times", KEY_NO_TIMES, NULL, 0,
     "Without the tracing provider's times beside the parts (only OpenSSL has them)", 0},
    {"busy-machine", KEY_BUSY_MACHINE, NULL, 0,
     "Other programs use the same CPUs: do not refuse figures for that", 0},
    {"folded", KEY_FOLDED, "FILE", 0,
     "Write folded stacks, for flame graphs; after ^C those of what was finished", 0},
    {0},
};

static const char **word_of(struct options *options, int key)
{
    switch (key) {
    case KEY_GROUPS:
        return &options->plan.groups;
    case KEY_CERTS:
        return &options->plan.certificates;
    case KEY_STACK:
        return &options->plan.stack;
    case KEY_SERVER:
        return &options->plan.server;
    case KEY_CIPHER:
        return &options->plan.cipher;
    case KEY_BURN:
        return &options->plan.burn;
    case KEY_FOLDED:
        return &options->folded;
    default:
        return NULL;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    const char **word = word_of(options, key);
    if (word) {
        *word = argument;
        return 0;
    }
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measuring;
        return 0;
    case KEY_TIME:
        tlc_take_number(state, "--time", argument, 1, 86400, &options->plan.seconds);
        return 0;
    case KEY_BLOCKS:
        tlc_take_number(state, "--blocks", argument, 6, 200, &options->plan.blocks);
        return 0;
    case KEY_FREQUENCY:
        tlc_take_number(state, "--frequency", argument, 20, 1000, &options->plan.frequency_hz);
        return 0;
    case KEY_NO_OPERATIONS:
        options->plan.operations = false;
        return 0;
    case KEY_NO_TIMES:
        options->plan.timed = false;
        return 0;
    case KEY_BUSY_MACHINE:
        options->plan.busy_machine = true;
        return 0;
    case ARGP_KEY_ARG:
        tlc_options_only(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Tell where the CPU time of a handshake goes inside a running server: perf samples it in "
    "slices of their own, tables of function names (components/) tell which part each sample "
    "belongs to, and slices without samples give the cost that is divided. Works for tlscost's own "
    "server with any library and for servers of other makers, unchanged. docs/attribute.md "
    "explains the figures."
    "\vExamples:\n"
    "  tlscost attribute\n"
    "  tlscost attribute --groups X25519,P-256 --certs rsa-2048 --time 120\n"
    "  tlscost attribute --server nginx --folded nginx.folded\n"
    "  tlscost attribute --groups X25519 --burn 20us\n\n"
    "It needs perf (package linux-perf) and the right to sample (sysctl "
    "kernel.perf_event_paranoid=1 or lower); exit code 2 says what is missing. It is a short way "
    "to "
    "run a plan whose arms say 'attribute: true'.";

// Fewer than two rounds of short slices tell nothing.
static void tell_longer(const struct options *options, const struct tlc_plan *plan)
{
    double seconds = tlc_plan_seconds(plan);
    if (seconds > (double)options->plan.seconds + 0.5 && !options->measuring.quiet)
        fprintf(stderr,
                "tlscost: attribute: --time %" PRIu64 ": so many arms and blocks need %.0f s at "
                "least; --blocks, --no-operations and --no-times make them fewer\n",
                options->plan.seconds, seconds);
}

static int run_plan(const struct options *options, struct tlc_error *error)
{
    struct tlc_plan *plan = NULL;
    char output[1024];
    tlc_catch_interrupts();
    enum tlc_status status =
        options->folded ? tlc_can_be_written("attribute", "--folded", options->folded, error)
                        : TLC_OK;
    if (status == TLC_OK)
        status = tlc_attribute_plan(&options->plan, &plan, error);
    if (status == TLC_OK)
        status =
            tlc_choose_output(options->measuring.output, "attribute", output, sizeof output, error);
    if (status != TLC_OK) {
        tlc_plan_free(plan);
        return tlc_report_error(error);
    }
    tell_longer(options, plan);
    const struct tlc_plan_run run = {.plan = plan,
                                     .output = output,
                                     .measuring = &options->measuring,
                                     .format = options->folded ? "folded" : NULL,
                                     .format_to = options->folded};
    int code = tlc_plan_run(&run, error);
    tlc_plan_free(plan);
    return code;
}

int tlc_cmd_attribute(int argc, char **argv)
{
    struct options options = {.plan = {.groups = "X25519,X25519MLKEM768",
                                       .certificates = "ecdsa-p256",
                                       .stack = "openssl",
                                       .cipher = "TLS_AES_128_GCM_SHA256",
                                       .seconds = 60,
                                       .blocks = 8,
                                       .frequency_hz = 499,
                                       .operations = true,
                                       .timed = true}};
    const struct argp argp = {argp_options,           parse_option, NULL, documentation,
                              tlc_measuring_children, NULL,         NULL};
    struct tlc_error error = {0};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    return run_plan(&options, &error);
}
