#include "plan/server.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "plan/settings.h"
#include "plan/yaml.h"

enum { LONGEST_WORD = 1000, MOST_WORDS = 64, MOST_COMMANDS = 16, MOST_PAIRINGS = 64 };

// ---- the schema

struct document {
    char *name, *about, *recipe, *ready_file, *allocations, *chains, *listens, *warm_up, *directory,
        *stop;
    struct tlc_command *build;
    unsigned build_count;
    char **start, **version, **symbols, **lacks;
    unsigned start_count, version_count, symbols_count, lacks_count;
    struct tlc_pairing *environment, *names;
    unsigned environment_count, names_count;
};

static const cyaml_schema_value_t word_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, LONGEST_WORD)};
static const cyaml_schema_field_t pairing_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct tlc_pairing, name, 1, LONGEST_WORD),
    CYAML_FIELD_STRING_PTR("value", CYAML_FLAG_POINTER, struct tlc_pairing, value, 0, LONGEST_WORD),
    CYAML_FIELD_END};
static const cyaml_schema_value_t pairing_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_pairing, pairing_fields)};
static const cyaml_schema_field_t command_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("run", CYAML_FLAG_POINTER, struct tlc_command, words, count,
                               &word_value, 1, MOST_WORDS),
    CYAML_FIELD_END};
static const cyaml_schema_value_t command_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_command, command_fields)};

enum { MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };
static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct document, name, 1, 40),
    CYAML_FIELD_STRING_PTR("about", CYAML_FLAG_POINTER, struct document, about, 1, LONGEST_WORD),
    CYAML_FIELD_STRING_PTR("recipe", MAYBE, struct document, recipe, 1, 100),
    CYAML_FIELD_STRING_PTR("ready_file", MAYBE, struct document, ready_file, 1, LONGEST_WORD),
    CYAML_FIELD_STRING_PTR("allocations", MAYBE, struct document, allocations, 1, 10),
    CYAML_FIELD_SEQUENCE("build", MAYBE, struct document, build, &command_value, 0, MOST_COMMANDS),
    CYAML_FIELD_SEQUENCE("start", CYAML_FLAG_POINTER, struct document, start, &word_value, 1,
                         MOST_WORDS),
    CYAML_FIELD_SEQUENCE("version", MAYBE, struct document, version, &word_value, 1, MOST_WORDS),
    CYAML_FIELD_SEQUENCE("symbols", MAYBE, struct document, symbols, &word_value, 1, MOST_WORDS),
    CYAML_FIELD_SEQUENCE("environment", MAYBE, struct document, environment, &pairing_value, 0,
                         MOST_PAIRINGS),
    CYAML_FIELD_SEQUENCE("names", MAYBE, struct document, names, &pairing_value, 0, MOST_PAIRINGS),
    CYAML_FIELD_STRING_PTR("chains", MAYBE, struct document, chains, 1, 100),
    CYAML_FIELD_STRING_PTR("listens", MAYBE, struct document, listens, 1, 100),
    CYAML_FIELD_STRING_PTR("warm_up", MAYBE, struct document, warm_up, 1, 20),
    CYAML_FIELD_STRING_PTR("directory", MAYBE, struct document, directory, 1, LONGEST_WORD),
    CYAML_FIELD_STRING_PTR("stop", MAYBE, struct document, stop, 1, 20),
    CYAML_FIELD_SEQUENCE("lacks", MAYBE, struct document, lacks, &word_value, 0, MOST_PAIRINGS),
    CYAML_FIELD_END};
static const cyaml_schema_value_t document_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct document, fields)};

static const struct tlc_yaml_kind kind = {"server", "docs/servers.md", &document_value};

// ---- from the document to the description

// libcyaml's memory is malloc's, so what it made is taken over.
static void take_over(struct document *from, struct tlc_server *into)
{
    *into = (struct tlc_server){
        .name = from->name,
        .about = from->about,
        .recipe = from->recipe,
        .ready_file = from->ready_file,
        .allocations = from->allocations,
        .chains = from->chains,
        .listens = from->listens,
        .directory = from->directory,
        .build = from->build,
        .build_count = from->build_count,
        .start = {from->start, from->start_count},
        .version = {from->version, from->version_count},
        .symbols = {from->symbols, from->symbols_count},
        .environment = from->environment,
        .environment_count = from->environment_count,
        .names = from->names,
        .names_count = from->names_count,
        .lacks = {from->lacks, from->lacks_count},
    };
    free(from);
}

// A word of two; NULL is the default.
static bool is_either(const char *word, const char *one, const char *other)
{
    return !word || !strcmp(word, one) || !strcmp(word, other);
}

static enum tlc_status check_words(const struct tlc_server *server, const char *path,
                                   struct tlc_error *error)
{
    if (!server->path || !server->folder)
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    if (!is_either(server->allocations, "preload", "own"))
        return tlc_fail(error, TLC_USAGE, "server: %s: allocations: '%.32s': write preload or own",
                        path, server->allocations);
    if (!is_either(server->chains, "dwarf", "frame-pointers"))
        return tlc_fail(error, TLC_USAGE,
                        "server: %s: chains: '%.32s': write dwarf or frame-pointers", path,
                        server->chains);
    if (!is_either(server->listens, "loopback", "everywhere"))
        return tlc_fail(error, TLC_USAGE,
                        "server: %s: listens: '%.32s': write loopback or everywhere", path,
                        server->listens);
    return TLC_OK;
}

static enum tlc_status read_warm_up(struct tlc_server *server, const char *text, const char *path,
                                    struct tlc_error *error)
{
    static const struct tlc_setting setting = {.name = "warm_up",
                                               .offset = offsetof(struct tlc_server, warm_up_us),
                                               .type = TLC_MEMBER_UNSIGNED,
                                               .unit = TLC_UNIT_MICROSECONDS,
                                               .high = 600e6};
    char why[TLC_WHY_BYTES];
    if (tlc_read_time(&setting, text, server, why, sizeof why))
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE, "server: %s: %s", path, why);
}

static enum tlc_status read_stop(struct tlc_server *server, const char *word, const char *path,
                                 struct tlc_error *error)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"SIGTERM", SIGTERM}, {"SIGINT", SIGINT}, {"SIGQUIT", SIGQUIT}, {"SIGHUP", SIGHUP}};
    server->stop_signal = SIGTERM;
    if (!word)
        return TLC_OK;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!strcmp(word, signals[i].name)) {
            server->stop_signal = signals[i].number;
            return TLC_OK;
        }
    return tlc_fail(error, TLC_USAGE,
                    "server: %s: stop: '%.20s': write SIGTERM, SIGINT, SIGQUIT or SIGHUP", path,
                    word);
}

enum tlc_status tlc_server_parse(const char *text, size_t count, const char *path,
                                 struct tlc_server **server, struct tlc_error *error)
{
    void *data;
    *server = NULL;
    enum tlc_status status = tlc_yaml_parse(&kind, text, count, path, &data, error);
    if (status != TLC_OK)
        return status;
    *server = calloc(1, sizeof **server);
    if (!*server) {
        tlc_yaml_free(&kind, data);
        return tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    }
    char *warm_up = ((struct document *)data)->warm_up, *stop = ((struct document *)data)->stop;
    take_over(data, *server);
    const char *slash = strrchr(path, '/');
    (*server)->path = strdup(path);
    (*server)->folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    status = check_words(*server, path, error);
    if (status == TLC_OK && warm_up)
        status = read_warm_up(*server, warm_up, path, error);
    if (status == TLC_OK)
        status = read_stop(*server, stop, path, error);
    free(warm_up);
    free(stop);
    if (status == TLC_OK)
        return TLC_OK;
    tlc_server_free(*server);
    *server = NULL;
    return status;
}

static void free_command(struct tlc_command *command)
{
    for (unsigned i = 0; i < command->count; i++)
        free(command->words[i]);
    free(command->words);
}

static void free_pairings(struct tlc_pairing *pairings, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        free(pairings[i].name);
        free(pairings[i].value);
    }
    free(pairings);
}

void tlc_server_free(struct tlc_server *server)
{
    if (!server)
        return;
    for (unsigned i = 0; i < server->build_count; i++)
        free_command(&server->build[i]);
    free(server->build);
    free_command(&server->start);
    free_command(&server->version);
    free_command(&server->symbols);
    free_command(&server->lacks);
    free_pairings(server->environment, server->environment_count);
    free_pairings(server->names, server->names_count);
    free(server->name);
    free(server->about);
    free(server->path);
    free(server->folder);
    free(server->recipe);
    free(server->ready_file);
    free(server->allocations);
    free(server->chains);
    free(server->listens);
    free(server->directory);
    free(server);
}

// ---- files

static enum tlc_status read_file(const char *path, struct tlc_server **server,
                                 struct tlc_error *error)
{
    char *text;
    size_t count;
    enum tlc_status status = tlc_yaml_text(&kind, path, &text, &count, error);
    if (status == TLC_OK)
        status = tlc_server_parse(text, count, path, server, error);
    free(text);
    return status;
}

// The description of the name in one folder of peers; false when it has none.
static bool is_in(const char *folder, const char *name, char path[PATH_MAX])
{
    char wanted[PATH_MAX];
    int length = snprintf(wanted, sizeof wanted, "%s/%s/server.yaml", folder, name);
    return length < PATH_MAX && realpath(wanted, path) && !access(path, R_OK);
}

static bool find(const char *name, char path[PATH_MAX])
{
    const char *chosen = getenv("TLSCOST_PEERS_PATH");
    char folder[PATH_MAX];
    if (chosen && *chosen && is_in(chosen, name, path))
        return true;
    return tlc_directory_shipped("peers", folder, sizeof folder) && is_in(folder, name, path);
}

enum tlc_status tlc_server_read(const char *name, struct tlc_server **server,
                                struct tlc_error *error)
{
    char path[PATH_MAX];
    *server = NULL;
    if (strchr(name, '/'))
        return read_file(name, server, error);
    if (*name == '.' || !find(name, path))
        return tlc_fail(error, TLC_USAGE,
                        "server: %.100s: there is no peers/%.100s/server.yaml; write the name of "
                        "one in the folder peers, or the path of such a file",
                        name, name);
    return read_file(path, server, error);
}

const char *tlc_server_name_of(const struct tlc_server *server, const char *name)
{
    for (unsigned i = 0; i < server->names_count; i++)
        if (!strcmp(server->names[i].name, name))
            return server->names[i].value;
    return name;
}

// ---- placeholders

struct growing {
    char *text;
    size_t used, capacity;
};

static bool append(struct growing *to, const char *bytes, size_t count)
{
    if (to->used + count + 1 > to->capacity) {
        size_t capacity = 2 * (to->used + count + 1);
        char *grown = realloc(to->text, capacity);
        if (!grown)
            return false;
        to->text = grown;
        to->capacity = capacity;
    }
    memcpy(to->text + to->used, bytes, count);
    to->used += count;
    to->text[to->used] = '\0';
    return true;
}

// One placeholder at `*at`, which moves behind it.
static bool append_value(struct growing *to, const char **at, tlc_placeholder *placeholder,
                         void *user, struct tlc_error *error)
{
    char name[40];
    const char *end = strchr(*at, '}');
    size_t length = end ? (size_t)(end - *at) - 1 : sizeof name;
    if (length >= sizeof name) {
        (void)tlc_fail(error, TLC_USAGE, "'%.60s': a '{' without its '}'; write '{{' for a brace",
                       *at);
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, *at + 1);
    const char *value = placeholder(name, user);
    if (!value) {
        (void)tlc_fail(error, TLC_USAGE, "'{%s}' stands for nothing; see docs/servers.md", name);
        return false;
    }
    *at = end + 1;
    return append(to, value, strlen(value));
}

char *tlc_fill_in(const char *word, tlc_placeholder *placeholder, void *user,
                  struct tlc_error *error)
{
    struct growing text = {0};
    bool good = append(&text, "", 0);
    while (good && *word) {
        size_t plain = strcspn(word, "{");
        good = append(&text, word, plain);
        word += plain;
        if (good && word[0] == '{' && word[1] == '{') {
            good = append(&text, "{", 1);
            word += 2;
        } else if (good && *word) {
            good = append_value(&text, &word, placeholder, user, error);
            if (!good) {
                free(text.text);
                return NULL;
            }
        }
    }
    if (good)
        return text.text;
    free(text.text);
    (void)tlc_fail(error, TLC_ENVIRONMENT, "server: out of memory");
    return NULL;
}
