// bench/generator: what our load clients spend per handshake beside other clients, interleaved
// against the same server (docs/bench.md).
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "bench/arms.h"
#include "bench/report.h"
#include "measure/clock.h"
#include "measure/machine.h"

struct options {
    struct bench bench;
    char *groups; // words of the list, owned
    char program[4096];
    unsigned seconds, rounds;
    const char *peers[PEERS_MAX]; // --peer
    size_t peer_count;
    bool json, no_peers;
    struct tlc_error error;
};

enum { KEY_QUICK = 256, KEY_JSON, KEY_ROUNDS, KEY_NO_PEERS, KEY_PROGRAM };

static const struct argp_option argp_options[] = {
    {"certificate", 'c', "NAME", 0, "The server's certificate (default ecdsa-p256)", 0},
    {"groups", 'g', "A:B", 0, "Key exchange groups (default X25519:X25519MLKEM768)", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 0},
    {"no-peers", KEY_NO_PEERS, NULL, 0, "Do not look for other clients on PATH", 0},
    {"peer", 'p', "NAME=PATH", 0,
     "One more client: openssl, h2load, wrk, ab, hey, tls-perf or h1load (may be repeated)", 0},
    {"quick", KEY_QUICK, NULL, 0, "Six rounds of short slices, about a minute", 0},
    {"rounds", KEY_ROUNDS, "N", 0, "Exactly so many rounds, whatever time they take", 0},
    {"time", 't', "SECONDS", 0,
     "Rounds until then, but at least six for a 95 % interval (default 170)", 0},
    {"tlscost", KEY_PROGRAM, "FILE", 0, "The program to measure (default: beside this one)", 0},
    {0}};

static enum tlc_status parse_number(const char *what, const char *text, unsigned low, unsigned high,
                                    unsigned *value, struct tlc_error *error)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || *text == '-' || !*text || *end || number < low || number > high)
        return tlc_fail(error, TLC_USAGE, "%s: '%s': not a whole number from %u to %u", what, text,
                        low, high);
    *value = (unsigned)number;
    return TLC_OK;
}

static enum tlc_status parse_groups(struct options *options, const char *text)
{
    struct bench *bench = &options->bench;
    char *rest = NULL;
    free(options->groups);
    options->groups = strdup(text);
    bench->group_count = 0;
    for (char *word = strtok_r(options->groups, ":,", &rest); word;
         word = strtok_r(NULL, ":,", &rest)) {
        if (!tlc_code(TLC_NAME_GROUP, word))
            return tlc_fail(&options->error, TLC_USAGE, "--groups: '%s': unknown group", word);
        if (bench->group_count == sizeof bench->groups / sizeof *bench->groups)
            return tlc_fail(&options->error, TLC_USAGE, "--groups: too many");
        bench->groups[bench->group_count++] = word;
    }
    return bench->group_count ? TLC_OK
                              : tlc_fail(&options->error, TLC_USAGE, "--groups: none given");
}

static enum tlc_status add_peer(struct options *options, const char *text)
{
    char name[32];
    const char *path = strchr(text, '=');
    if (!path || (size_t)(path - text) >= sizeof name)
        return tlc_fail(&options->error, TLC_USAGE, "--peer: '%s': not NAME=PATH with one of %s",
                        text, peer_tools_text());
    snprintf(name, sizeof name, "%.*s", (int)(path - text), text);
    return peers_add(&options->bench.peers, name, path + 1, &options->error);
}

// Those found first, so that a second program of a tool is the one that is told apart.
static enum tlc_status list_peers(struct options *options)
{
    enum tlc_status status = TLC_OK;
    if (!options->no_peers)
        status = peers_find(&options->bench.peers, &options->error);
    for (size_t i = 0; status == TLC_OK && i < options->peer_count; i++)
        status = add_peer(options, options->peers[i]);
    return status;
}

static void be_quick(struct options *options)
{
    options->rounds = ROUNDS_MIN;
    options->bench.slice_us = 100000;
    options->bench.peer_handshakes = 300;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    enum tlc_status status = TLC_OK;
    switch (key) {
    case 'c':
        options->bench.rig.certificate = text;
        break;
    case 'g':
        status = parse_groups(options, text);
        break;
    case 'p':
        if (options->peer_count < PEERS_MAX)
            options->peers[options->peer_count++] = text;
        break;
    case 't':
        status = parse_number("--time", text, 1, 86400, &options->seconds, &options->error);
        break;
    case KEY_ROUNDS:
        status = parse_number("--rounds", text, 1, ROUNDS_MAX, &options->rounds, &options->error);
        break;
    case KEY_QUICK:
        be_quick(options);
        break;
    case KEY_JSON:
        options->json = true;
        break;
    case KEY_NO_PEERS:
        options->no_peers = true;
        break;
    case KEY_PROGRAM:
        snprintf(options->program, sizeof options->program, "%s", text);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (status != TLC_OK)
        argp_error(state, "%s", options->error.text);
    return 0;
}

static const struct argp argp = {
    argp_options,
    parse_option,
    NULL,
    "Measures what a TLS handshake costs the client: tlscost's lean and full clients, the bare TCP "
    "connection, and every other client found on this machine, interleaved against the same "
    "server, which counts the handshakes.\v"
    "Examples:\n"
    "  bench/generator\n"
    "  bench/generator --json --peer tls-perf=/opt/tls-perf/tls-perf\n"
    "  bench/generator --quick --groups X25519MLKEM768 --peer "
    "openssl=/opt/openssl-3.5/bin/openssl\n"
    "\nExit codes: 0 measured; 1 wrong usage; 2 something is missing; 3 handshakes of tlscost's "
    "own clients failed.",
    NULL,
    NULL,
    NULL};

// tlscost lies in the build folder, this program in its folder `bench`.
static enum tlc_status find_program(struct options *options)
{
    if (!options->program[0]) {
        snprintf(options->program, sizeof options->program, "%s", tlc_program_path());
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(options->program, '/');
            if (slash)
                *slash = '\0';
        }
        size_t used = strlen(options->program);
        snprintf(options->program + used, sizeof options->program - used, "/tlscost");
    }
    if (access(options->program, X_OK))
        return tlc_fail_errno(&options->error, "%s", options->program);
    options->bench.rig.program = options->program;
    return TLC_OK;
}

// Files of this run.
static struct {
    char folder[64], log[80], conf[80];
} scratch;

// What was made for the run does not outlive it; children end with their parent. Only calls that
// are async-signal-safe.
static void interrupted(int number)
{
    (void)number;
    unlink(scratch.conf);
    unlink(scratch.log);
    rmdir(scratch.folder);
    _exit(TLC_INTERRUPTED);
}

static enum tlc_status make_folder(struct options *options)
{
    snprintf(scratch.folder, sizeof scratch.folder, "/tmp/tlscost-bench.XXXXXX");
    if (!mkdtemp(scratch.folder))
        return tlc_fail_errno(&options->error, "%s", scratch.folder);
    snprintf(scratch.log, sizeof scratch.log, "%s/log", scratch.folder);
    snprintf(scratch.conf, sizeof scratch.conf, "%s/openssl.cnf", scratch.folder);
    signal(SIGINT, interrupted);
    signal(SIGTERM, interrupted);
    options->bench.rig.log = scratch.log;
    options->bench.openssl_conf = scratch.conf;
    return TLC_OK;
}

// The log stays when something failed: it holds the processes' own words.
static void remove_folder(bool failed)
{
    if (!scratch.folder[0])
        return;
    unlink(scratch.conf);
    if (failed && !access(scratch.log, F_OK)) {
        fprintf(stderr, "bench: what the processes printed is in %s\n", scratch.log);
        return;
    }
    unlink(scratch.log);
    rmdir(scratch.folder);
}

// The first CPU of a set: one worker and one event loop use no more.
static void keep_one(cpu_set_t *cpus)
{
    bool found = false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (found)
            CPU_CLR(cpu, cpus);
        found = found || CPU_ISSET(cpu, cpus);
    }
}

// Peers inherit this process's CPUs; it sleeps while they run.
static enum tlc_status split_cpus(struct options *options, cpu_set_t *server, cpu_set_t *generator)
{
    struct bench *bench = &options->bench;
    enum tlc_status status = tlc_machine_split_cpus(server, generator, &options->error);
    if (status != TLC_OK)
        return status;
    keep_one(server);
    keep_one(generator);
    if (sched_setaffinity(0, sizeof *generator, generator))
        return tlc_fail_errno(&options->error, "bench: sched_setaffinity");
    bench->rig.server_cpus = server;
    bench->rig.generator_cpus = generator;
    tlc_cpus_format(server, bench->server_list, sizeof bench->server_list);
    tlc_cpus_format(generator, bench->generator_list, sizeof bench->generator_list);
    return TLC_OK;
}

static bool another_round(const struct options *options, uint64_t start_ns)
{
    unsigned done = options->bench.rounds;
    if (options->rounds || done < ROUNDS_MIN)
        return done < (options->rounds ? options->rounds : ROUNDS_MIN);
    double spent = (double)(tlc_now_ns() - start_ns) / 1e9;
    return done < ROUNDS_MAX && spent + spent / done < options->seconds;
}

static enum tlc_status run(struct options *options)
{
    struct bench *bench = &options->bench;
    uint64_t start_ns = tlc_now_ns();
    enum tlc_status status = bench_find_loop(bench, &options->error);
    if (status == TLC_OK)
        status = bench_list_arms(bench, &options->error);
    while (status == TLC_OK && another_round(options, start_ns)) {
        status = bench_round(bench, &options->error);
        if (status == TLC_OK && isatty(STDERR_FILENO))
            fprintf(stderr, "\rround %u", bench->rounds);
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r          \r");
    return status;
}

static void print(const struct options *options)
{
    if (!options->json) {
        bench_print(&options->bench);
        return;
    }
    json_t *json = bench_to_json(&options->bench);
    json_dumpf(json, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(json);
}

int main(int argc, char **argv)
{
    static struct options options = {.seconds = 170,
                                     .bench = {.rig = {.certificate = "ecdsa-p256"},
                                               .slice_us = 250000,
                                               .concurrency = 128,
                                               .peer_concurrency = 32,
                                               .peer_handshakes = 2000}};
    static cpu_set_t server, generator;
    argp_err_exit_status = TLC_USAGE;
    enum tlc_status status = parse_groups(&options, "X25519:X25519MLKEM768");
    if (status == TLC_OK)
        argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (status == TLC_OK)
        status = find_program(&options);
    if (status == TLC_OK)
        status = make_folder(&options);
    if (status == TLC_OK)
        status = split_cpus(&options, &server, &generator);
    if (status == TLC_OK)
        status = list_peers(&options);
    if (status == TLC_OK)
        status = run(&options);
    if (status == TLC_OK)
        print(&options);
    else
        fprintf(stderr, "bench: %s\n", options.error.text);
    remove_folder(status != TLC_OK);
    json_decref(options.bench.stack);
    free(options.groups);
    return (int)status;
}
