// tlscost speed: a plan of raw operations from the command line.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"
#include "stacks/loader.h"
#include "workload/operations.h"
#include "workload/primitive_worker.h"

enum { MOST_OPERATIONS = 100 };

struct options {
    const char *operations[MOST_OPERATIONS];
    size_t count;
    struct tlc_measuring_options measuring;
    const char *stacks, *provider;
    uint64_t samples, times;
    bool list, control;
};

enum { KEY_LIST = 256, KEY_STACK, KEY_PROVIDER, KEY_SAMPLES, KEY_OPERATIONS, KEY_CONTROL };

static const struct argp_option argp_options[] = {
    {"list", KEY_LIST, NULL, 0, "Name the operations that the library has, and end", 0},
    {"stack", KEY_STACK, "A,B", 0,
     "Libraries, as 'tlscost stacks' lists them, or tlscost's own X25519: 'tlscost' (default: "
     "openssl)",
     0},
    {"provider", KEY_PROVIDER, "NAME", 0,
     "Provider of cryptography that the library loads, by name or path; of tlscost: a back end", 0},
    {"samples", KEY_SAMPLES, "N", 0, "Fresh worker processes for each operation (default: 20)", 0},
    {"operations", KEY_OPERATIONS, "N", 0, "Operations in each sample (default: 100)", 0},
    {"control", KEY_CONTROL, NULL, 0, "Take control messages on descriptor 3", 1},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measuring;
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case KEY_STACK:
        options->stacks = argument;
        return 0;
    case KEY_PROVIDER:
        options->provider = argument;
        return 0;
    case KEY_SAMPLES:
        tlc_take_number(state, "--samples", argument, 1, 200, &options->samples);
        return 0;
    case KEY_OPERATIONS:
        tlc_take_number(state, "--operations", argument, 1, 1000000000, &options->times);
        return 0;
    case KEY_CONTROL:
        options->control = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->count == MOST_OPERATIONS)
            argp_error(state, "'%s': at most %d operations at a time", argument, MOST_OPERATIONS);
        options->operations[options->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Measure raw operations of a library's cryptography: each in worker processes of its own, "
    "process samples interleaved in turning order, every sample kept. The first operation named "
    "is the one that the others are divided by; with several libraries, each operation is divided "
    "by the first library's. Without names: the operations that a TLS 1.3 handshake is made of. "
    "docs/speed.md tells exactly what each operation does."
    "\vExamples:\n"
    "  tlscost speed --list\n"
    "  tlscost speed ecdh-p256-round-trip mlkem-768-round-trip\n"
    "  tlscost speed --stack openssl,tlscost x25519-keygen x25519-derive\n"
    "  tlscost speed --samples 20 --operations 1000 -o speed.json ecdsa-p256-sign\n\n"
    "It is a short way to run a plan whose arms say 'workload: primitive'.";

// What a server and a client do in a full TLS 1.3 handshake, and the round trips of key exchanges.
static const char *const usual[] = {"x25519-keygen",
                                    "x25519-derive",
                                    "ecdh-p256-keygen",
                                    "ecdh-p256-derive",
                                    "mlkem-768-keygen",
                                    "mlkem-768-parse",
                                    "mlkem-768-encapsulate",
                                    "mlkem-768-decapsulate",
                                    "ecdsa-p256-sign",
                                    "ecdsa-p256-verify",
                                    "ed25519-sign",
                                    "rsa-2048-sign",
                                    "mldsa-65-sign",
                                    "mldsa-65-verify",
                                    "certificate-parse",
                                    "chain-verify-2",
                                    "hkdf-expand-label-sha256",
                                    "transcript-sha256",
                                    "aes-128-gcm-seal-flight",
                                    "ecdh-p256-round-trip",
                                    "mlkem-768-round-trip"};

enum { USUAL = sizeof usual / sizeof *usual };

static enum tlc_status list_operations(const struct options *options, struct tlc_error *error)
{
    char **stacks = tlc_words(options->stacks);
    enum tlc_status status = TLC_OK;
    for (char **stack = stacks; status == TLC_OK && stack && *stack; stack++) {
        struct tlc_library library;
        status = tlc_library_find(*stack, &library, error);
        if (status == TLC_OK)
            printf("%s %s:\n", library.id, library.version);
        const char *name;
        for (size_t i = 0; status == TLC_OK && (name = library.operations->name_at(i)); i++)
            printf("  %s\n", name);
    }
    tlc_words_free(stacks);
    return status;
}

static bool has(const char *stack, const char *operation)
{
    struct tlc_library library;
    struct tlc_error ignored;
    return tlc_library_find(stack, &library, &ignored) == TLC_OK &&
           tlc_library_has(&library, operation, &ignored) == TLC_OK;
}

// Whether any library here has the operation: one that none has is a slip of the pen.
static bool known_anywhere(const char *operation)
{
    char **ids = tlc_stack_ids();
    bool known = has(TLC_OWN_STACK, operation);
    for (char **id = ids; !known && id && *id; id++)
        known = has(*id, operation);
    tlc_stack_ids_free(ids);
    return known;
}

static enum tlc_status check_names(const struct options *options, char *const *stacks,
                                   struct tlc_error *error)
{
    for (char *const *stack = stacks; *stack; stack++) {
        enum tlc_status status = tlc_plan_check_value("stack", *stack, "speed: --stack", error);
        if (status != TLC_OK && !strchr(*stack, '/'))
            return status;
    }
    for (size_t i = 0; i < options->count; i++) {
        struct tlc_library library;
        enum tlc_status status = tlc_library_find(stacks[0], &library, error);
        if (status != TLC_OK)
            return status;
        if (!known_anywhere(options->operations[i]) &&
            tlc_library_has(&library, options->operations[i], error) != TLC_OK)
            return error->status = TLC_USAGE;
    }
    return TLC_OK;
}

static void put_key(FILE *to, const char *key, const char *value)
{
    if (!value)
        return;
    fprintf(to, ", %s: ", key);
    tlc_put_yaml(to, value);
}

// The arm of one operation of one library; the first of all is the baseline.
static void put_arm(FILE *to, const struct options *options, const char *operation,
                    const char *stack, const char *first_stack, bool optional)
{
    char name[160];
    bool several = strchr(options->stacks, ',') != NULL;
    snprintf(name, sizeof name, "%s%s%.64s", operation, several ? " " : "", several ? stack : "");
    fputs("  - {name: ", to);
    tlc_put_yaml(to, name);
    put_key(to, "operation", operation);
    put_key(to, "stack", stack);
    put_key(to, "provider", options->provider);
    if (strcmp(stack, first_stack) != 0) {
        snprintf(name, sizeof name, "stack=%s", first_stack);
        put_key(to, "against", name);
    }
    fprintf(to, ", optional: %s}\n", optional ? "true" : "false");
}

static void put_plan(FILE *to, const struct options *options, char *const *stacks)
{
    const char *const *operations = options->count ? options->operations : usual;
    size_t count = options->count ? options->count : USUAL;
    fputs("name: speed\nquestion: What do raw operations cost?\nworkload: primitive\n"
          "baseline: {operation: ",
          to);
    tlc_put_yaml(to, operations[0]);
    put_key(to, "stack", stacks[0]);
    put_key(to, "provider", options->provider);
    fputs(count > 1 || stacks[1] ? "}\ninclude:\n" : "}\n", to);
    for (size_t i = 0; i < count; i++)
        for (char *const *stack = stacks; *stack; stack++)
            if (i || stack != stacks)
                put_arm(to, options, operations[i], *stack, stacks[0], !options->count);
    fprintf(to,
            "schedule: {blocks: 20, rounds: 1, count: %llu, slice: 10ms, warm_up: 20ms}\n"
            "checks: {server_busy: 0%%}\n",
            (unsigned long long)options->times);
}

static enum tlc_status make_plan(const struct options *options, struct tlc_plan **plan,
                                 struct tlc_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    char **stacks = tlc_words(options->stacks);
    FILE *to = open_memstream(&text, &bytes);
    enum tlc_status status = TLC_OK;
    if (!to || !stacks)
        status = tlc_fail(error, TLC_ENVIRONMENT, "speed: out of memory");
    else if (!stacks[0])
        status = tlc_fail(error, TLC_USAGE, "speed: --stack: no name; write for example openssl");
    else
        status = check_names(options, stacks, error);
    if (status == TLC_OK)
        put_plan(to, options, stacks);
    if (to && fclose(to) && status == TLC_OK)
        status = tlc_fail(error, TLC_ENVIRONMENT, "speed: out of memory");
    if (status == TLC_OK)
        status = tlc_plan_parse(text, bytes, "speed", plan, error);
    if (status == TLC_OK)
        (*plan)->schedule.blocks = (unsigned)options->samples;
    tlc_words_free(stacks);
    free(text);
    return status;
}

static int run_plan(const struct options *options, struct tlc_error *error)
{
    struct tlc_plan *plan = NULL;
    char output[1024];
    tlc_catch_interrupts();
    enum tlc_status status = make_plan(options, &plan, error);
    if (status == TLC_OK)
        status =
            tlc_choose_output(options->measuring.output, "speed", output, sizeof output, error);
    int code = status;
    if (status == TLC_OK) {
        const struct tlc_plan_run run = {
            .plan = plan, .output = output, .measuring = &options->measuring};
        code = tlc_plan_run(&run, error);
    } else {
        tlc_report_error(error);
    }
    tlc_plan_free(plan);
    return code;
}

int tlc_cmd_speed(int argc, char **argv)
{
    struct options options = {.stacks = "openssl", .samples = 20, .times = 100};
    const struct argp argp = {argp_options,  parse_option,           "[OPERATION...]",
                              documentation, tlc_measuring_children, NULL,
                              NULL};
    struct tlc_error error = {0};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    if (options.list)
        return list_operations(&options, &error) == TLC_OK ? TLC_OK : tlc_report_error(&error);
    if (!options.control)
        return run_plan(&options, &error);
    const struct tlc_primitive_options worker = {
        .stack = options.stacks, .operation = options.operations[0], .provider = options.provider};
    if (options.count != 1) {
        fprintf(stderr, "tlscost: speed: --control takes one operation\n");
        return TLC_USAGE;
    }
    return tlc_primitive_serve(&worker, &error) == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
