// tlscost stacks: the TLS libraries that can be measured.
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/names.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/recipe_build.h"
#include "stacks/loader.h"
#include "stacks/verdict.h"

#define STACKS_SCHEMA "https://tlscost.invalid/stacks/1"

enum { WORDS_MAX = 32 };

struct options {
    const char *words[WORDS_MAX];
    size_t count;
    bool json;
};

// --- what a stack supports, asked from its library ----------------------------------------------

struct feature {
    enum tlc_stack_feature kind;
    const char *key;   // member of the JSON document
    const char *title; // heading for people
    bool registry;     // codes and names come from base/names.h
    enum tlc_name_kind names;
    const char *words[4]; // else the names of code 0, 1, ...
};

static const struct feature features[] = {
    {TLC_FEATURE_VERSION, "versions", "versions", true, TLC_NAME_VERSION, {NULL}},
    {TLC_FEATURE_GROUP, "groups", "groups", true, TLC_NAME_GROUP, {NULL}},
    {TLC_FEATURE_SIGNATURE, "signatures", "signatures", true, TLC_NAME_SIGNATURE, {NULL}},
    {TLC_FEATURE_CIPHER, "ciphers", "ciphers", true, TLC_NAME_CIPHER, {NULL}},
    {TLC_FEATURE_PSK_MODE, "psk_modes", "psk modes", false, 0, {"psk_ke", "psk_dhe_ke"}},
    {TLC_FEATURE_TICKETS, "tickets", "tickets", false, 0, {"off", "stateless", "stateful"}},
    {TLC_FEATURE_TICKET_KEYS, "ticket_keys", "ticket keys", false, 0, {"yes"}},
    {TLC_FEATURE_CLIENT_AUTH, "client_auth", "client auth", false, 0, {"yes"}},
    {TLC_FEATURE_SNI_TABLE, "sni_table", "SNI table", false, 0, {"yes"}},
    {TLC_FEATURE_MEMORY_TRANSPORT, "memory_transport", "in memory", false, 0, {"yes"}},
    {TLC_FEATURE_COOKIE, "cookie", "cookie", false, 0, {"yes"}},
};
#define FEATURES (sizeof features / sizeof *features)

static void add_if_supported(json_t *list, const struct tlc_stack *stack,
                             const struct feature *feature, uint16_t code, const char *name)
{
    if (stack->supports(feature->kind, code, NULL))
        json_array_append_new(list, json_string(name));
}

static json_t *supported_names(const struct tlc_stack *stack, const struct feature *feature)
{
    json_t *list = json_array();
    const char *name;
    if (feature->registry)
        for (size_t i = 0; (name = tlc_name_at(feature->names, i)); i++)
            add_if_supported(list, stack, feature, tlc_code(feature->names, name), name);
    else
        for (uint16_t code = 0; code < 4 && feature->words[code]; code++)
            add_if_supported(list, stack, feature, code, feature->words[code]);
    return list;
}

static json_t *supported(const struct tlc_stack *stack)
{
    json_t *all = json_object();
    for (size_t i = 0; i < FEATURES; i++) {
        json_t *names = supported_names(stack, &features[i]);
        bool single = !features[i].registry && !features[i].words[1];
        json_object_set_new(all, features[i].key,
                            single ? json_boolean(json_array_size(names)) : json_incref(names));
        json_decref(names);
    }
    return all;
}

// --- list, show, verify
// ---------------------------------------------------------------------------

static json_t *document(const char *command, const char *member, json_t *value)
{
    return json_pack("{s:s, s:s, s:o}", "schema", STACKS_SCHEMA, "command", command, member, value);
}

static void print_and_free(json_t *json)
{
    tlc_print_json(json);
    json_decref(json);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

// With which flags, and by which compiler, a library was built here; 'show' tells a distribution's.
static void print_flags(const json_t *manifest)
{
    const char *native = json_string_value(json_object_get(manifest, "native"));
    const char *flags = json_string_value(json_object_get(manifest, "flags"));
    if (!strcmp(text_of(manifest, "route"), "source"))
        printf("%-22s %s%s%s%s; by %s\n", "", flags ? flags : "no flags of the recipe's",
               native ? " (native: " : "", native ? native : "", native ? ")" : "",
               text_of(manifest, "compiler"));
}

static int list_stacks(const struct options *options)
{
    struct tlc_error error = {TLC_OK, ""};
    char **ids = tlc_stack_ids();
    json_t *rows = json_array();
    // A plug-in of another version in the user's cache keeps nothing from working.
    for (char **id = ids; id && *id; id++) {
        const struct tlc_stack_plugin *plugin;
        if (tlc_stack_load(*id, &plugin, &error))
            (void)tlc_report_error(&error);
        else
            json_array_append_new(rows, tlc_stack_describe(plugin));
    }
    tlc_stack_ids_free(ids);
    int code = json_array_size(rows) ? TLC_OK : TLC_ENVIRONMENT;
    if (options->json) {
        print_and_free(document("stacks", "stacks", rows));
        return code;
    }
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        const json_t *manifest = json_object_get(row, "manifest");
        printf("%-22s %s %-10s %s\n", text_of(row, "id"), text_of(row, "name"),
               text_of(row, "version"),
               json_is_object(manifest) ? text_of(manifest, "package_version")
                                        : "unknown origin (no manifest)");
        print_flags(manifest);
    }
    if (!json_array_size(rows))
        printf("no stacks found; build the default one with 'make'\n");
    printf("\nMore can be made from recipes: tlscost stacks get NAME\n");
    json_decref(rows);
    return code;
}

static void print_names(const char *title, const json_t *value)
{
    printf("  %-12s", title);
    size_t index;
    json_t *name;
    if (json_is_array(value))
        json_array_foreach(value, index, name)
            printf("%s%s", index ? ", " : "", json_string_value(name));
    else
        printf("%s", json_is_true(value) ? "yes" : "no");
    printf("\n");
}

// How long the recipe took to make the library, and to find it made already.
static void print_seconds(const json_t *manifest)
{
    const json_t *seconds = json_object_get(manifest, "seconds");
    const json_t *clean = json_object_get(seconds, "clean");
    const json_t *cached = json_object_get(seconds, "cached");
    if (!json_is_number(clean))
        return;
    printf("  %-12s%.1f s clean", "made in", json_number_value(clean));
    if (json_is_number(cached))
        printf(", %.2f s from the cache", json_number_value(cached));
    printf("\n");
}

static void print_stack(const json_t *facts, const struct tlc_stack_plugin *plugin)
{
    const json_t *manifest = json_object_get(facts, "manifest");
    const json_t *names = json_object_get(facts, "supports");
    printf("%s: %s %s\n", plugin->id, text_of(facts, "name"), text_of(facts, "version"));
    printf("  %-12s%s\n  %-12s%s\n  %-12s%s\n", "file", plugin->path, "sha256",
           text_of(facts, "sha256"), "build", text_of(facts, "build"));
    if (json_is_object(manifest))
        printf("  %-12srecipe %s: %s %s of %s\n", "origin", text_of(manifest, "recipe"),
               text_of(manifest, "package"), text_of(manifest, "package_version"),
               text_of(json_object_get(manifest, "origin"), "suite"));
    if (json_is_string(json_object_get(manifest, "flags")))
        printf("  %-12s%s; by %s\n", "flags", text_of(manifest, "flags"),
               text_of(manifest, "compiler"));
    print_seconds(manifest);
    for (size_t i = 0; i < FEATURES; i++)
        print_names(features[i].title, json_object_get(names, features[i].key));
}

static int show_stack(const struct options *options)
{
    struct tlc_error error = {TLC_OK, ""};
    const struct tlc_stack_plugin *plugin;
    if (tlc_stack_load(options->words[1], &plugin, &error))
        return tlc_report_error(&error);
    json_t *facts = tlc_stack_describe(plugin);
    json_object_set_new(facts, "supports", supported(plugin->stack));
    if (options->json) {
        print_and_free(document("stacks show", "stack", facts));
        return TLC_OK;
    }
    print_stack(facts, plugin);
    json_decref(facts);
    return TLC_OK;
}

static void print_failures(const json_t *rows)
{
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        if (json_is_true(json_object_get(row, "ok")))
            continue;
        printf("  failed: %s %s %s %s: %s\n", text_of(row, "feature"), text_of(row, "version"),
               text_of(row, "group"), text_of(row, "certificate"), text_of(row, "reason"));
    }
}

static size_t count_good(const json_t *rows)
{
    size_t index, good = 0;
    json_t *row;
    json_array_foreach(rows, index, row) good += json_is_true(json_object_get(row, "ok"));
    return good;
}

// Runs one self-test; a broken library is a finding, not an error of ours.
static int verify_one(const char *id, bool json, json_t *documents)
{
    struct tlc_error error = {TLC_OK, ""};
    const struct tlc_stack_plugin *plugin;
    json_t *rows = NULL;
    if (tlc_stack_load(id, &plugin, &error))
        return tlc_report_error(&error);
    enum tlc_status status = tlc_stack_self_test(plugin, &rows, &error);
    // Half a self-test is no verdict.
    if (status != TLC_INTERRUPTED)
        tlc_stack_keep_verdict(plugin, status, &error);
    if (json) {
        json_array_append_new(documents, json_pack("{s:s, s:s, s:b, s:O}", "id", plugin->id,
                                                   "version", plugin->stack->version(), "ok",
                                                   status == TLC_OK, "cases", rows));
    } else {
        printf("%s (%s %s): %zu of %zu cases good\n", plugin->id, plugin->stack->name,
               plugin->stack->version(), count_good(rows), json_array_size(rows));
        print_failures(rows);
        fflush(stdout);
    }
    json_decref(rows);
    return status ? tlc_report_error(&error) : TLC_OK;
}

static void on_interrupt(int signal)
{
    (void)signal;
    tlc_stack_self_test_interrupt();
}

// The first ^C ends the test in order, and what was verified is told; the second ends the program.
static void heed_interrupts(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int verify_stacks(const struct options *options)
{
    json_t *documents = json_array();
    int code = TLC_OK;
    char **ids = options->count > 1 ? NULL : tlc_stack_ids();
    heed_interrupts();
    for (size_t i = 1; i < options->count && code != TLC_INTERRUPTED; i++) {
        int one = verify_one(options->words[i], options->json, documents);
        code = one ? one : code;
    }
    for (char **id = ids; id && *id && code != TLC_INTERRUPTED; id++) {
        int one = verify_one(*id, options->json, documents);
        code = one ? one : code;
    }
    tlc_stack_ids_free(ids);
    if (options->json)
        print_and_free(document("stacks verify", "stacks", json_incref(documents)));
    json_decref(documents);
    return code;
}

// --- get
// ------------------------------------------------------------------------------------------

static int get_stack(const struct options *options)
{
    struct tlc_error error = {TLC_OK, ""};
    char path[4096] = "", script[PATH_MAX];
    if (!tlc_directory_shipped("scripts/recipe", script, sizeof script)) {
        tlc_fail(&error, TLC_ENVIRONMENT,
                 "stacks get: scripts/recipe: not found beside %s; run it from a source tree or an "
                 "installation",
                 tlc_program_path());
        return tlc_report_error(&error);
    }
    enum tlc_status status = tlc_recipe_build(script, options->words[1], path, sizeof path, &error);
    if (status)
        return tlc_report_error(&error);
    if (!options->json)
        printf("%s\n", path);
    json_t *documents = json_array();
    int code = verify_one(path, options->json, documents);
    if (options->json)
        print_and_free(document("stacks get", "stacks", json_incref(documents)));
    json_decref(documents);
    return code;
}

// --- remove
// ---------------------------------------------------------------------------------------

// The id of what a recipe made, where the word is a recipe's and no id itself.
static const char *id_made_by(const char *cache, const char *word, char *id, size_t capacity)
{
    char folder[600], file[900];
    snprintf(folder, sizeof folder, "%s/stacks", cache);
    snprintf(file, sizeof file, "%s/%s.so", folder, word);
    char *made = access(file, F_OK) ? tlc_stack_made_by(folder, word) : NULL;
    const char *name = made ? strrchr(made, '/') : NULL;
    if (name)
        snprintf(id, capacity, "%.*s", (int)(strlen(name + 1) - strlen(".so")), name + 1);
    free(made);
    return name ? id : word;
}

// Only what 'get' made goes: in the user's folder, and with the manifest that 'get' wrote.
static int remove_stack(const struct options *options)
{
    struct tlc_error error = {TLC_OK, ""};
    char cache[512], plugin[800], manifest[800], made[256];
    const char *id = options->words[1];
    enum tlc_status status =
        tlc_directory_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, &error);
    if (status == TLC_OK && (!*id || strchr(id, '/') || strlen(id) > 200))
        status = tlc_fail(&error, TLC_USAGE, "stacks remove: '%.64s': write a stack's id", id);
    if (status == TLC_OK) {
        id = id_made_by(cache, id, made, sizeof made);
        snprintf(plugin, sizeof plugin, "%s/stacks/%s.so", cache, id);
        snprintf(manifest, sizeof manifest, "%s/stacks/%s.json", cache, id);
        if (unlink(plugin) && errno == ENOENT)
            status = tlc_fail(&error, TLC_USAGE,
                              "stacks remove: %s: not made by 'tlscost stacks get'; there is no %s",
                              id, plugin);
        else if (access(plugin, F_OK) == 0)
            status = tlc_fail_errno(&error, "stacks remove: %s", plugin);
    }
    if (status != TLC_OK)
        return tlc_report_error(&error);
    unlink(manifest);
    if (options->json)
        print_and_free(document("stacks remove", "removed", json_string(id)));
    else
        printf("removed %s\nIts library stays in %s/prefixes, so that it is made again quickly.\n",
               id, cache);
    return TLC_OK;
}

// --- options
// --------------------------------------------------------------------------------------

// NOLINTNEXTLINE(readability-non-const-parameter): the signature is argp's
static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->count == WORDS_MAX)
            argp_error(state, "too many arguments");
        options->words[options->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct {
    const char *name;
    size_t least, most; // arguments behind the name
    int (*run)(const struct options *options);
} actions[] = {{"list", 0, 0, list_stacks},
               {"show", 1, 1, show_stack},
               {"verify", 0, WORDS_MAX, verify_stacks},
               {"get", 1, 1, get_stack},
               {"build", 1, 1, get_stack}, // of a library that is there already, the same work
               {"remove", 1, 1, remove_stack}};

int tlc_cmd_stacks(int argc, char **argv)
{
    static const struct argp_option rows[] = {{"json", 'j', NULL, 0, "Print one JSON document", 0},
                                              {0}};
    static const struct argp argp = {
        .options = rows,
        .parser = parse_option,
        .args_doc = "[list]\nshow ID\nverify [ID...]\nget NAME\nbuild NAME\nremove ID",
        .doc =
            "The TLS libraries that can be measured: list them, show what one supports (asked from "
            "the library itself), verify them by handshakes in memory with every version, group "
            "and key type, get another one by a recipe (of a library that was got before, build "
            "its plug-in anew), or remove it."
            "\vExamples:\n  tlscost stacks\n  tlscost stacks show openssl\n"
            "  tlscost stacks verify\n  tlscost stacks get openssl-3.6\n"
            "  tlscost stacks get wolfssl-5\n  tlscost stacks remove wolfssl-5.9.2\n\n"
            "Plug-ins are looked for in the folders of TLSCOST_STACKS (separated by colons), in "
            "'stacks' beside the program, in the installation, and where 'get' puts them."};
    struct options options = {.count = 0};
    struct tlc_error error = {TLC_OK, ""};
    argp_err_exit_status = TLC_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (!options.count)
        options.words[options.count++] = "list";
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(options.words[0], actions[i].name) != 0)
            continue;
        if (options.count - 1 >= actions[i].least && options.count - 1 <= actions[i].most)
            return actions[i].run(&options);
        tlc_fail(&error, TLC_USAGE, "stacks %s: takes %s; see 'tlscost stacks --help'",
                 actions[i].name, actions[i].most ? "one name" : "no argument");
        return tlc_report_error(&error);
    }
    tlc_fail(&error, TLC_USAGE,
             "stacks: '%s': unknown; write list, show, verify, get, build or remove",
             options.words[0]);
    return tlc_report_error(&error);
}
