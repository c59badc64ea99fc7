#include "cli/count_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>

#include "base/directory.h"
#include "cli/common.h"
#include "measure/clock.h"

enum { POLL_MS = 50, WORDS = 48 };

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
static enum tlc_status server_failed(struct tlc_count_rig *rig, const char *what, int how,
                                     struct tlc_error *error)
{
    struct tlc_error ignored;
    char *log = NULL;
    int length = 0;
    const char *said = "";
    bool usage = !rig->server.pid && WIFEXITED(how) && WEXITSTATUS(how) == TLC_USAGE;
    if (tlc_read_text(rig->log, &log, &ignored) == TLC_OK)
        said = complaint(log, &length);
    enum tlc_status status =
        tlc_fail(error, usage ? TLC_USAGE : TLC_ENVIRONMENT, "count: %s: %s%s%.*s", what,
                 rig->server.pid ? "not in time; give a longer --timeout" : "the server has ended",
                 *said ? ": " : "", length, said);
    free(log);
    return status;
}

enum tlc_status tlc_count_rig_await(struct tlc_count_rig *rig, const char *what,
                                    tlc_count_awaited *is_there, struct tlc_error *error)
{
    uint64_t until = tlc_now_ns() + (uint64_t)rig->options->timeout_ms * 1000000u;
    while (!is_there(rig)) {
        int how = 0;
        if (!tlc_process_alive(&rig->server, &how) || tlc_now_ns() > until)
            return server_failed(rig, what, how, error);
        pause_ms(POLL_MS);
    }
    return TLC_OK;
}

static bool is_listening(struct tlc_count_rig *rig)
{
    struct tlc_error ignored;
    char *log = NULL;
    if (tlc_read_text(rig->log, &log, &ignored) != TLC_OK)
        return false;
    const char *line = strstr(log, "listening on ");
    bool whole =
        line && strchr(line, '\n') && sscanf(line, "listening on %127s", rig->address) == 1;
    free(log);
    return whole;
}

// CPU time of the server in ticks, fields 14 and 15 of /proc/PID/stat (proc(5)).
static bool read_ticks(const struct tlc_count_rig *rig, unsigned long long *ticks)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", rig->server.pid);
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
static bool is_quiet(struct tlc_count_rig *rig)
{
    unsigned long long before, after;
    if (!read_ticks(rig, &before))
        return false;
    pause_ms(100);
    return read_ticks(rig, &after) && before == after;
}

enum tlc_status tlc_count_rig_await_idle(struct tlc_count_rig *rig, struct tlc_error *error)
{
    return tlc_count_rig_await(rig, "idle server", is_quiet, error);
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

// Words behind those that are there already; the list ends with NULL.
static void add_words(const char *words[WORDS], const char *const *more)
{
    size_t count = 0;
    while (words[count])
        count++;
    for (; more && *more && count + 1 < WORDS; more++)
        words[count++] = *more;
}

enum tlc_status tlc_count_rig_serve(struct tlc_count_rig *rig, const char *const *before,
                                    struct tlc_error *error)
{
    const struct tlc_count_options *options = rig->options;
    const char *const serve[] = {tlc_program_path(),
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
                                 rig->keys,
                                 options->tickets ? "--tickets" : NULL,
                                 options->tickets,
                                 NULL};
    const char *words[WORDS] = {NULL};
    add_words(words, before);
    add_words(words, serve);
    const struct tlc_process_options start = {.arguments = words, .log = rig->log};
    enum tlc_status status = write_keys(rig->keys, error);
    if (status == TLC_OK)
        status = tlc_process_start(&start, &rig->server, error);
    if (status == TLC_OK)
        status = tlc_count_rig_await(rig, "start of the server", is_listening, error);
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

enum tlc_status tlc_count_rig_load(const struct tlc_count_rig *rig, const char *const *before,
                                   uint64_t handshakes, struct tlc_error *error)
{
    const struct tlc_count_options *options = rig->options;
    char number[32], *said = NULL;
    int code = 0;
    snprintf(number, sizeof number, "%llu", (unsigned long long)handshakes);
    const char *const load[] = {tlc_program_path(),
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
                                rig->address,
                                NULL};
    const char *words[WORDS] = {NULL};
    add_words(words, before);
    add_words(words, load);
    enum tlc_status status = tlc_process_output(words, options->timeout_ms, &said, &code, error);
    if (status == TLC_OK && (code || (uint64_t)handshakes_of(said) != handshakes)) {
        int length;
        const char *why = complaint(said, &length);
        status = tlc_fail(error, code == TLC_USAGE ? TLC_USAGE : TLC_ENVIRONMENT,
                          "count: the client ended with %d%s%.*s", code, length ? ": " : "", length,
                          why);
    }
    free(said);
    return status;
}

enum tlc_status tlc_count_rig_open(const struct tlc_count_options *options,
                                   struct tlc_count_rig *rig, struct tlc_error *error)
{
    *rig = (struct tlc_count_rig){.options = options, .server = {.control = -1}};
    enum tlc_status status =
        tlc_directory_temporary("tlscost-count", rig->folder, sizeof rig->folder, error);
    snprintf(rig->log, sizeof rig->log, "%s/server.log", rig->folder);
    snprintf(rig->keys, sizeof rig->keys, "%s/keys", rig->folder);
    return status;
}

void tlc_count_rig_close(struct tlc_count_rig *rig)
{
    tlc_process_stop(&rig->server, 10000);
    tlc_directory_remove(rig->folder);
}
