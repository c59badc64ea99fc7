#include "workload/external.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/proc.h"
#include "workload/external_command.h"
#include "workload/loopback.h"
#include "workload/network_server.h"
#include "workload/network_trace.h"

enum {
    RECIPE_MS = 30 * 60 * 1000,
    BUILD_MS = 30 * 60 * 1000,
    READY_MS = 60000,
    VERSION_MS = 20000,
    SYMBOLS_MS = 60000
};

static int64_t now_ms(void)
{
    return (int64_t)(tlc_now_ns() / 1000000);
}

// ---- what the server cannot serve

static enum tlc_status refuse(const struct tlc_arm *arm, const struct tlc_server *server,
                              const char *what, struct tlc_error *error)
{
    return tlc_fail(error, TLC_ENVIRONMENT, "arm '%s': server %s: has no %s; leave the arm out",
                    arm->name, server->name, what);
}

// Whether a word is among those that the server lacks.
static bool lacks(const struct tlc_server *server, const char *word)
{
    for (unsigned i = 0; i < server->lacks.count; i++)
        if (word && !strcmp(server->lacks.words[i], word))
            return true;
    return false;
}

static enum tlc_status check_groups(const struct tlc_arm *arm, const struct tlc_server *server,
                                    struct tlc_error *error)
{
    char groups[1024], *rest = NULL;
    snprintf(groups, sizeof groups, "%s", arm->groups);
    for (char *group = strtok_r(groups, ":", &rest); group; group = strtok_r(NULL, ":", &rest))
        if (lacks(server, group))
            return refuse(arm, server, group, error);
    return TLC_OK;
}

// Its description says how it takes a configuration of OpenSSL.
static bool reads_configuration(const struct tlc_server *server)
{
    for (unsigned i = 0; i < server->environment_count; i++)
        if (strstr(server->environment[i].value, "{openssl_conf}"))
            return true;
    return false;
}

static bool takes_timeout(const struct tlc_server *server)
{
    for (unsigned i = 0; i < server->start.count; i++)
        if (strstr(server->start.words[i], "{handshake_timeout_ms}"))
            return true;
    return false;
}

enum tlc_status tlc_external_check(const struct tlc_arm *arm, struct tlc_error *error)
{
    struct tlc_server *server;
    enum tlc_status status = tlc_server_read(arm->server, &server, error);
    if (status != TLC_OK) {
        tlc_fail_prefix(error, "arm '%s'", arm->name);
        return status;
    }
    const char *const asked[] = {arm->version,
                                 arm->certificate,
                                 arm->resumption,
                                 arm->cipher,
                                 arm->accept,
                                 arm->cpu_mask ? "cpu_mask" : NULL,
                                 arm->workers > 1 ? "second worker" : NULL};
    for (size_t i = 0; status == TLC_OK && i < sizeof asked / sizeof *asked; i++)
        if (lacks(server, asked[i]))
            status = refuse(arm, server, asked[i], error);
    if (status == TLC_OK)
        status = check_groups(arm, server, error);
    if (status == TLC_OK && strcmp(arm->network, "loopback") != 0)
        status = refuse(arm, server, "network but loopback", error);
    if (status == TLC_OK && strcmp(arm->trace, "none") != 0 && !reads_configuration(server))
        status = refuse(arm, server, "trace (no OPENSSL_CONF in its environment)", error);
    if (status == TLC_OK && arm->handshake_timeout_us && !takes_timeout(server))
        status = refuse(arm, server, "handshake_timeout (none in its command)", error);
    if (status == TLC_OK && arm->burn_us && !strcmp(arm->burn_in, "state-machine"))
        status = refuse(arm, server, "burn", error);
    tlc_server_free(server);
    return status;
}

// ---- making ready

static char *first_line(char *text)
{
    enum { LONGEST = 200 };
    text[strcspn(text, "\r\n")] = '\0';
    if (strlen(text) > LONGEST)
        text[LONGEST] = '\0';
    tlc_json_fit(text);
    return text;
}

static enum tlc_status bring_runtime(struct tlc_external *external, struct tlc_error *error)
{
    char script[PATH_MAX], *text = NULL;
    const char *recipe = external->server->recipe;
    int code;
    if (!recipe) {
        external->prefix = strdup("");
        return external->prefix ? TLC_OK
                                : tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    }
    if (!tlc_directory_shipped("scripts/recipe", script, sizeof script))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "server %s: scripts/recipe: not found; run from a source tree or an "
                        "installation",
                        external->server->name);
    const char *const arguments[] = {script, "get", recipe, NULL};
    enum tlc_status status = tlc_process_output(arguments, RECIPE_MS, &text, &code, error);
    if (status != TLC_OK)
        return status;
    char *end = text + strlen(text);
    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        *--end = '\0';
    const char *last = strrchr(text, '\n');
    last = last ? last + 1 : text;
    if (code != 0 || *last != '/')
        status = tlc_fail(error, TLC_ENVIRONMENT, "server %s: recipe %s: %s",
                          external->server->name, recipe, last);
    else if (!(external->prefix = strdup(last)))
        status = tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    free(text);
    return status;
}

static enum tlc_status make_build_folder(struct tlc_external *external, struct tlc_error *error)
{
    char cache[PATH_MAX - 300];
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, error);
    if (status == TLC_OK &&
        asprintf(&external->build, "%s/peers/%s", cache, external->server->name) < 0) {
        external->build = NULL;
        status = tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    }
    return status == TLC_OK ? tlc_directory_make(external->build, error) : status;
}

// A build's program by its name alone is the machine's own: no recipe brings it.
static enum tlc_status find_program(const struct tlc_external *external, const char *name,
                                    struct tlc_error *error)
{
    char path[PATH_MAX], folders[8192], *rest = NULL;
    const char *places = getenv("PATH");
    if (strchr(name, '/') || strchr(name, '{'))
        return TLC_OK;
    snprintf(folders, sizeof folders, "%s", places ? places : "/usr/bin:/bin");
    for (char *folder = strtok_r(folders, ":", &rest); folder;
         folder = strtok_r(NULL, ":", &rest)) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (!access(path, X_OK))
            return TLC_OK;
    }
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "server %s: build: needs '%s', which is not on the PATH; install it, or see "
                    "docs/servers.md for servers that have a recipe",
                    external->server->name, name);
}

static enum tlc_status build(struct tlc_external *external, const struct tlc_arm *arm,
                             const char *log, struct tlc_error *error)
{
    struct tlc_external_values values = {.arm = arm, .external = external};
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; status == TLC_OK && i < external->server->build_count; i++) {
        const struct tlc_command *command = &external->server->build[i];
        struct tlc_line line;
        status = find_program(external, command->words[0], error);
        if (status == TLC_OK)
            status = tlc_line_make(command, NULL, &values, &line, error);
        if (status == TLC_OK) {
            remove(log);
            status = tlc_line_run(&line, log, BUILD_MS, error);
            tlc_line_free(&line);
            if (status != TLC_OK)
                tlc_fail_prefix(error, "server %s: build", external->server->name);
        }
    }
    return status;
}

// A server that does not tell its version is run all the same.
static enum tlc_status ask_version(struct tlc_external *external, const struct tlc_arm *arm,
                                   struct tlc_error *error)
{
    struct tlc_external_values values = {.arm = arm, .external = external};
    struct tlc_line line = {0};
    char *text = NULL;
    int code;
    struct tlc_error ignored;
    enum tlc_status status = TLC_OK;
    if (external->server->version.count)
        status = tlc_line_make(&external->server->version, NULL, &values, &line, error);
    if (status != TLC_OK)
        return status;
    if (line.words && tlc_process_output((const char *const *)line.words, VERSION_MS, &text, &code,
                                         &ignored) != TLC_OK)
        text = NULL;
    external->version = strdup(text ? first_line(text) : "");
    free(text);
    tlc_line_free(&line);
    return external->version ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
}

enum tlc_status tlc_external_open(const struct tlc_arm *arm, const char *log,
                                  struct tlc_external *external, struct tlc_error *error)
{
    *external = (struct tlc_external){0};
    enum tlc_status status = tlc_server_read(arm->server, &external->server, error);
    if (status == TLC_OK)
        status = bring_runtime(external, error);
    if (status == TLC_OK)
        status = make_build_folder(external, error);
    if (status == TLC_OK)
        status = build(external, arm, log, error);
    if (status == TLC_OK)
        status = ask_version(external, arm, error);
    if (status != TLC_OK)
        tlc_external_close(external);
    return status;
}

void tlc_external_close(struct tlc_external *external)
{
    tlc_server_free(external->server);
    free(external->prefix);
    free(external->build);
    free(external->version);
    *external = (struct tlc_external){0};
}

enum tlc_status tlc_external_bring(const struct tlc_arm *arm, const char *log,
                                   struct tlc_error *error)
{
    struct tlc_external external;
    enum tlc_status status = arm->server ? tlc_external_open(arm, log, &external, error) : TLC_OK;
    if (arm->server && status == TLC_OK)
        tlc_external_close(&external);
    return status;
}

// ---- one instance

static enum tlc_status await(const struct tlc_external_run *run, struct tlc_external_values *values,
                             struct tlc_process *process, struct tlc_error *error)
{
    const struct tlc_server *server = run->external->server;
    int64_t deadline = now_ms() + READY_MS;
    char *file = NULL, said[512];
    if (server->ready_file && !(file = tlc_external_fill_in(server->ready_file, values, error)))
        return error->status;
    bool ready = false, alive = true;
    int how = 0;
    while (!ready && (alive = tlc_process_alive(process, &how)) && now_ms() < deadline &&
           !tlc_interrupted()) {
        ready = file ? !access(file, F_OK) : tlc_loopback_accepts(values->address);
        if (!ready)
            poll(NULL, 0, 5);
    }
    free(file);
    if (ready) {
        enum tlc_status status = tlc_loopback_only(values->address, error);
        if (status != TLC_OK)
            tlc_fail_prefix(error, "server %s", server->name);
        return status;
    }
    if (tlc_interrupted())
        return tlc_fail(error, TLC_INTERRUPTED, "server %s: interrupted before it listened",
                        server->name);
    tlc_log_tail(run->log, said, sizeof said);
    if (alive)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "server %s: does not listen on {address} after 60 s, here %s%s%s",
                        server->name, values->address, *said ? ": " : "", said);
    return tlc_fail(error, TLC_ENVIRONMENT, "server %s: ended before it listened, %s %d%s%s",
                    server->name, WIFSIGNALED(how) ? "by signal" : "with exit code",
                    WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), *said ? ": " : "", said);
}

static json_t *words_json(char *const *words)
{
    json_t *json = json_array();
    for (; words && *words; words++)
        json_array_append_new(json, json_string(*words));
    return json;
}

static enum tlc_status keep_on_loopback(const struct tlc_external_run *run, struct tlc_line *line,
                                        struct tlc_error *error)
{
    char preload[2 * PATH_MAX];
    const char *const more[] = {preload, NULL};
    const char *listens = run->external->server->listens;
    if (!listens || strcmp(listens, "everywhere") != 0)
        return TLC_OK;
    enum tlc_status status = tlc_loopback_preload((const char *const *)line->environment, preload,
                                                  sizeof preload, error);
    return status == TLC_OK ? tlc_line_add_environment(line, more, error) : status;
}

enum tlc_status tlc_external_start(const struct tlc_external_run *run, struct tlc_process *process,
                                   char *address, size_t capacity, json_t **command,
                                   struct tlc_error *error)
{
    struct tlc_external_values values = {.arm = run->arm,
                                         .external = run->external,
                                         .certificates = run->certificates,
                                         .work = run->work,
                                         .address = address};
    struct tlc_line line;
    char configuration[PATH_MAX];
    *command = NULL;
    process->pid = 0;
    process->control = -1;
    tlc_directory_remove(run->work);
    enum tlc_status status = tlc_directory_make(run->work, error);
    if (status == TLC_OK && run->trace_file) {
        snprintf(configuration, sizeof configuration, "%s/openssl.cnf", run->work);
        status = tlc_trace_configuration(run->arm, run->trace_file, configuration, error);
        values.openssl_conf = configuration;
    }
    if (status == TLC_OK)
        status = tlc_loopback_free(address, capacity, error);
    if (status == TLC_OK)
        status = tlc_line_make(&run->external->server->start, run->arm->serve_options, &values,
                               &line, error);
    if (status != TLC_OK)
        return status;
    status = tlc_line_add_environment(&line, run->environment, error);
    if (status == TLC_OK)
        status = keep_on_loopback(run, &line, error);
    const struct tlc_process_options options = {.arguments = (const char *const *)line.words,
                                                .environment =
                                                    (const char *const *)line.environment,
                                                .cpus = run->cpus,
                                                .working_directory = line.directory,
                                                .stop_signal = run->external->server->stop_signal,
                                                .mark = true,
                                                .log = run->log};
    remove(run->log);
    if (status == TLC_OK)
        status = tlc_process_start(&options, process, error);
    if (status == TLC_OK)
        status = await(run, &values, process, error);
    if (status == TLC_OK)
        *command = json_pack("{s:o, s:o}", "command", words_json(line.words), "environment",
                             words_json(line.environment));
    else
        tlc_process_stop(process, 500);
    tlc_line_free(&line);
    return status;
}

enum tlc_status tlc_external_name_functions(const struct tlc_arm *arm,
                                            const struct tlc_external *external, pid_t pid,
                                            const char *log, struct tlc_error *error)
{
    struct tlc_external_values values = {.arm = arm, .external = external, .pid = pid};
    struct tlc_line line;
    if (!external->server->symbols.count)
        return TLC_OK;
    enum tlc_status status = tlc_line_make(&external->server->symbols, NULL, &values, &line, error);
    if (status != TLC_OK)
        return status;
    remove(log);
    status = tlc_line_run(&line, log, SYMBOLS_MS, error);
    tlc_line_free(&line);
    if (status != TLC_OK)
        tlc_fail_prefix(error, "server %s: symbols", external->server->name);
    return status;
}

void tlc_external_forget_functions(const struct tlc_external *external, pid_t pid)
{
    char map[64];
    snprintf(map, sizeof map, "/tmp/perf-%ld.map", (long)pid);
    if (external->server->symbols.count)
        remove(map);
}

void tlc_external_settle(pid_t root, unsigned timeout_ms)
{
    enum { QUIET_STEPS = 3, STEP_MS = 1 };
    struct tlc_tree *tree = tlc_tree_open(root);
    int64_t deadline = now_ms() + timeout_ms;
    uint64_t last = tree ? tlc_tree_read_ns(tree, NULL) : 0;
    for (unsigned quiet = 0; tree && quiet < QUIET_STEPS && now_ms() < deadline;) {
        poll(NULL, 0, STEP_MS);
        uint64_t now = tlc_tree_read_ns(tree, NULL);
        quiet = now == last ? quiet + 1 : 0;
        last = now;
    }
    tlc_tree_close(tree);
}
