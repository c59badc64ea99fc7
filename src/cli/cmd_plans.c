// tlscost plans: the ready plans and the question each answers; the arms of one plan.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "plan/plan.h"

#define PLANS_SCHEMA "https://tlscost.invalid/plans/1"

enum { KEY_JSON = 256, KEY_QUICK, VALUE_BYTES = 1024, MOST_KEYS = 32 };

struct options {
    const char *shown; // the plan of `show`; NULL: list all
    bool show, json, quick;
};

static const struct argp_option argp_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON document", 0},
    {"quick", KEY_QUICK, NULL, 0, "As 'run --quick' would run them", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0 && strcmp(argument, "show"))
            argp_error(state, "'%s': not an action; write nothing, or 'show NAME'", argument);
        if (state->arg_num > 1)
            argp_error(state, "'%s': one plan at a time", argument);
        options->show = true;
        options->shown = state->arg_num == 1 ? argument : NULL;
        return 0;
    case ARGP_KEY_END:
        if (options->show && !options->shown)
            argp_error(state, "show: no plan named; write for example 'show levers'");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "List the ready plans with the question each answers, their arms and the time they measure; or "
    "show one plan with all its arms. NAME is a plan's name or the path of a YAML file."
    "\vExamples:\n"
    "  tlscost plans\n"
    "  tlscost plans show levers\n"
    "  tlscost plans show ./mine.yaml --json\n\n"
    "Plans are found in the folder that TLSCOST_PLANS names, then beside the program, then where "
    "they were installed. docs/plan.md describes the format.";

static enum tlc_status read_plan(const char *path, bool quick, struct tlc_plan **plan,
                                 struct tlc_error *error)
{
    enum tlc_status status = tlc_plan_read(path, plan, error);
    if (status == TLC_OK && quick)
        tlc_plan_make_quick(*plan);
    return status;
}

static void print_time(double seconds, char *text, size_t bytes)
{
    if (seconds < 60)
        snprintf(text, bytes, "%.0f s", seconds);
    else
        snprintf(text, bytes, "%.1f min", seconds / 60);
}

// ---- the list

static void list_plan(const struct tlc_plan *plan, const char *path, json_t *json)
{
    if (json) {
        json_array_append_new(json,
                              json_pack("{s:s, s:s, s:I, s:f, s:s}", "name", plan->name, "question",
                                        plan->question, "arms", (json_int_t)plan->arm_count,
                                        "seconds", tlc_plan_seconds(plan), "path", path));
        return;
    }
    char time[32];
    print_time(tlc_plan_seconds(plan), time, sizeof time);
    printf("%-14s %4zu arms  %8s  %s\n", plan->name, plan->arm_count, time, plan->question);
}

// Lists what can be read; a broken plan is reported and does not hide the others.
static int list_plans(const struct options *options)
{
    int code = TLC_OK;
    char **paths = tlc_plan_list();
    json_t *json = options->json ? json_array() : NULL;
    if (!paths || !*paths) {
        struct tlc_error error;
        code = tlc_fail(&error, TLC_ENVIRONMENT,
                        "plans: no folder of plans found; name one in TLSCOST_PLANS");
        tlc_report_error(&error);
    }
    for (char **path = paths; path && *path; path++) {
        struct tlc_plan *plan;
        struct tlc_error error = {0};
        if (read_plan(*path, options->quick, &plan, &error) != TLC_OK) {
            code = tlc_report_error(&error);
            continue;
        }
        list_plan(plan, *path, json);
        tlc_plan_free(plan);
    }
    if (json && code == TLC_OK) {
        json_t *document =
            json_pack("{s:s, s:s, s:O}", "schema", PLANS_SCHEMA, "command", "plans", "plans", json);
        tlc_print_json(document);
        json_decref(document);
    }
    json_decref(json);
    tlc_plan_list_free(paths);
    return code;
}

// ---- one plan

static bool key_varies(const struct tlc_plan *plan, const char *key)
{
    char first[VALUE_BYTES], value[VALUE_BYTES];
    tlc_arm_value(&plan->arms[0], key, first, sizeof first);
    for (size_t i = 1; i < plan->arm_count; i++) {
        tlc_arm_value(&plan->arms[i], key, value, sizeof value);
        if (strcmp(first, value))
            return true;
    }
    return false;
}

// One column of the arm table: its texts are asked for twice, for the width and for the print.
typedef void column_text(const struct tlc_arm *arm, const char *key, char *text, size_t bytes);

static void text_of_name(const struct tlc_arm *arm, const char *key, char *text, size_t bytes)
{
    (void)key;
    snprintf(text, bytes, "%s", arm->name);
}

static void text_of_lever(const struct tlc_arm *arm, const char *key, char *text, size_t bytes)
{
    (void)key;
    snprintf(text, bytes, "%s", arm->lever ? arm->lever : "-");
}

static void text_of_key(const struct tlc_arm *arm, const char *key, char *text, size_t bytes)
{
    tlc_arm_value(arm, key, text, bytes);
}

struct column {
    const char *title;
    column_text *text;
    int width;
};

static void widen(struct column *column, const struct tlc_plan *plan)
{
    char text[VALUE_BYTES];
    size_t width = strlen(column->title);
    for (size_t i = 0; i < plan->arm_count; i++) {
        column->text(&plan->arms[i], column->title, text, sizeof text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    column->width = (int)width;
}

static size_t choose_columns(const struct tlc_plan *plan, struct column *columns)
{
    size_t count = 0;
    columns[count++] = (struct column){"arm", text_of_name, 0};
    if (plan->lever_count)
        columns[count++] = (struct column){"lever", text_of_lever, 0};
    for (size_t i = 0; tlc_arm_key_at(i) && count < MOST_KEYS; i++)
        if (key_varies(plan, tlc_arm_key_at(i)))
            columns[count++] = (struct column){tlc_arm_key_at(i), text_of_key, 0};
    for (size_t i = 0; i < count; i++)
        widen(&columns[i], plan);
    return count;
}

static void print_arms(const struct tlc_plan *plan)
{
    struct column columns[MOST_KEYS];
    size_t count = choose_columns(plan, columns);
    for (size_t row = 0; row <= plan->arm_count; row++)
        for (size_t i = 0; i < count; i++) {
            char text[VALUE_BYTES];
            snprintf(text, sizeof text, "%s", columns[i].title);
            if (row)
                columns[i].text(&plan->arms[row - 1], columns[i].title, text, sizeof text);
            bool last = i + 1 == count;
            printf("%-*s%s", last ? 0 : columns[i].width, text, last ? "\n" : "  ");
        }
}

static void print_common_values(const struct tlc_plan *plan)
{
    printf("\nIn all arms:\n");
    for (size_t i = 0; tlc_arm_key_at(i); i++) {
        const char *key = tlc_arm_key_at(i);
        char text[VALUE_BYTES];
        if (key_varies(plan, key))
            continue;
        tlc_arm_value(&plan->arms[0], key, text, sizeof text);
        printf("  %-14s %s\n", key, text);
    }
}

static void print_plan(const struct tlc_plan *plan)
{
    const struct tlc_schedule *schedule = &plan->schedule;
    char time[32];
    print_time(tlc_plan_seconds(plan), time, sizeof time);
    printf("%s: %s\n%s\n\n", plan->name, plan->question, plan->file);
    printf("%zu arms x %u blocks x (%g ms warm-up + %u rounds x %g ms) = %s of measuring\n\n",
           plan->arm_count, schedule->blocks, (double)schedule->warm_up_us / 1e3, schedule->rounds,
           (double)(schedule->slice_us + schedule->settle_us) / 1e3, time);
    print_arms(plan);
    print_common_values(plan);
    for (size_t i = 0; i < plan->lever_count; i++)
        if (plan->levers[i].pulls)
            printf("%s  %s: %s\n", i ? "" : "\nWhat pulling a lever costs you:\n",
                   plan->levers[i].name, plan->levers[i].pulls);
}

static enum tlc_status show_plan(const struct options *options, struct tlc_error *error)
{
    char *path;
    struct tlc_plan *plan = NULL;
    enum tlc_status status = tlc_plan_find(options->shown, &path, error);
    if (status == TLC_OK)
        status = read_plan(path, options->quick, &plan, error);
    free(path);
    if (status != TLC_OK)
        return status;
    if (options->json) {
        json_t *document =
            json_pack("{s:s, s:s, s:o, s:f}", "schema", PLANS_SCHEMA, "command", "plans show",
                      "plan", tlc_plan_to_json(plan), "seconds", tlc_plan_seconds(plan));
        tlc_print_json(document);
        json_decref(document);
    } else {
        print_plan(plan);
    }
    tlc_plan_free(plan);
    return TLC_OK;
}

int tlc_cmd_plans(int argc, char **argv)
{
    static const struct argp argp = {argp_options, parse_option, "\nshow NAME", documentation,
                                     NULL,         NULL,         NULL};
    struct options options = {0};
    struct tlc_error error = {0};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    if (!options.show)
        return list_plans(&options);
    return show_plan(&options, &error) == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
