#include "workload/external_command.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_mask.h"
#include "base/interrupt.h"
#include "measure/clock.h"
#include "workload/network_server.h"

// ---- placeholders

static const char *groups_of(struct tlc_external_values *values)
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

static const char *file_of(struct tlc_external_values *values, const char *ending)
{
    snprintf(values->text, sizeof values->text, "%s/%s%s", values->certificates,
             values->arm->certificate, ending);
    return values->text;
}

static const char *number_of(struct tlc_external_values *values, long number)
{
    snprintf(values->text, sizeof values->text, "%ld", number);
    return values->text;
}

// What is known before an arm's instance is started.
static const char *of_description(const char *name, struct tlc_external_values *values)
{
    if (!strcmp(name, "prefix"))
        return values->external->server->recipe ? values->external->prefix : NULL;
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

static const char *of_instance(const char *name, struct tlc_external_values *values)
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

static const char *of_arm(const char *name, struct tlc_external_values *values)
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
    struct tlc_external_values *values = user;
    const char *value = of_description(name, values);
    if (!value && values->address)
        value = of_instance(name, values);
    return value || !values->arm ? value : of_arm(name, values);
}

char *tlc_external_fill_in(const char *word, struct tlc_external_values *values,
                           struct tlc_error *error)
{
    return tlc_fill_in(word, value_of, values, error);
}

// ---- commands

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

void tlc_line_free(struct tlc_line *line)
{
    free_words(line->words);
    free_words(line->environment);
    free(line->directory);
    *line = (struct tlc_line){0};
}

static enum tlc_status fill_words(const struct tlc_command *command, const char *more,
                                  struct tlc_external_values *values, char ***words,
                                  struct tlc_error *error)
{
    enum { MOST_MORE = 64 };
    char copy[512], *rest = NULL;
    size_t count = 0;
    *words = calloc(command->count + MOST_MORE + 1, sizeof **words);
    if (!*words)
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    for (; count < command->count; count++)
        if (!((*words)[count] = tlc_external_fill_in(command->words[count], values, error)))
            return error->status;
    snprintf(copy, sizeof copy, "%s", more ? more : "");
    for (char *word = strtok_r(copy, " ", &rest); word && count < command->count + MOST_MORE;
         word = strtok_r(NULL, " ", &rest))
        if (!((*words)[count++] = strdup(word)))
            return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    return TLC_OK;
}

static enum tlc_status fill_environment(const struct tlc_server *server,
                                        struct tlc_external_values *values, char ***pairs,
                                        struct tlc_error *error)
{
    *pairs = calloc(server->environment_count + 2u, sizeof **pairs);
    if (!*pairs)
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    for (unsigned i = 0; i < server->environment_count; i++) {
        char *value = tlc_external_fill_in(server->environment[i].value, values, error);
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

enum tlc_status tlc_line_make(const struct tlc_command *command, const char *more,
                              struct tlc_external_values *values, struct tlc_line *line,
                              struct tlc_error *error)
{
    *line = (struct tlc_line){0};
    enum tlc_status status = fill_words(command, more, values, &line->words, error);
    if (status == TLC_OK)
        status = fill_environment(values->external->server, values, &line->environment, error);
    const char *directory = values->external->server->directory;
    if (status == TLC_OK && directory &&
        !(line->directory = tlc_external_fill_in(directory, values, error)))
        status = error->status;
    if (status != TLC_OK) {
        tlc_line_free(line);
        tlc_fail_prefix(error, "server: %s", values->external->server->path);
    }
    return status;
}

enum tlc_status tlc_line_add_environment(struct tlc_line *line, const char *const *more,
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

enum tlc_status tlc_line_run(const struct tlc_line *line, const char *log, int timeout_ms,
                             struct tlc_error *error)
{
    struct tlc_process process;
    const struct tlc_process_options options = {.arguments = (const char *const *)line->words,
                                                .environment =
                                                    (const char *const *)line->environment,
                                                .working_directory = line->directory,
                                                .mark = true,
                                                .log = log};
    enum tlc_status status = tlc_process_start(&options, &process, error);
    if (status != TLC_OK)
        return status;
    int how = 0;
    uint64_t deadline_ns = tlc_now_ns() + (uint64_t)timeout_ms * 1000000;
    while (tlc_process_alive(&process, &how) && tlc_now_ns() < deadline_ns && !tlc_interrupted())
        poll(NULL, 0, 10);
    bool late = process.pid > 0;
    tlc_process_stop(&process, 500);
    if (!late && how == 0)
        return TLC_OK;
    if (tlc_interrupted())
        return tlc_fail(error, TLC_INTERRUPTED, "run: %s: interrupted", line->words[0]);
    char said[512];
    tlc_log_tail(log, said, sizeof said);
    return tlc_fail(error, TLC_ENVIRONMENT, "run: %s: %s%s%s", line->words[0],
                    late ? "no end in time" : "it failed", *said ? ": " : "", said);
}
