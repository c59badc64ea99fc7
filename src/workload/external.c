#include "workload/external.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_mask.h"
#include "base/directory.h"
#include "measure/clock.h"
#include "measure/proc.h"
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

// ---- placeholders

struct values {
    const struct tlc_arm *arm;
    const struct tlc_external *external;
    const char *certificates, *work, *address;
    const char *openssl_conf; // NULL: none of ours
    pid_t pid;                // of the instance; 0: it has not been started
    char text[2048];          // of the value made last
};

static const char *groups_of(struct values *values)
{
    char groups[1024], *rest = NULL;
    size_t used = 0;
    snprintf(groups, sizeof groups, "%s", values->arm->groups);
    values->text[0] = '\0';
    for (char *group = strtok_r(groups, ":", &rest); group && used < sizeof values->text;
         group = strtok_r(NULL, ":", &rest))
        used +=
            (size_t)snprintf(values->text + used, sizeof values->text - used, "%s%s",
                             used ? ":" : "", tlc_server_name_of(values->external->server, group));
    return values->text;
}

static const char *file_of(struct values *values, const char *ending)
{
    snprintf(values->text, sizeof values->text, "%s/%s%s", values->certificates,
             values->arm->certificate, ending);
    return values->text;
}

static const char *number_of(struct values *values, long number)
{
    snprintf(values->text, sizeof values->text, "%ld", number);
    return values->text;
}

// What is known before an arm's instance is started.
static const char *of_description(const char *name, struct values *values)
{
    if (!strcmp(name, "prefix"))
        return values->external->prefix;
    if (!strcmp(name, "build"))
        return values->external->build;
    if (!strcmp(name, "folder"))
        return values->external->server->folder;
    if (!strcmp(name, "openssl_conf"))
        return values->openssl_conf ? values->openssl_conf : "/dev/null";
    if (!strcmp(name, "pid") && values->pid)
        return number_of(values, values->pid);
    if (!strcmp(name, "peers")) {
        snprintf(values->text, sizeof values->text, "%s/..", values->external->server->folder);
        return values->text;
    }
    return NULL;
}

static const char *of_instance(const char *name, struct values *values)
{
    if (!strcmp(name, "address"))
        return values->address;
    if (!strcmp(name, "host"))
        return "127.0.0.1";
    if (!strcmp(name, "port"))
        return strrchr(values->address, ':') + 1;
    if (!strcmp(name, "certificate"))
        return file_of(values, ".pem");
    if (!strcmp(name, "key"))
        return file_of(values, ".key");
    if (!strcmp(name, "work"))
        return values->work;
    return NULL;
}

static const char *of_arm(const char *name, struct values *values)
{
    const struct tlc_arm *arm = values->arm;
    const struct tlc_server *server = values->external->server;
    if (!strcmp(name, "groups"))
        return groups_of(values);
    if (!strcmp(name, "version"))
        return tlc_server_name_of(server, arm->version);
    if (!strcmp(name, "cipher"))
        return arm->cipher ? tlc_server_name_of(server, arm->cipher) : "";
    if (!strcmp(name, "alpn"))
        return arm->alpn ? arm->alpn : "";
    if (!strcmp(name, "accept"))
        return arm->accept;
    if (!strcmp(name, "workers"))
        return number_of(values, (long)arm->workers);
    if (!strcmp(name, "tickets"))
        return number_of(values, arm->tickets);
    if (!strcmp(name, "attribute"))
        return arm->attribute ? "+" : "-";
    if (!strcmp(name, "handshake_timeout_ms"))
        return number_of(values, (long)(arm->handshake_timeout_us / 1000));
    return NULL;
}

static const char *value_of(const char *name, void *user)
{
    struct values *values = user;
    const char *value = of_description(name, values);
    if (!value && values->address)
        value = of_instance(name, values);
    return value || !values->arm ? value : of_arm(name, values);
}

// ---- commands

struct line {
    char **words; // NULL-terminated
    char **environment;
};

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

static void free_line(struct line *line)
{
    free_words(line->words);
    free_words(line->environment);
    *line = (struct line){0};
}

// The words with placeholders filled in; `more` is appended word by word.
static enum tlc_status fill_words(const struct tlc_command *command, const char *more,
                                  struct values *values, char ***words, struct tlc_error *error)
{
    enum { MOST_MORE = 64 };
    char copy[512], *rest = NULL;
    size_t count = 0;
    *words = calloc(command->count + MOST_MORE + 1, sizeof **words);
    if (!*words)
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    for (; count < command->count; count++)
        if (!((*words)[count] = tlc_fill_in(command->words[count], value_of, values, error)))
            return error->status;
    snprintf(copy, sizeof copy, "%s", more ? more : "");
    for (char *word = strtok_r(copy, " ", &rest); word && count < command->count + MOST_MORE;
         word = strtok_r(NULL, " ", &rest))
        if (!((*words)[count++] = strdup(word)))
            return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    return TLC_OK;
}

static enum tlc_status fill_environment(const struct tlc_server *server, struct values *values,
                                        char ***pairs, struct tlc_error *error)
{
    *pairs = calloc(server->environment_count + 2u, sizeof **pairs);
    if (!*pairs)
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    for (unsigned i = 0; i < server->environment_count; i++) {
        char *value = tlc_fill_in(server->environment[i].value, value_of, values, error);
        if (!value)
            return error->status;
        int length = asprintf(&(*pairs)[i], "%s=%s", server->environment[i].name, value);
        free(value);
        if (length < 0) {
            (*pairs)[i] = NULL;
            return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
        }
    }
    // A mask is for the server, not for what builds it or tells its version.
    if (values->address && values->arm->cpu_mask &&
        asprintf(&(*pairs)[server->environment_count], TLC_CPU_MASK_VARIABLE "=%s",
                 values->arm->cpu_mask) < 0) {
        (*pairs)[server->environment_count] = NULL;
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    }
    return TLC_OK;
}

static enum tlc_status make_line(const struct tlc_command *command, const char *more,
                                 struct values *values, struct line *line, struct tlc_error *error)
{
    *line = (struct line){0};
    enum tlc_status status = fill_words(command, more, values, &line->words, error);
    if (status == TLC_OK)
        status = fill_environment(values->external->server, values, &line->environment, error);
    if (status != TLC_OK) {
        free_line(line);
        tlc_fail_prefix(error, "server: %s", values->external->server->path);
    }
    return status;
}

static enum tlc_status add_environment(struct line *line, const char *const *more,
                                       struct tlc_error *error)
{
    size_t count = 0;
    while (line->environment[count])
        count++;
    for (; more && *more; more++) {
        char **grown = realloc(line->environment, (count + 2) * sizeof *grown);
        if (!grown)
            return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
        line->environment = grown;
        grown[count] = strdup(*more);
        if (!grown[count])
            return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
        grown[++count] = NULL;
    }
    return TLC_OK;
}

// Runs a command to its end.
static enum tlc_status run_line(const struct line *line, const char *log, int timeout_ms,
                                struct tlc_error *error)
{
    struct tlc_process process;
    const struct tlc_process_options options = {.arguments = (const char *const *)line->words,
                                                .environment =
                                                    (const char *const *)line->environment,
                                                .log = log};
    enum tlc_status status = tlc_process_start(&options, &process, error);
    if (status != TLC_OK)
        return status;
    int how = 0;
    int64_t deadline = now_ms() + timeout_ms;
    while (tlc_process_alive(&process, &how) && now_ms() < deadline)
        poll(NULL, 0, 10);
    bool late = process.pid > 0;
    tlc_process_stop(&process, 500);
    if (!late && how == 0)
        return TLC_OK;
    char said[512];
    tlc_log_tail(log, said, sizeof said);
    return tlc_fail(error, TLC_ENVIRONMENT, "run: %s: %s%s%s", line->words[0],
                    late ? "no end in time" : "it failed", *said ? ": " : "", said);
}

// ---- making ready

static char *first_line(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
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

static enum tlc_status build(struct tlc_external *external, const struct tlc_arm *arm,
                             const char *log, struct tlc_error *error)
{
    struct values values = {.arm = arm, .external = external};
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; status == TLC_OK && i < external->server->build_count; i++) {
        struct line line;
        status = make_line(&external->server->build[i], NULL, &values, &line, error);
        if (status == TLC_OK) {
            remove(log);
            status = run_line(&line, log, BUILD_MS, error);
            free_line(&line);
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
    struct values values = {.arm = arm, .external = external};
    struct line line = {0};
    char *text = NULL;
    int code;
    struct tlc_error ignored;
    enum tlc_status status = TLC_OK;
    if (external->server->version.count)
        status = make_line(&external->server->version, NULL, &values, &line, error);
    if (status != TLC_OK)
        return status;
    if (line.words && tlc_process_output((const char *const *)line.words, VERSION_MS, &text, &code,
                                         &ignored) != TLC_OK)
        text = NULL;
    external->version = strdup(text ? first_line(text) : "");
    free(text);
    free_line(&line);
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

// ---- one instance

static enum tlc_status await(const struct tlc_external_run *run, struct values *values,
                             struct tlc_process *process, struct tlc_error *error)
{
    const struct tlc_server *server = run->external->server;
    int64_t deadline = now_ms() + READY_MS;
    char *file = NULL, said[512];
    if (server->ready_file && !(file = tlc_fill_in(server->ready_file, value_of, values, error)))
        return error->status;
    bool ready = false, alive = true;
    while (!ready && (alive = tlc_process_alive(process, NULL)) && now_ms() < deadline) {
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
    tlc_log_tail(run->log, said, sizeof said);
    return tlc_fail(error, TLC_ENVIRONMENT, "server %s: %s%s%s", server->name,
                    alive ? "does not listen after 60 s" : "ended before it listened",
                    *said ? ": " : "", said);
}

static json_t *words_json(char *const *words)
{
    json_t *json = json_array();
    for (; words && *words; words++)
        json_array_append_new(json, json_string(*words));
    return json;
}

static enum tlc_status keep_on_loopback(const struct tlc_external_run *run, struct line *line,
                                        struct tlc_error *error)
{
    char preload[2 * PATH_MAX];
    const char *const more[] = {preload, NULL};
    const char *listens = run->external->server->listens;
    if (!listens || strcmp(listens, "everywhere") != 0)
        return TLC_OK;
    enum tlc_status status = tlc_loopback_preload((const char *const *)line->environment, preload,
                                                  sizeof preload, error);
    return status == TLC_OK ? add_environment(line, more, error) : status;
}

enum tlc_status tlc_external_start(const struct tlc_external_run *run, struct tlc_process *process,
                                   char *address, size_t capacity, json_t **command,
                                   struct tlc_error *error)
{
    struct values values = {.arm = run->arm,
                            .external = run->external,
                            .certificates = run->certificates,
                            .work = run->work,
                            .address = address};
    struct line line;
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
        status = make_line(&run->external->server->start, run->arm->serve_options, &values, &line,
                           error);
    if (status != TLC_OK)
        return status;
    status = add_environment(&line, run->environment, error);
    if (status == TLC_OK)
        status = keep_on_loopback(run, &line, error);
    const struct tlc_process_options options = {.arguments = (const char *const *)line.words,
                                                .environment =
                                                    (const char *const *)line.environment,
                                                .cpus = run->cpus,
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
    free_line(&line);
    return status;
}

enum tlc_status tlc_external_name_functions(const struct tlc_arm *arm,
                                            const struct tlc_external *external, pid_t pid,
                                            const char *log, struct tlc_error *error)
{
    struct values values = {.arm = arm, .external = external, .pid = pid};
    struct line line;
    if (!external->server->symbols.count)
        return TLC_OK;
    enum tlc_status status = make_line(&external->server->symbols, NULL, &values, &line, error);
    if (status != TLC_OK)
        return status;
    remove(log);
    status = run_line(&line, log, SYMBOLS_MS, error);
    free_line(&line);
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
