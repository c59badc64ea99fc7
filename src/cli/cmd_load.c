// tlscost load: handshakes against a server, counted and timed.
#include <pthread.h>
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
    if (target->resume_ratio > 0 && options->tickets_known && !target->tickets_expected)
        return tlc_fail(error, TLC_USAGE,
                        "--tickets 0: --resume needs tickets; leave --tickets out, or read at "
                        "least 1");
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

static enum tlc_status get_ready(const struct tlc_load_options *options, struct tlc_target *target,
                                 struct tlc_error *error)
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
    return status;
}

// A few handshakes beside the load, in a thread and on connections of their own: what a client
// would see that comes by while the server is busy.
struct probe {
    struct tlc_target *target;
    struct tlc_slice_options slice;
    struct tlc_counters counters;
    struct tlc_error error;
    enum tlc_status status;
    pthread_t thread;
};

static void *run_probe(void *argument)
{
    struct probe *probe = argument;
    probe->status = tlc_target_slice(probe->target, &probe->slice, &probe->counters, &probe->error);
    return NULL;
}

static enum tlc_status start_probe(const struct tlc_load_options *options, struct probe *probe,
                                   struct tlc_error *error)
{
    struct tlc_target_options target = options->target;
    target.resume_ratio = 0;
    target.threads = 1;
    if (!options->slice.duration_us)
        return tlc_fail(error, TLC_USAGE, "--probe-rate: it needs a --duration");
    probe->slice = (struct tlc_slice_options){.duration_us = options->slice.duration_us,
                                              .concurrency = 64,
                                              .keep_latencies = true,
                                              .rate = options->probe_rate};
    enum tlc_status status = tlc_target_new(&target, &probe->target, error);
    if (status == TLC_OK && target.engine != TLC_ENGINE_TCP && !options->tickets_known)
        status = tlc_target_count_tickets(probe->target, NULL, NULL, error);
    if (status == TLC_OK && pthread_create(&probe->thread, NULL, run_probe, probe))
        status = tlc_fail(error, TLC_ENVIRONMENT, "--probe-rate: no thread could be started");
    return status;
}

static enum tlc_status run(const struct tlc_load_options *options, struct tlc_target *target,
                           struct tlc_counters *counters, struct probe *probe,
                           struct tlc_error *error)
{
    bool probes = options->probe_rate > 0;
    enum tlc_status status = get_ready(options, target, error);
    if (status == TLC_OK && probes)
        status = start_probe(options, probe, error);
    if (status != TLC_OK)
        return status;
    status = tlc_target_slice(target, &options->slice, counters, error);
    if (!probes)
        return status;
    pthread_join(probe->thread, NULL);
    if (status == TLC_OK && probe->status != TLC_OK) {
        tlc_counters_free(counters);
        return tlc_fail(error, probe->status, "latency probe: %s", probe->error.text);
    }
    return status;
}

// Prints the outcome; its exit code.
static int conclude(const struct tlc_load_options *options, const struct tlc_target *target,
                    struct tlc_counters *counters, struct tlc_counters *probe)
{
    char why[256];
    if (options->json) {
        json_t *json = tlc_load_to_json(options, target, counters, probe);
        tlc_print_json(json);
        json_decref(json);
    } else {
        tlc_load_print(options, target, counters, probe);
    }
    fflush(stdout);
    if (interrupted)
        return TLC_INTERRUPTED;
    tlc_load_verdict(options, counters, why, sizeof why);
    if (!*why)
        return TLC_OK;
    fprintf(stderr, "tlscost: load: %s: %s\n", options->target.address, why);
    const char *kind;
    json_t *count;
    json_object_foreach(counters->errors, kind, count)
    {
        if (!counters->handshakes)
            tlc_load_hint(options, kind);
    }
    return TLC_REFUSED;
}

static int load(struct tlc_load_options *options)
{
    struct tlc_target *target = NULL;
    struct tlc_counters counters;
    struct probe probe = {.target = NULL};
    struct tlc_error *error = &options->error;
    enum tlc_status status = complete_options(options);
    if (status == TLC_OK)
        status = tlc_target_new(&options->target, &target, error);
    if (status == TLC_OK)
        status = run(options, target, &counters, &probe, error);
    int code = status;
    if (status == TLC_OK) {
        code = conclude(options, target, &counters, probe.target ? &probe.counters : NULL);
        tlc_counters_free(&counters);
    } else {
        code = interrupted ? TLC_INTERRUPTED : tlc_report_error(error);
        if (!interrupted && options->target.address)
            tlc_load_hint(options, error->text);
    }
    tlc_counters_free(&probe.counters);
    tlc_target_free(probe.target);
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
