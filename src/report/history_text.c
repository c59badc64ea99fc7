// A history told in words and tables.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/exporters.h"
#include "report/history.h"
#include "report/telling.h"
#include "report/words.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static struct tlc_figure figure_of(const json_t *figure)
{
    return (struct tlc_figure){tlc_json_number(figure, "estimate"), tlc_json_number(figure, "low"),
                               tlc_json_number(figure, "high")};
}

static const json_t *result_at(const json_t *history, json_int_t index)
{
    return json_array_get(json_object_get(history, "results"), (size_t)index);
}

static bool is_relative(const json_t *history)
{
    return !strcmp(text_of(json_object_get(history, "normalisation"), "kind"), "relative");
}

static void tell_difference(struct tlc_telling *telling, const json_t *entry)
{
    char *base = json_dumps(json_object_get(entry, "base"), JSON_ENCODE_ANY);
    char *new = json_dumps(json_object_get(entry, "new"), JSON_ENCODE_ANY);
    if (base && new)
        tlc_tell_item(telling, "differs there", "%s: %.200s -> %.200s", text_of(entry, "what"),
                      base, new);
    free(base);
    free(new);
}

static void tell_change(struct tlc_telling *telling, const json_t *history, const json_t *change)
{
    static const char *const differences[] = {"plan_differences", "environment_differences"};
    struct tlc_figure ratio = figure_of(json_object_get(change, "ratio"));
    const json_t *result =
        result_at(history, json_integer_value(json_object_get(change, "result")));
    char estimate[TLC_WORDS], range[TLC_WORDS];
    tlc_words_ratio(ratio.estimate, estimate);
    tlc_words_ratio_range(ratio, range);
    tlc_tell_item(telling, "CHANGE", "with %s of %s: times %s (95 %%: %s), p %.4f",
                  text_of(change, "file"), text_of(result, "started"), estimate, range,
                  tlc_json_number(change, "p"));
    for (size_t i = 0; i < 2; i++) {
        const json_t *list = json_object_get(change, differences[i]);
        for (size_t k = 0; k < json_array_size(list); k++)
            tell_difference(telling, json_array_get(list, k));
    }
}

static void add_point(struct tlc_telling *telling, struct tlc_table *table, const json_t *history,
                      const json_t *point)
{
    char value[TLC_WORDS], range[TLC_WORDS];
    const json_t *result = result_at(history, json_integer_value(json_object_get(point, "result")));
    struct tlc_figure figure = figure_of(json_object_get(point, "value"));
    bool relative = is_relative(history);
    (relative ? tlc_words_ratio : tlc_words_figure)(figure.estimate, value);
    (relative ? tlc_words_ratio_range : tlc_words_figure_range)(figure, range);
    const char *mark = json_is_integer(json_object_get(point, "change")) ? "CHANGE"
                       : isfinite(figure.estimate)                       ? ""
                                                                         : "no figure";
    tlc_tell_row(telling, table,
                 (const char *const[]){text_of(result, "started"), text_of(result, "file"), value,
                                       range, mark});
}

static void tell_arm(struct tlc_telling *telling, const json_t *history, const json_t *arm)
{
    char unit[64], range[64];
    bool relative = is_relative(history);
    snprintf(unit, sizeof unit, relative ? "ratio" : "cost %s", telling->emitter->microseconds);
    snprintf(range, sizeof range, "%s 95 %%", relative ? "ratio" : "cost");
    const struct tlc_table_column columns[] = {{"started", false, 0},
                                               {"result", false, 0},
                                               {unit, true, 0},
                                               {range, true, 0},
                                               {"", false, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    const json_t *points = json_object_get(arm, "points");
    const json_t *changes = json_object_get(arm, "changes");
    for (size_t i = 0; i < json_array_size(points); i++)
        add_point(telling, &table, history, json_array_get(points, i));
    tlc_tell_heading(telling, 2, "%s", text_of(arm, "name"));
    tlc_tell_table(telling, &table);
    for (size_t i = 0; i < json_array_size(changes); i++)
        tell_change(telling, history, json_array_get(changes, i));
}

static void tell_method(struct tlc_telling *telling, const json_t *history)
{
    const json_t *normalisation = json_object_get(history, "normalisation");
    if (is_relative(history))
        tlc_tell_paragraph(telling,
                           "Ratio: cost of the arm / cost of '%s' in the same block of the same "
                           "result, so that what the machine did to all arms alike cancels.",
                           text_of(normalisation, "reference"));
    else
        tlc_tell_alert(telling,
                       "WARNING: costs as they are, since %s: the machine at its time is in every "
                       "figure.",
                       text_of(normalisation, "why"));
    tlc_tell_paragraph(telling,
                       "Changes: Pettitt's rank test with binary segmentation, p by random orders "
                       "(seeded), marked at p <= %g, at least 3 results on each side.",
                       tlc_json_number(history, "alpha"));
}

static enum tlc_status tell_history(const void *what, const struct tlc_emitter *emitter,
                                    struct tlc_error *error)
{
    const json_t *history = what, *left_out = json_object_get(history, "left_out");
    const json_t *arms = json_object_get(history, "arms");
    struct tlc_telling telling = {.emitter = emitter};
    size_t changed = 0;
    tlc_tell_heading(&telling, 1, "history of plan '%s': %zu results", text_of(history, "plan"),
                     json_array_size(json_object_get(history, "results")));
    for (size_t i = 0; i < json_array_size(left_out); i++)
        tlc_tell_item(&telling, "left out", "%s: %s", text_of(json_array_get(left_out, i), "file"),
                      text_of(json_array_get(left_out, i), "why"));
    tell_method(&telling, history);
    for (size_t i = 0; i < json_array_size(arms); i++)
        changed += json_array_size(json_object_get(json_array_get(arms, i), "changes")) > 0;
    tlc_tell_paragraph(&telling, "%zu of %zu arms changed.", changed, json_array_size(arms));
    for (size_t i = 0; i < json_array_size(arms); i++)
        tell_arm(&telling, history, json_array_get(arms, i));
    return tlc_told(&telling, error);
}

enum tlc_status tlc_history_write(const json_t *history, const char *format, FILE *to,
                                  struct tlc_error *error)
{
    return tlc_emit(format, tell_history, history, to, error);
}
