// One server and, by turns, clients under callgrind. The server writes what it counted since the
// last time whenever it reads its ticket keys, which SIGHUP makes it do. A run of three times as
// many handshakes minus a short one leaves what handshakes cost, without start and end.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/process.h"
#include "cli/common.h"
#include "cli/count.h"
#include "measure/callgrind.h"
#include "measure/clock.h"

enum { FACTOR = 3, WARM_UP = 3, MOST_REPEATS = 20, POLL_MS = 50 };

struct counting {
    const struct tlc_count_options *options;
    char folder[640], log[700], keys[700], counts[700], address[128];
    struct tlc_process server;
    unsigned dumps;
};

static void pause_ms(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

// What the program said was wrong: its first line of its own among what it and valgrind wrote.
static const char *complaint(const char *output, int *length)
{
    const char *line = output;
    while (line && strncmp(line, "tlscost", 7)) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    *length = line ? (int)strcspn(line, "\n") : 0;
    return line ? line : "";
}

// The server's own words, and its own exit code: a wrong option of it is a wrong option of ours.
static enum tlc_status server_failed(struct counting *counting, const char *what, int how,
                                     struct tlc_error *error)
{
    struct tlc_error ignored;
    char *log = NULL;
    int length = 0;
    const char *said = "";
    bool usage = !counting->server.pid && WIFEXITED(how) && WEXITSTATUS(how) == TLC_USAGE;
    if (tlc_read_text(counting->log, &log, &ignored) == TLC_OK)
        said = complaint(log, &length);
    enum tlc_status status = tlc_fail(
        error, usage ? TLC_USAGE : TLC_ENVIRONMENT, "count: %s: %s%s%.*s", what,
        counting->server.pid ? "not in time; give a longer --timeout" : "the server has ended",
        *said ? ": " : "", length, said);
    free(log);
    return status;
}

typedef bool awaited(struct counting *counting);

static enum tlc_status await(struct counting *counting, const char *what, awaited *is_there,
                             struct tlc_error *error)
{
    uint64_t until = tlc_now_ns() + (uint64_t)counting->options->timeout_ms * 1000000u;
    while (!is_there(counting)) {
        int how = 0;
        if (!tlc_process_alive(&counting->server, &how) || tlc_now_ns() > until)
            return server_failed(counting, what, how, error);
        pause_ms(POLL_MS);
    }
    return TLC_OK;
}

static bool is_listening(struct counting *counting)
{
    struct tlc_error ignored;
    char *log = NULL;
    if (tlc_read_text(counting->log, &log, &ignored) != TLC_OK)
        return false;
    const char *line = strstr(log, "listening on ");
    bool whole =
        line && strchr(line, '\n') && sscanf(line, "listening on %127s", counting->address) == 1;
    free(log);
    return whole;
}

// CPU time of the server in ticks, fields 14 and 15 of /proc/PID/stat (proc(5)).
static bool read_ticks(const struct counting *counting, unsigned long long *ticks)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", counting->server.pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = '\0';
    unsigned long long user, system;
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                        &system) != 2)
        return false;
    *ticks = user + system;
    return true;
}

// Nothing of the last handshakes is left to do: no CPU time in a tenth of a second.
static bool is_quiet(struct counting *counting)
{
    unsigned long long before, after;
    if (!read_ticks(counting, &before))
        return false;
    pause_ms(100);
    return read_ticks(counting, &after) && before == after;
}

static void dump_path(const struct counting *counting, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s.%u", counting->counts, counting->dumps);
}

static bool is_dumped(struct counting *counting)
{
    char path[720];
    struct tlc_error ignored;
    char *text = NULL;
    dump_path(counting, path, sizeof path);
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

// What the server counted since the last time.
static enum tlc_status take_server(struct counting *counting, struct tlc_callgrind *counts,
                                   struct tlc_error *error)
{
    char path[720];
    enum tlc_status status = await(counting, "idle server", is_quiet, error);
    if (status != TLC_OK)
        return status;
    counting->dumps++;
    kill(counting->server.pid, SIGHUP);
    status = await(counting, "counts of the server", is_dumped, error);
    dump_path(counting, path, sizeof path);
    return status == TLC_OK ? read_counts(path, counts, error) : status;
}

static enum tlc_status write_keys(const char *path, struct tlc_error *error)
{
    unsigned char bytes[80];
    FILE *file = getrandom(bytes, sizeof bytes, 0) == sizeof bytes ? fopen(path, "wbe") : NULL;
    bool whole = file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes;
    if ((file && fclose(file)) || !whole)
        return tlc_fail_errno(error, "count: %s", path);
    return TLC_OK;
}

static enum tlc_status start_server(struct counting *counting, struct tlc_error *error)
{
    const struct tlc_count_options *options = counting->options;
    char output[740];
    snprintf(output, sizeof output, "--callgrind-out-file=%s", counting->counts);
    const char *arguments[32] = {"valgrind",
                                 "-q",
                                 "--tool=callgrind",
                                 output,
                                 "--dump-before=tlc_ticket_keys_read",
                                 tlc_program_path(),
                                 "serve",
                                 "--listen",
                                 "127.0.0.1:0",
                                 "--workers",
                                 "1",
                                 "--handshake-timeout",
                                 "600s",
                                 "--stack",
                                 options->stack,
                                 "--cert",
                                 options->certificate,
                                 "--groups",
                                 options->groups,
                                 "--ticket-keys",
                                 counting->keys};
    size_t count = 0;
    while (arguments[count])
        count++;
    if (options->tickets) {
        arguments[count++] = "--tickets";
        arguments[count++] = options->tickets;
    }
    const struct tlc_process_options start = {.arguments = arguments, .log = counting->log};
    enum tlc_status status = write_keys(counting->keys, error);
    if (status == TLC_OK)
        status = tlc_process_start(&start, &counting->server, error);
    if (status == TLC_OK)
        status = await(counting, "start of the server under valgrind", is_listening, error);
    counting->dumps = 1; // the keys were read for the first time
    if (status == TLC_OK)
        status = await(counting, "counts of the start", is_dumped, error);
    return status;
}

static json_int_t handshakes_of(const char *output)
{
    const char *from = strchr(output, '{');
    json_t *json = from ? json_loads(from, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    json_int_t handshakes = json_integer_value(json_object_get(json, "handshakes"));
    json_decref(json);
    return handshakes;
}

// Handshakes one after the other, ended in order, so that nothing of them is left for the next run.
// `counts` NULL: without callgrind.
static enum tlc_status run_client(const struct counting *counting, uint64_t handshakes,
                                  struct tlc_callgrind *counts, struct tlc_error *error)
{
    const struct tlc_count_options *options = counting->options;
    char path[740], output[780], number[32], *said = NULL;
    int code = 0;
    snprintf(path, sizeof path, "%s/client", counting->folder);
    snprintf(output, sizeof output, "--callgrind-out-file=%s", path);
    snprintf(number, sizeof number, "%llu", (unsigned long long)handshakes);
    const char *arguments[] = {"valgrind",
                               "-q",
                               "--tool=callgrind",
                               output,
                               tlc_program_path(),
                               "load",
                               "--engine",
                               "lean",
                               "--loop",
                               "epoll",
                               "--share",
                               options->share,
                               "--groups",
                               options->groups,
                               "--count",
                               number,
                               "--concurrency",
                               "1",
                               "--close",
                               "fin",
                               "--timeout",
                               "600s",
                               "--json",
                               counting->address,
                               NULL};
    enum tlc_status status =
        tlc_process_output(arguments + (counts ? 0 : 4), options->timeout_ms, &said, &code, error);
    if (status == TLC_OK && (code || (uint64_t)handshakes_of(said) != handshakes)) {
        int length;
        const char *why = complaint(said, &length);
        status = tlc_fail(error, code == TLC_USAGE ? TLC_USAGE : TLC_ENVIRONMENT,
                          "count: the client ended with %d%s%.*s", code, length ? ": " : "", length,
                          why);
    }
    if (status == TLC_OK && counts)
        status = read_counts(path, counts, error);
    free(said);
    return status;
}

enum { SERVER, CLIENT, SIDES };

struct side {
    struct tlc_callgrind few[MOST_REPEATS], many[MOST_REPEATS];
};

static enum tlc_status run_repeat(struct counting *counting, struct side *sides, size_t repeat,
                                  struct tlc_error *error)
{
    uint64_t handshakes = counting->options->handshakes;
    enum tlc_status status = run_client(counting, handshakes, &sides[CLIENT].few[repeat], error);
    if (status == TLC_OK)
        status = take_server(counting, &sides[SERVER].few[repeat], error);
    if (status == TLC_OK)
        status = run_client(counting, FACTOR * handshakes, &sides[CLIENT].many[repeat], error);
    if (status == TLC_OK)
        status = take_server(counting, &sides[SERVER].many[repeat], error);
    return status;
}

struct function {
    const char *name, *object;
    double each;
};

static int by_count(const void *left, const void *right)
{
    double a = ((const struct function *)left)->each, b = ((const struct function *)right)->each;
    return (a < b) - (a > b);
}

// The functions of the first repeat that grow most with the number of handshakes.
static json_t *top_functions(const struct side *side, const struct tlc_count_options *options,
                             double total)
{
    const struct tlc_callgrind *many = &side->many[0];
    struct function *functions = calloc(many->count + 1, sizeof *functions);
    json_t *list = json_array();
    double handshakes = (double)((FACTOR - 1) * options->handshakes);
    for (size_t i = 0; functions && i < many->count; i++) {
        const struct tlc_callgrind_function *function = &many->functions[i];
        double few = (double)tlc_callgrind_self(&side->few[0], function->name, function->object);
        functions[i] = (struct function){function->name, function->object,
                                         ((double)function->self - few) / handshakes};
    }
    if (functions)
        qsort(functions, many->count, sizeof *functions, by_count);
    for (size_t i = 0; functions && i < many->count && i < options->top; i++)
        if (functions[i].each > 0)
            json_array_append_new(
                list, json_pack("{s:s%, s:s%, s:f, s:f}", "name", functions[i].name,
                                strlen(functions[i].name), "object", functions[i].object,
                                strlen(functions[i].object), "instructions", functions[i].each,
                                "share", functions[i].each / total));
    free(functions);
    return list;
}

static json_t *side_json(const struct side *side, const struct tlc_count_options *options)
{
    double sum = 0, least = INFINITY, most = -INFINITY;
    double handshakes = (double)((FACTOR - 1) * options->handshakes);
    for (size_t i = 0; i < options->repeats; i++) {
        double each = ((double)side->many[i].total - (double)side->few[i].total) / handshakes;
        sum += each;
        least = fmin(least, each);
        most = fmax(most, each);
    }
    double mean = sum / (double)options->repeats;
    return json_pack("{s:f, s:f, s:o}", "instructions_per_handshake", mean, "spread",
                     (most - least) / mean, "functions", top_functions(side, options, mean));
}

static enum tlc_status check_sides(const json_t *sides, struct tlc_error *error)
{
    const char *name;
    json_t *side;
    json_object_foreach((json_t *)(uintptr_t)sides, name, side)
    {
        double each = json_number_value(json_object_get(side, "instructions_per_handshake"));
        if (!(each > 0))
            return tlc_fail(error, TLC_REFUSED,
                            "count: %s: more handshakes took no more instructions", name);
    }
    return TLC_OK;
}

static enum tlc_status count_all(struct counting *counting, struct side *sides, json_t *document,
                                 struct tlc_error *error)
{
    struct tlc_callgrind warm = {0};
    enum tlc_status status = start_server(counting, error);
    // What a library does only once, in its first handshakes, is nobody's cost.
    if (status == TLC_OK)
        status = run_client(counting, WARM_UP, NULL, error);
    if (status == TLC_OK)
        status = take_server(counting, &warm, error);
    tlc_callgrind_free(&warm);
    for (size_t i = 0; i < counting->options->repeats && status == TLC_OK; i++)
        status = run_repeat(counting, sides, i, error);
    if (status != TLC_OK)
        return status;
    json_t *both = json_pack("{s:o, s:o}", "server", side_json(&sides[SERVER], counting->options),
                             "client", side_json(&sides[CLIENT], counting->options));
    json_object_set_new(document, "sides", both);
    return check_sides(both, error);
}

enum tlc_status tlc_count_run(const struct tlc_count_options *options, json_t *document,
                              struct tlc_error *error)
{
    struct counting counting = {.options = options, .server = {.control = -1}};
    struct side *sides = calloc(SIDES, sizeof *sides);
    if (!sides)
        return tlc_fail(error, TLC_ENVIRONMENT, "count: out of memory");
    enum tlc_status status =
        tlc_directory_temporary("tlscost-count", counting.folder, sizeof counting.folder, error);
    if (status == TLC_OK) {
        snprintf(counting.log, sizeof counting.log, "%s/server.log", counting.folder);
        snprintf(counting.keys, sizeof counting.keys, "%s/keys", counting.folder);
        snprintf(counting.counts, sizeof counting.counts, "%s/server", counting.folder);
        status = count_all(&counting, sides, document, error);
        tlc_process_stop(&counting.server, 10000);
        tlc_directory_remove(counting.folder);
    }
    for (size_t i = 0; i < MOST_REPEATS; i++)
        for (int side = 0; side < SIDES; side++) {
            tlc_callgrind_free(&sides[side].few[i]);
            tlc_callgrind_free(&sides[side].many[i]);
        }
    free(sides);
    return status;
}
