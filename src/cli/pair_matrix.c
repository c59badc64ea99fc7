#include "cli/pair_matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "campaign/campaign.h"
#include "cli/common.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"
#include "measure/machine.h"
#include "plan/server.h"
#include "report/matrix.h"
#include "result/result.h"
#include "stacks/loader.h"

#define MATRIX_SCHEMA "https://tlscost.invalid/matrix/1"

// A plan holds so many arms; what is only tried needs several.
enum { MOST_TIMED = 128, TRIED_AT_ONCE = 64 };

// A part of the cells.
struct part {
    size_t from, to;
    bool only_good;
};

struct matrix {
    const struct tlc_matrix_options *options;
    char **servers, **clients, **others; // others: servers of other makers
    json_t *cells;                       // {server, client, ok, reason, evidence, ...} in order
    struct tlc_measuring measuring;
};

// ---- who takes part

static char **stacks_of(const char *list)
{
    return list ? tlc_words(list) : tlc_stack_ids();
}

static void free_stacks(const char *list, char **stacks)
{
    if (list)
        tlc_words_free(stacks);
    else
        tlc_stack_ids_free(stacks);
}

static bool is_one(const char *list)
{
    return list && *list && !strchr(list, ',');
}

static enum tlc_status check_lists(const struct tlc_pair_options *pair, struct tlc_error *error)
{
    const struct {
        const char *option, *list;
    } single[] = {{"--versions", pair->versions},       {"--groups", pair->groups},
                  {"--certs", pair->certificates},      {"--resumption", pair->resumption},
                  {"--client-auth", pair->client_auth}, {"--intermediates", pair->intermediates}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (!is_one(single[i].list))
            return tlc_fail(error, TLC_USAGE,
                            "pair: %s: '%.64s': a matrix is of one value; run one for each",
                            single[i].option, single[i].list);
    return TLC_OK;
}

static json_t *cell_new(const char *server, const char *client, bool other)
{
    return json_pack("{s:s, s:s, s:b, s:b, s:n, s:n, s:n, s:n}", "server", server, "client", client,
                     "in_memory", !other, "ok", false, "reason", "evidence", "server_us",
                     "client_us");
}

// A name that is none is told before anything is tried.
static enum tlc_status check_names(const struct matrix *matrix, struct tlc_error *error)
{
    char **const stacks[] = {matrix->servers, matrix->clients};
    enum tlc_status status = TLC_OK;
    const struct tlc_stack_plugin *plugin;
    struct tlc_server *server;
    for (size_t i = 0; i < 2; i++) {
        bool named = i ? strcmp(matrix->options->pair->client_stacks, "same") != 0
                       : matrix->options->pair->stacks != NULL;
        for (char **id = stacks[i]; named && id && *id && status == TLC_OK; id++)
            status = tlc_stack_load(*id, &plugin, error);
    }
    for (char **name = matrix->others; name && *name && status == TLC_OK; name++) {
        status = tlc_server_read(*name, &server, error);
        if (status == TLC_OK)
            tlc_server_free(server);
    }
    if (status != TLC_OK)
        tlc_fail_prefix(error, "pair");
    return status;
}

static enum tlc_status make_cells(struct matrix *matrix, struct tlc_error *error)
{
    for (int other = 0; other < 2; other++)
        for (char **server = other ? matrix->others : matrix->servers; server && *server; server++)
            for (char **client = matrix->clients; client && *client; client++)
                json_array_append_new(matrix->cells, cell_new(*server, *client, other));
    size_t count = json_array_size(matrix->cells);
    if (!count)
        return tlc_fail(error, TLC_USAGE, "pair: --matrix: no stack; build one with 'make'");
    if (matrix->options->time && count > MOST_TIMED)
        return tlc_fail(error, TLC_USAGE,
                        "pair: --matrix --time: %zu cells, at most %d are measured; name fewer "
                        "with --stack and --client-stack",
                        count, MOST_TIMED);
    return TLC_OK;
}

// ---- the plan of the cells: JSON, which is YAML too

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

// The last words of a path; an arm's name holds no slash.
static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void name_of(const json_t *cell, size_t index, char name[101])
{
    // Two paths may end alike.
    bool path = strchr(text_of(cell, "server"), '/') || strchr(text_of(cell, "client"), '/');
    int used = snprintf(name, 101, "%.40s, client %.40s", short_name(text_of(cell, "server")),
                        short_name(text_of(cell, "client")));
    if (path)
        snprintf(name + used, 101 - (size_t)used, " %zu", index);
}

static json_t *arm_of(const struct matrix *matrix, const json_t *cell)
{
    const struct tlc_pair_options *pair = matrix->options->pair;
    const char *resumption = tlc_pair_resumption(pair->resumption, pair->versions);
    bool in_memory = json_is_true(json_object_get(cell, "in_memory"));
    json_t *arm =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "version", pair->versions, "groups",
                  pair->groups, "certificate", pair->certificates, "client_auth", pair->client_auth,
                  "intermediates", pair->intermediates, "resumption", resumption, "resume_ratio",
                  strcmp(resumption, "none") ? "100%" : "0%");
    if (in_memory) {
        json_object_set_new(arm, "workload", json_string("memory"));
        json_object_set(arm, "stack", json_object_get(cell, "server"));
        json_object_set(arm, "client_stack", json_object_get(cell, "client"));
    } else {
        json_object_set_new(arm, "workload", json_string("network"));
        json_object_set_new(arm, "engine", json_string("full"));
        json_object_set_new(arm, "tickets", json_string("1"));
        json_object_set(arm, "server", json_object_get(cell, "server"));
        json_object_set(arm, "stack", json_object_get(cell, "client"));
    }
    return arm;
}

// A plan whose arms are the part's cells (`only_good`: those that work), and the first of them its
// baseline.
static json_t *plan_of(const struct matrix *matrix, struct part part)
{
    const struct tlc_pair_options *pair = matrix->options->pair;
    json_t *include = json_array(), *baseline = NULL, *cell;
    size_t index;
    for (index = part.from; index < part.to; index++) {
        char name[101];
        cell = json_array_get(matrix->cells, index);
        json_t *arm = arm_of(matrix, cell);
        if (part.only_good && !json_is_true(json_object_get(cell, "ok"))) {
            json_decref(arm);
        } else if (!baseline) {
            baseline = arm;
        } else {
            name_of(cell, index, name);
            json_object_set_new(arm, "name", json_string(name));
            json_array_append_new(include, arm);
        }
    }
    // What an arm does not say it would take from the baseline, which may be of the other kind.
    static const char *const own[][2] = {
        {"engine", "lean"}, {"tickets", "2"}, {"server", "none"}, {"client_stack", "same"}};
    json_array_foreach(include, index, cell) for (size_t i = 0; i < sizeof own / sizeof *own;
                                                  i++) if (!json_object_get(cell, own[i][0]))
        json_object_set_new(cell, own[i][0], json_string(own[i][1]));
    json_t *schedule = json_pack("{s:s, s:o, s:o, s:o, s:o}", "blocks", "6", "rounds",
                                 json_sprintf("%" PRIu64, pair->iterations), "slice",
                                 json_sprintf("%" PRIu64 "us", pair->slice_us), "count",
                                 json_sprintf("%" PRIu64, pair->count), "warm_up",
                                 json_sprintf("%" PRIu64 "us", pair->warm_up_us));
    json_t *checks =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "server_busy", "0%", "generator_busy", "100%",
                  "headroom_gain", "0%", "accounting", pair->busy_machine ? "10000%" : "10%",
                  "steal", pair->busy_machine ? "100%" : "5%");
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", "matrix", "question",
                     "Which client can talk to which server, and at what cost?", "workload",
                     "memory", "control", "false", "baseline", baseline, "include", include,
                     "schedule", schedule, "checks", checks);
}

static enum tlc_status parse_plan(const struct matrix *matrix, struct part part,
                                  struct tlc_plan **plan, struct tlc_error *error)
{
    json_t *json = plan_of(matrix, part);
    char *text = json ? json_dumps(json, 0) : NULL;
    *plan = NULL;
    enum tlc_status status = text ? tlc_plan_parse(text, strlen(text), "pair", plan, error)
                                  : tlc_fail(error, TLC_ENVIRONMENT, "pair: out of memory");
    if (status == TLC_OK)
        (*plan)->schedule.blocks = (unsigned)matrix->options->pair->blocks;
    free(text);
    json_decref(json);
    return status;
}

// ---- trying and measuring

// The reason without the arm's name, which the cell tells.
static const char *bare(const char *text)
{
    static const char arm[] = "arm '";
    const char *end;
    while (!strncmp(text, arm, sizeof arm - 1) && (end = strstr(text, "': ")))
        text = end + 3;
    return text;
}

static enum tlc_status try_part(struct matrix *matrix, struct part part, struct tlc_error *error)
{
    struct tlc_campaign_options *campaign = &matrix->measuring.campaign;
    for (size_t index = part.from; index < part.to; index++) {
        struct tlc_error why = {0};
        json_t *evidence, *cell = json_array_get(matrix->cells, index);
        if (tlc_interrupted())
            return tlc_fail(error, TLC_INTERRUPTED, "pair: interrupted");
        enum tlc_status status = tlc_campaign_try(campaign, index - part.from, &evidence, &why);
        json_object_set_new(cell, "ok", json_boolean(status == TLC_OK));
        if (status != TLC_OK)
            json_object_set_new(cell, "reason", json_string(bare(why.text)));
        if (evidence)
            json_object_set_new(cell, "evidence", evidence);
    }
    return TLC_OK;
}

static enum tlc_status try_cells(struct matrix *matrix, struct tlc_error *error)
{
    size_t count = json_array_size(matrix->cells);
    enum tlc_status status = TLC_OK;
    for (size_t from = 0; from < count && status == TLC_OK; from += TRIED_AT_ONCE) {
        struct tlc_plan *plan;
        size_t to = count - from > TRIED_AT_ONCE ? from + TRIED_AT_ONCE : count;
        struct part part = {.from = from, .to = to};
        status = parse_plan(matrix, part, &plan, error);
        if (status != TLC_OK)
            break;
        matrix->measuring.campaign.plan = plan;
        status = try_part(matrix, part, error);
        tlc_plan_free(plan);
    }
    matrix->measuring.campaign.plan = NULL;
    return status;
}

static bool any_good(const json_t *cells)
{
    size_t index;
    json_t *cell;
    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (json_is_true(json_object_get(cell, "ok")))
            return true;
    }
    return false;
}

// The figures of an arm into its cell. The workload network does not tell the client's.
static void take_figures(json_t *cell, const json_t *arm)
{
    bool in_memory = json_is_true(json_object_get(cell, "in_memory"));
    json_t *server = json_object_get(arm, in_memory ? "server_us" : "cost_us");
    json_t *client = in_memory ? json_object_get(arm, "client_us") : NULL;
    if (json_is_object(server))
        json_object_set(cell, "server_us", server);
    else
        json_object_set_new(cell, "reason",
                            json_string(tlc_interrupted() ? "no figures: interrupted"
                                                          : "its figures were refused by checks"));
    if (json_is_object(client))
        json_object_set(cell, "client_us", client);
}

static enum tlc_status measure_cells(struct matrix *matrix, struct tlc_error *error)
{
    struct tlc_plan *plan;
    json_t *result = NULL, *cell;
    size_t index, arm = 0;
    const struct part all = {.to = json_array_size(matrix->cells), .only_good = true};
    enum tlc_status status = parse_plan(matrix, all, &plan, error);
    if (status != TLC_OK)
        return status;
    matrix->measuring.campaign.plan = plan;
    status = tlc_campaign_run(&matrix->measuring.campaign, &result, error);
    json_array_foreach(matrix->cells, index, cell)
    {
        if (json_is_true(json_object_get(cell, "ok")))
            take_figures(cell, json_array_get(json_object_get(result, "arms"), arm++));
    }
    json_decref(result);
    tlc_plan_free(plan);
    // Refused figures are told in their cells; what was asked is the matrix.
    return status == TLC_REFUSED ? TLC_OK : status;
}

static enum tlc_status fill(struct matrix *matrix, struct tlc_error *error)
{
    enum tlc_status status = check_lists(matrix->options->pair, error);
    if (status == TLC_OK)
        status = check_names(matrix, error);
    if (status == TLC_OK)
        status = make_cells(matrix, error);
    if (status == TLC_OK)
        status =
            tlc_measuring_begin(&matrix->measuring, "matrix", matrix->options->measuring, error);
    if (status == TLC_OK)
        status = try_cells(matrix, error);
    if (status == TLC_OK && matrix->options->time && any_good(matrix->cells))
        status = measure_cells(matrix, error);
    tlc_measuring_end(&matrix->measuring, false);
    return status;
}

// ---- the document

static void append_all(json_t *list, char *const *words)
{
    for (; words && *words; words++)
        json_array_append_new(list, json_string(*words));
}

static json_t *stacks_json(const struct matrix *matrix)
{
    json_t *stacks = json_array();
    char **const lists[] = {matrix->servers, matrix->clients};
    for (size_t i = 0; i < 2; i++)
        for (char **id = lists[i]; id && *id; id++) {
            const struct tlc_stack_plugin *plugin;
            struct tlc_error ignored;
            bool again = false;
            for (char **before = lists[0]; i && before && *before; before++)
                again = again || !strcmp(*before, *id);
            if (!again && tlc_stack_load(*id, &plugin, &ignored) == TLC_OK)
                json_array_append_new(stacks, tlc_stack_describe(plugin));
        }
    return stacks;
}

static json_t *document_of(const struct matrix *matrix)
{
    const struct tlc_pair_options *pair = matrix->options->pair;
    json_t *document = tlc_result_new("pair --matrix", tlc_machine_describe());
    json_t *servers = json_array(), *clients = json_array();
    json_object_set_new(document, "schema", json_string(MATRIX_SCHEMA));
    append_all(servers, matrix->servers);
    append_all(servers, matrix->others);
    append_all(clients, matrix->clients);
    json_object_set_new(document, "asked",
                        json_pack("{s:s, s:s, s:s, s:s}", "version", pair->versions, "groups",
                                  pair->groups, "certificate", pair->certificates, "resumption",
                                  pair->resumption));
    json_object_set_new(document, "stacks", stacks_json(matrix));
    json_object_set_new(document, "servers", servers);
    json_object_set_new(document, "clients", clients);
    json_object_set(document, "cells", matrix->cells);
    return document;
}

static int show(const struct matrix *matrix, const json_t *document)
{
    struct tlc_error error = {0};
    const struct tlc_matrix_options *options = matrix->options;
    enum tlc_status status = options->measuring->json
                                 ? tlc_result_write(document, "-", &error)
                                 : tlc_matrix_report_write(document, stdout, &error);
    if (status == TLC_OK && options->measuring->output)
        status = tlc_result_write(document, options->measuring->output, &error);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    return any_good(matrix->cells) ? TLC_OK : TLC_REFUSED;
}

// Cells that an interruption left: none was refused, and none is good.
static void tell_untried(json_t *cells)
{
    size_t index;
    json_t *cell;
    json_array_foreach(cells, index, cell)
    {
        if (!json_is_true(json_object_get(cell, "ok")) &&
            !json_is_string(json_object_get(cell, "reason")))
            json_object_set_new(cell, "reason", json_string("not tried: interrupted"));
    }
}

int tlc_pair_matrix(const struct tlc_matrix_options *options)
{
    struct tlc_error error = {0};
    const char *clients = options->pair->client_stacks;
    struct matrix matrix = {.options = options, .cells = json_array()};
    if (!strcmp(clients, "same"))
        clients = options->pair->stacks;
    matrix.servers = stacks_of(options->pair->stacks);
    matrix.clients = stacks_of(clients);
    matrix.others = options->servers ? tlc_words(options->servers) : NULL;
    tlc_catch_interrupts();
    enum tlc_status status =
        options->measuring->output
            ? tlc_can_be_written("pair", "--output", options->measuring->output, &error)
            : TLC_OK;
    if (status == TLC_OK)
        status = fill(&matrix, &error);
    int code = status;
    if (status == TLC_OK || (status == TLC_INTERRUPTED && json_array_size(matrix.cells))) {
        tell_untried(matrix.cells);
        json_t *document = document_of(&matrix);
        code = show(&matrix, document);
        json_decref(document);
    }
    if (status != TLC_OK)
        code = tlc_report_error(&error);
    free_stacks(options->pair->stacks, matrix.servers);
    free_stacks(clients, matrix.clients);
    tlc_words_free(matrix.others);
    json_decref(matrix.cells);
    return code;
}
