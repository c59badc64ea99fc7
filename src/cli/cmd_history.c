// tlscost history: a folder of results of one plan, as a trend for each arm.
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/share.h"
#include "report/history.h"
#include "result/result.h"

enum { MOST_RESULTS = 1000 };

struct options {
    const char *folder, *format;
    bool json;
    struct tlc_history_options history;
};

enum { KEY_PLAN = 256, KEY_RELATIVE, KEY_ABSOLUTE, KEY_LEVEL, KEY_JSON };

static const struct argp_option argp_options[] = {
    {"plan", KEY_PLAN, "NAME", 0, "Results of this plan (default: that of the newest result)", 0},
    {"relative-to", KEY_RELATIVE, "ARM", 0,
     "Divide by this arm of the same block (default: the control)", 0},
    {"absolute", KEY_ABSOLUTE, NULL, 0, "Divide by nothing; the machine at its time is in it", 0},
    {"level", KEY_LEVEL, "SHARE", 0, "Mark changes with a p of at most this (default 1%)", 0},
    {"format", 'f', "NAME", 0, "terminal (default) or markdown", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_PLAN:
        options->history.plan = argument;
        return 0;
    case KEY_RELATIVE:
        options->history.relative_to = argument;
        return 0;
    case KEY_ABSOLUTE:
        options->history.absolute = true;
        return 0;
    case KEY_LEVEL:
        if (!tlc_parse_share(argument, &options->history.alpha) ||
            options->history.alpha < 0.0005 || options->history.alpha > 0.5)
            argp_error(state, "--level '%s': not a share from 0.05%% to 50%%", argument);
        return 0;
    case 'f':
        if (strcmp(argument, "terminal") && strcmp(argument, "markdown"))
            argp_error(state, "format '%s': unknown; known are terminal, markdown", argument);
        options->format = argument;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->folder)
            argp_error(state, "'%s': one folder at a time", argument);
        options->folder = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no folder; name one that holds results of 'tlscost run -o FILE'");
        return 0;
    case ARGP_KEY_END:
        if (options->history.absolute && options->history.relative_to)
            argp_error(state, "--absolute and --relative-to exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Show how the cost of each arm went over the results (*.json) of one plan in a folder: its "
    "ratio to the control by time, with the results at which the level changed marked, and what "
    "differed in machine, stack and plan there. Nothing is measured; docs/compare.md tells the "
    "method."
    "\vExamples:\n"
    "  tlscost history results/\n"
    "  tlscost history results/ --plan certificates --level 5%\n"
    "  tlscost history results/ --json | jq '.arms[] | {name, changes}'\n";

struct folder {
    struct tlc_history_entry *entries;
    json_t **results; // owned
    struct dirent **names;
    size_t count;
    int name_count;
};

static int is_result(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 5, ".json");
}

static enum tlc_status read_result(struct folder *folder, const char *directory, const char *name,
                                   struct tlc_error *error)
{
    char path[4096];
    json_t **result = &folder->results[folder->count];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return tlc_fail(error, TLC_USAGE, "history: %.200s: the path is too long", directory);
    enum tlc_status status = tlc_result_read(path, result, error);
    if (status == TLC_OK)
        folder->entries[folder->count++] =
            (struct tlc_history_entry){.file = name, .result = *result};
    return status;
}

// A file that is no result does not spoil the others: it is named and left out.
static enum tlc_status read_folder(const char *path, struct folder *folder, struct tlc_error *error)
{
    folder->name_count = scandir(path, &folder->names, is_result, alphasort);
    if (folder->name_count < 0)
        return tlc_fail_errno(error, "history: %s", path);
    if (folder->name_count > MOST_RESULTS)
        return tlc_fail(error, TLC_USAGE, "history: %s: more than %d results", path, MOST_RESULTS);
    folder->entries = calloc((size_t)folder->name_count + 1, sizeof *folder->entries);
    folder->results = calloc((size_t)folder->name_count + 1, sizeof *folder->results);
    if (!folder->entries || !folder->results)
        return tlc_fail(error, TLC_ENVIRONMENT, "history: out of memory");
    for (int i = 0; i < folder->name_count; i++) {
        struct tlc_error why = {0};
        if (read_result(folder, path, folder->names[i]->d_name, &why) != TLC_OK)
            fprintf(stderr, "tlscost: left out: %s\n", why.text);
    }
    return TLC_OK;
}

static void free_folder(struct folder *folder)
{
    for (size_t i = 0; folder->results && i < folder->count; i++)
        json_decref(folder->results[i]);
    for (int i = 0; i < folder->name_count; i++)
        free(folder->names[i]);
    free(folder->names);
    free(folder->results);
    free(folder->entries);
}

int tlc_cmd_history(int argc, char **argv)
{
    struct options options = {.format = "terminal", .history = {.alpha = 0.01}};
    const struct argp argp = {argp_options, parse_option, "DIR", documentation, NULL, NULL, NULL};
    struct folder folder = {0};
    struct tlc_error error = {0};
    json_t *history = NULL;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    enum tlc_status status = read_folder(options.folder, &folder, &error);
    if (status == TLC_OK)
        status =
            tlc_history_build(folder.entries, folder.count, &options.history, &history, &error);
    if (status == TLC_OK && options.json)
        tlc_print_json(history);
    else if (status == TLC_OK)
        status = tlc_history_write(history, options.format, stdout, &error);
    json_decref(history);
    free_folder(&folder);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
