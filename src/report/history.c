#include "report/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_parts.h"
#include "result/result.h"
#include "result/rounds.h"
#include "stats/change_point.h"
#include "stats/rank_sum.h"

// Three values on each side of a change, so that one wild result is none.
enum { SHORTEST = 3, MOST_CHANGES = 64 };

struct history {
    const struct tlc_history_options *options;
    const struct tlc_history_entry *entries; // of the plan, by time
    size_t count;
    const char *reference; // NULL: absolute
    json_t *left_out;
};

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static const char *plan_of(const json_t *result)
{
    return text_of(json_object_get(result, "plan"), "name");
}

static int by_time(const void *left, const void *right)
{
    const struct tlc_history_entry *a = left, *b = right;
    int order = strcmp(text_of(a->result, "started"), text_of(b->result, "started"));
    return order ? order : strcmp(a->file, b->file);
}

static void leave_out(struct history *history, const char *file, const char *why)
{
    json_array_append_new(history->left_out, json_pack("{s:s, s:s}", "file", file, "why", why));
}

// Keeps the results of the plan, sorted by time.
static void choose_entries(struct history *history, struct tlc_history_entry *entries, size_t count,
                           const char *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *result = entries[i].result;
        char why[160];
        if (strcmp(text_of(result, "command"), "run")) {
            snprintf(why, sizeof why, "a result of '%.32s'", text_of(result, "command"));
            leave_out(history, entries[i].file, why);
        } else if (strcmp(plan_of(result), plan)) {
            snprintf(why, sizeof why, "plan '%.100s'", plan_of(result));
            leave_out(history, entries[i].file, why);
        } else {
            entries[kept++] = entries[i];
        }
    }
    qsort(entries, kept, sizeof *entries, by_time);
    history->entries = entries;
    history->count = kept;
}

static const char *newest_plan(const struct tlc_history_entry *entries, size_t count)
{
    const struct tlc_history_entry *newest = NULL;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(text_of(entries[i].result, "command"), "run") &&
            (!newest || by_time(newest, &entries[i]) < 0))
            newest = &entries[i];
    return newest ? plan_of(newest->result) : NULL;
}

// The series of one arm: where it has figures.
struct series {
    double *value; // log of the estimate
    size_t *entry; // index of its result
    size_t count;
    json_t *points;
};

static bool is_accepted(const json_t *arm)
{
    return json_is_true(json_object_get(arm, "accepted"));
}

static bool add_point(const struct history *history, const char *name, size_t index,
                      struct series *series)
{
    const json_t *result = history->entries[index].result;
    const json_t *arm = tlc_result_arm(result, name);
    const json_t *reference =
        history->reference ? tlc_result_arm(result, history->reference) : NULL;
    json_t *point = json_pack("{s:i, s:n, s:n}", "result", (int)index, "value", "change");
    json_array_append_new(series->points, point);
    bool usable = is_accepted(arm) && (!history->reference || is_accepted(reference));
    struct tlc_units units = {0};
    if (!usable)
        return true;
    if (!tlc_units_read(arm, reference, &units))
        return false;
    struct tlc_interval interval = tlc_signed_rank_interval(units.value, units.count, 0.95);
    if (interval.n) {
        series->value[series->count] = interval.estimate;
        series->entry[series->count++] = index;
        json_object_set_new(point, "value", tlc_ratio_json(interval));
    }
    tlc_units_free(&units);
    return true;
}

// One change: where, how sure, how large between its two neighbouring levels, and what differed in
// the environment of the two results that it lies between.
static json_t *change_json(const struct history *history, const struct series *series,
                           const struct tlc_change *change, size_t from, size_t until)
{
    size_t at = change->at, entry = series->entry[at], before = series->entry[at - 1];
    struct tlc_interval shift = tlc_rank_sum_interval(series->value + from, at - from,
                                                      series->value + at, until - at, 0.95);
    return json_pack(
        "{s:I, s:s, s:f, s:o, s:o, s:o}", "result", (json_int_t)entry, "file",
        history->entries[entry].file, "p", change->p, "ratio", tlc_ratio_json(shift),
        "environment_differences",
        tlc_environment_differences(history->entries[before].result,
                                    history->entries[entry].result),
        "plan_differences",
        tlc_plan_differences(history->entries[before].result, history->entries[entry].result));
}

static json_t *changes_json(const struct history *history, const struct series *series)
{
    struct tlc_change changes[MOST_CHANGES];
    size_t count = tlc_change_points(series->value, series->count, history->options->alpha,
                                     SHORTEST, changes, MOST_CHANGES);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        size_t from = i ? changes[i - 1].at : 0;
        size_t until = i + 1 < count ? changes[i + 1].at : series->count;
        json_array_append_new(list, change_json(history, series, &changes[i], from, until));
        json_t *point = json_array_get(series->points, series->entry[changes[i].at]);
        json_object_set_new(point, "change", json_integer((json_int_t)i));
    }
    return list;
}

static json_t *arm_json(const struct history *history, const char *name)
{
    struct series series = {.value = calloc(history->count + 1, sizeof *series.value),
                            .entry = calloc(history->count + 1, sizeof *series.entry),
                            .points = json_array()};
    bool whole = series.value && series.entry;
    json_t *arm = NULL;
    for (size_t i = 0; whole && i < history->count; i++)
        whole = add_point(history, name, i, &series);
    if (whole)
        arm = json_pack("{s:s, s:O, s:o}", "name", name, "points", series.points, "changes",
                        changes_json(history, &series));
    json_decref(series.points);
    free(series.value);
    free(series.entry);
    return arm;
}

// Names of all arms in the order in which they first appear, without the reference.
static json_t *arm_names(const struct history *history)
{
    json_t *names = json_array(), *seen = json_object();
    for (size_t i = 0; i < history->count; i++) {
        const json_t *arms = json_object_get(history->entries[i].result, "arms");
        for (size_t k = 0; k < json_array_size(arms); k++) {
            const char *name = text_of(json_array_get(arms, k), "name");
            bool is_reference = history->reference && !strcmp(name, history->reference);
            if (is_reference || json_object_get(seen, name))
                continue;
            json_object_set_new(seen, name, json_true());
            json_array_append_new(names, json_string(name));
        }
    }
    json_decref(seen);
    return names;
}

static json_t *results_json(const struct history *history)
{
    json_t *results = json_array();
    for (size_t i = 0; i < history->count; i++) {
        const json_t *result = history->entries[i].result;
        json_array_append_new(
            results, json_pack("{s:s, s:s, s:O?}", "file", history->entries[i].file, "started",
                               text_of(result, "started"), "accepted",
                               json_object_get(json_object_get(result, "campaign"), "accepted")));
    }
    return results;
}

static json_t *arms_json(const struct history *history)
{
    json_t *arms = json_array(), *names = arm_names(history);
    bool whole = true;
    for (size_t i = 0; whole && i < json_array_size(names); i++) {
        json_t *arm = arm_json(history, json_string_value(json_array_get(names, i)));
        whole = arm && !json_array_append_new(arms, arm);
    }
    json_decref(names);
    if (!whole) {
        json_decref(arms);
        return NULL;
    }
    return arms;
}

// The control of the newest result, when every result has that arm; or the arm that was named.
static enum tlc_status choose_reference(struct history *history, char *why, size_t bytes,
                                        struct tlc_error *error)
{
    const struct tlc_history_options *options = history->options;
    const json_t *newest = history->entries[history->count - 1].result;
    snprintf(why, bytes, "--absolute was asked for");
    if (options->absolute)
        return TLC_OK;
    history->reference = tlc_reference_of(newest, newest, options->relative_to, why, bytes);
    if (!history->reference && options->relative_to)
        return tlc_fail(error, TLC_USAGE, "history: --relative-to: %s of the newest result", why);
    return TLC_OK;
}

static enum tlc_status build(struct history *history, const char *plan, json_t **document,
                             struct tlc_error *error)
{
    char why[160];
    enum tlc_status status = choose_reference(history, why, sizeof why, error);
    json_t *arms = status == TLC_OK ? arms_json(history) : NULL;
    if (status != TLC_OK)
        return status;
    if (!arms)
        return tlc_fail(error, TLC_ENVIRONMENT, "history: out of memory");
    const json_t *newest = history->entries[history->count - 1].result;
    *document = tlc_result_new("history", json_deep_copy(json_object_get(newest, "environment")));
    json_object_set_new(*document, "plan", json_string(plan));
    json_object_set_new(*document, "normalisation",
                        json_pack("{s:s, s:s?, s:s?}", "kind",
                                  history->reference ? "relative" : "absolute", "reference",
                                  history->reference, "why", history->reference ? NULL : why));
    json_object_set_new(*document, "alpha", json_real(history->options->alpha));
    json_object_set_new(*document, "results", results_json(history));
    json_object_set(*document, "left_out", history->left_out);
    json_object_set_new(*document, "arms", arms);
    return TLC_OK;
}

enum tlc_status tlc_history_build(const struct tlc_history_entry *entries, size_t count,
                                  const struct tlc_history_options *options, json_t **document,
                                  struct tlc_error *error)
{
    const char *plan = options->plan ? options->plan : newest_plan(entries, count);
    struct history history = {.options = options, .left_out = json_array()};
    struct tlc_history_entry *chosen = calloc(count + 1, sizeof *chosen);
    enum tlc_status status = TLC_OK;
    if (!chosen)
        status = tlc_fail(error, TLC_ENVIRONMENT, "history: out of memory");
    else if (count)
        memcpy(chosen, entries, count * sizeof *chosen);
    if (status == TLC_OK && plan)
        choose_entries(&history, chosen, count, plan);
    if (status == TLC_OK && !history.count)
        status = tlc_fail(error, TLC_USAGE, "history: no result of 'run'%s%.100s%s among %zu files",
                          options->plan ? " of plan '" : "", options->plan ? options->plan : "",
                          options->plan ? "'" : "", count);
    if (status == TLC_OK)
        status = build(&history, plan, document, error);
    json_decref(history.left_out);
    free(chosen);
    return status;
}
