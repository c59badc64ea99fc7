// tlscost load: handshakes against a server, counted and timed.
#include <signal.h>
#include <stdio.h>

#include "base/process.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/load.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
    tlc_generator_interrupt();
}

// The first ^C ends the load in order, the second ends the program.
static void heed_interrupts(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

// What was asked for is what every handshake is compared with.
static void expect_what_was_asked(struct tlc_load_options *options)
{
    struct tlc_target_options *target = &options->target;
    struct tlc_expectation *expect = &target->expect;
    if (target->group_count == 1 || target->wrong_share_first)
        expect->group = target->groups[0];
    if (target->cipher_count == 1)
        expect->cipher = target->ciphers[0];
    if (target->engine == TLC_ENGINE_LEAN)
        expect->version = 0x0304;
    if (options->alpn && options->alpn[0] && !options->alpn[1])
        snprintf(expect->alpn, sizeof expect->alpn, "%s", options->alpn[0]);
    expect->resumed = target->resume_ratio > 0 ? -1 : 0;
}

static enum tlc_status complete_options(struct tlc_load_options *options)
{
    struct tlc_target_options *target = &options->target;
    struct tlc_error *error = &options->error;
    if (!target->address)
        return tlc_fail(error, TLC_USAGE, "load: an address is needed, for example 127.0.0.1:4433");
    if (target->engine == TLC_ENGINE_LEAN && options->stack)
        return tlc_fail(error, TLC_USAGE, "--stack: it belongs to --engine full");
    if (target->engine == TLC_ENGINE_LEAN && options->trust_pem)
        return tlc_fail(error, TLC_USAGE,
                        "--ca: engine lean does not verify chains; use --cert-sha256 or --engine "
                        "full");
    if (!options->client_chain_pem != !options->client_key_pem)
        return tlc_fail(error, TLC_USAGE, "--client-cert and --client-key belong together");
    if (target->engine == TLC_ENGINE_LEAN && options->client_chain_pem)
        return tlc_fail(error, TLC_USAGE,
                        "--client-cert: engine lean has no client certificates; use --engine full");
    target->trust_pem = options->trust_pem;
    target->client_chain_pem = options->client_chain_pem;
    target->client_key_pem = options->client_key_pem;
    if (target->engine == TLC_ENGINE_TCP && !options->tickets_known)
        target->tickets_expected = target->floor.ticket_bytes > 0;
    if (!options->slice.duration_us && !options->slice.count)
        options->slice.duration_us = 2000000;
    expect_what_was_asked(options);
    if (target->engine == TLC_ENGINE_FULL)
        return tlc_stack_load(options->stack ? options->stack : "openssl", &target->plugin, error);
    return TLC_OK;
}

static enum tlc_status warm_up(const struct tlc_load_options *options, struct tlc_target *target,
                               struct tlc_error *error)
{
    struct tlc_slice_options slice = options->slice;
    struct tlc_counters counters;
    slice.duration_us = options->warm_up_us;
    slice.count = 0;
    slice.keep_latencies = false;
    enum tlc_status status = tlc_target_slice(target, &slice, &counters, error);
    if (status == TLC_OK)
        tlc_counters_free(&counters);
    return status;
}

// Handshakes that bring the tickets which the load begins with.
static enum tlc_status gather_tickets(const struct tlc_load_options *options,
                                      struct tlc_target *target, struct tlc_error *error)
{
    struct tlc_slice_options slice = options->slice;
    struct tlc_counters counters;
    slice.duration_us = 0;
    slice.count = slice.concurrency;
    slice.keep_latencies = false;
    enum tlc_status status = tlc_target_slice(target, &slice, &counters, error);
    if (status == TLC_OK)
        tlc_counters_free(&counters);
    return status;
}

static enum tlc_status run(const struct tlc_load_options *options, struct tlc_target *target,
                           struct tlc_counters *counters, struct tlc_error *error)
{
    enum tlc_status status = tlc_target_check(target, &options->slice, error);
    bool tls = options->target.engine != TLC_ENGINE_TCP;
    if (status == TLC_OK && !options->tickets_known && tls &&
        options->target.stop == TLC_STOP_COMPLETE)
        status = tlc_target_count_tickets(target, NULL, NULL, error);
    if (status == TLC_OK && options->target.resume_ratio > 0)
        status = gather_tickets(options, target, error);
    if (status == TLC_OK && options->warm_up_us)
        status = warm_up(options, target, error);
    return status == TLC_OK ? tlc_target_slice(target, &options->slice, counters, error) : status;
}

// Prints the outcome; its exit code.
static int conclude(const struct tlc_load_options *options, const struct tlc_target *target,
                    struct tlc_counters *counters)
{
    char why[160];
    if (options->json) {
        json_t *json = tlc_load_to_json(options, target, counters);
        tlc_print_json(json);
        json_decref(json);
    } else {
        tlc_load_print(options, target, counters);
    }
    fflush(stdout);
    if (interrupted)
        return TLC_INTERRUPTED;
    tlc_load_verdict(options, counters, why, sizeof why);
    if (!*why)
        return TLC_OK;
    fprintf(stderr, "tlscost: load: %s: %s\n", options->target.address, why);
    return TLC_REFUSED;
}

static int load(struct tlc_load_options *options)
{
    struct tlc_target *target = NULL;
    struct tlc_counters counters;
    struct tlc_error *error = &options->error;
    enum tlc_status status = complete_options(options);
    if (status == TLC_OK)
        status = tlc_target_new(&options->target, &target, error);
    if (status == TLC_OK)
        status = run(options, target, &counters, error);
    int code = status;
    if (status == TLC_OK) {
        code = conclude(options, target, &counters);
        tlc_counters_free(&counters);
    } else {
        code = interrupted ? TLC_INTERRUPTED : tlc_report_error(error);
    }
    tlc_target_free(target);
    return code;
}

static int serve_control(struct tlc_error *error)
{
    if (tlc_generator_serve(TLC_CONTROL_FD, error) != TLC_OK)
        return tlc_report_error(error);
    return TLC_OK;
}

static void say_ready(void *listen_address)
{
    printf("listening on %s\n", (const char *)listen_address);
    fflush(stdout);
}

static int serve_floor(struct tlc_load_options *options)
{
    if (tlc_floor_serve(options->floor_listen, options->burn_us, say_ready,
                        (void *)(uintptr_t)options->floor_listen, &options->error) != TLC_OK)
        return tlc_report_error(&options->error);
    return TLC_OK;
}

int tlc_cmd_load(int argc, char **argv)
{
    struct tlc_load_options options = {
        .target = {.verify_every = 1000, .floor = {230, 900, 80, 0}},
        .slice = {.concurrency = 128, .keep_latencies = true},
    };
    argp_err_exit_status = TLC_USAGE;
    argp_parse(&tlc_load_argp, argc, argv, 0, NULL, &options);
    heed_interrupts();
    int code = options.control        ? serve_control(&options.error)
               : options.floor_listen ? serve_floor(&options)
                                      : load(&options);
    tlc_load_options_free(&options);
    return code;
}
