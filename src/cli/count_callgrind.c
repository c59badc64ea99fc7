// Both sides under callgrind. The server writes what it counted since the last time whenever it
// reads its ticket keys, which SIGHUP makes it do.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/count_rig.h"

struct state {
    char counts[700]; // the begin of the server's files
    unsigned dumps;
};

static enum tlc_status require_valgrind(struct tlc_count_options *options, json_t *document,
                                        struct tlc_error *error)
{
    (void)options;
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
    json_object_set_new(document, "space", json_string("user"));
    free(version);
    return TLC_OK;
}

static void dump_path(const struct state *state, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s.%u", state->counts, state->dumps);
}

static bool is_dumped(struct tlc_count_rig *rig)
{
    char path[720];
    struct tlc_error ignored;
    char *text = NULL;
    dump_path(rig->state, path, sizeof path);
    if (access(path, R_OK) || tlc_read_text(path, &text, &ignored) != TLC_OK)
        return false;
    // The totals are the last line.
    const char *totals = strstr(text, "\ntotals: ");
    bool whole = totals && strchr(totals + 1, '\n');
    free(text);
    return whole;
}

static enum tlc_status read_counts(const char *path, struct tlc_callgrind *counts,
                                   struct tlc_error *error)
{
    char *text = NULL;
    enum tlc_status status = tlc_read_text(path, &text, error);
    if (status == TLC_OK)
        status = tlc_callgrind_parse(text, counts, error);
    free(text);
    return status;
}

static enum tlc_status start_server(struct tlc_count_rig *rig, struct tlc_error *error)
{
    char output[740];
    struct state *state = rig->state = calloc(1, sizeof *state);
    if (!state)
        return tlc_fail(error, TLC_ENVIRONMENT, "count: out of memory");
    snprintf(state->counts, sizeof state->counts, "%s/server", rig->folder);
    snprintf(output, sizeof output, "--callgrind-out-file=%s", state->counts);
    const char *const before[] = {
        "valgrind", "-q", "--tool=callgrind", output, "--dump-before=tlc_ticket_keys_read", NULL};
    enum tlc_status status = tlc_count_rig_serve(rig, before, error);
    state->dumps = 1; // the keys were read for the first time
    if (status == TLC_OK)
        status = tlc_count_rig_await(rig, "counts of the start", is_dumped, error);
    return status;
}

static struct tlc_counted counted_of(struct tlc_callgrind functions)
{
    double total = (double)functions.total;
    return (struct tlc_counted){total, total, NAN, functions};
}

static enum tlc_status take_server(struct tlc_count_rig *rig, struct tlc_counted *counted,
                                   struct tlc_error *error)
{
    char path[720];
    struct state *state = rig->state;
    struct tlc_callgrind functions = {0};
    state->dumps++;
    kill(rig->server.pid, SIGHUP);
    enum tlc_status status = tlc_count_rig_await(rig, "counts of the server", is_dumped, error);
    dump_path(state, path, sizeof path);
    if (status == TLC_OK)
        status = read_counts(path, &functions, error);
    *counted = counted_of(functions);
    return status;
}

// What was counted until now is thrown away.
static enum tlc_status begin_server(struct tlc_count_rig *rig, struct tlc_error *error)
{
    struct tlc_counted start;
    enum tlc_status status = take_server(rig, &start, error);
    tlc_callgrind_free(&start.functions);
    return status;
}

static enum tlc_status run_client(struct tlc_count_rig *rig, uint64_t handshakes,
                                  struct tlc_counted *counted, struct tlc_error *error)
{
    char path[740], output[780];
    struct tlc_callgrind functions = {0};
    snprintf(path, sizeof path, "%s/client", rig->folder);
    snprintf(output, sizeof output, "--callgrind-out-file=%s", path);
    const char *const before[] = {"valgrind", "-q", "--tool=callgrind", output, NULL};
    enum tlc_status status = tlc_count_rig_load(rig, before, handshakes, error);
    if (status == TLC_OK)
        status = read_counts(path, &functions, error);
    *counted = counted_of(functions);
    return status;
}

static void stop(struct tlc_count_rig *rig)
{
    free(rig->state);
}

const struct tlc_count_method tlc_count_by_callgrind = {.name = "callgrind",
                                                        .handshakes = 20,
                                                        .warm_up = 3,
                                                        .require = require_valgrind,
                                                        .start = start_server,
                                                        .begin = begin_server,
                                                        .server = take_server,
                                                        .client = run_client,
                                                        .stop = stop};
