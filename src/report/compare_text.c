// A comparison told in words and tables.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/compare.h"
#include "report/exporters.h"
#include "report/telling.h"
#include "report/words.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static struct tlc_figure figure_of(const json_t *object, const char *member)
{
    const json_t *figure = json_object_get(object, member);
    return (struct tlc_figure){tlc_json_number(figure, "estimate"), tlc_json_number(figure, "low"),
                               tlc_json_number(figure, "high")};
}

static void tell_normalisation(struct tlc_telling *telling, const json_t *comparison)
{
    const json_t *normalisation = json_object_get(comparison, "normalisation");
    const char *kind = text_of(normalisation, "kind"), *arm = text_of(normalisation, "reference");
    if (!strcmp(kind, "paired"))
        tlc_tell_paragraph(telling,
                           "Paired: both arms ran in the same rounds of one campaign. The ratio is "
                           "cost of the second arm / cost of '%s'; intervals: 95 %%, signed-rank, "
                           "over server instances.",
                           arm);
    else if (!strcmp(kind, "relative"))
        tlc_tell_paragraph(telling,
                           "Relative to '%s': in each campaign every arm is divided by that arm of "
                           "the same block, and the ratio compares these quotients, new / base. "
                           "What the machine did to all arms alike cancels, and so does what a new "
                           "version did to all arms alike. Intervals: 95 %%, rank-sum, over server "
                           "instances.",
                           arm);
    else
        tlc_tell_paragraph(telling, "Absolute: the ratio is cost in new / cost in base, divided by "
                                    "nothing else. Intervals: 95 %%, rank-sum, over server "
                                    "instances.");
}

static void value_words(const json_t *value, char *words, size_t bytes)
{
    if (json_is_string(value))
        snprintf(words, bytes, "%s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(words, bytes, "%.10g", json_number_value(value));
    else if (json_is_boolean(value))
        snprintf(words, bytes, "%s", json_is_true(value) ? "yes" : "no");
    else if (!value || json_is_null(value))
        snprintf(words, bytes, "not set");
    else
        snprintf(words, bytes, "a list");
}

static void tell_differences(struct tlc_telling *telling, const json_t *differences,
                             const char *title, const char *none)
{
    tlc_tell_heading(telling, 2, "%s", title);
    if (!json_array_size(differences)) {
        tlc_tell_paragraph(telling, "%s", none);
        return;
    }
    for (size_t i = 0; i < json_array_size(differences); i++) {
        const json_t *entry = json_array_get(differences, i);
        char base[200], new[200];
        value_words(json_object_get(entry, "base"), base, sizeof base);
        value_words(json_object_get(entry, "new"), new, sizeof new);
        tlc_tell_item(telling, text_of(entry, "what"), "%s -> %s", base, new);
    }
}

static void verdict_words(const json_t *arm, double margin, char *words, size_t bytes)
{
    const struct tlc_report_arm told = {.verdict = text_of(arm, "verdict"),
                                        .ratio = figure_of(arm, "ratio"),
                                        .detectable = tlc_json_number(arm, "detectable")};
    char verdict[TLC_WORDS];
    bool no_claim = !strcmp(told.verdict, "no-claim");
    tlc_words_verdict(&told, margin, verdict);
    if (*text_of(arm, "note"))
        snprintf(words, bytes, "%s", text_of(arm, "note"));
    else if (no_claim && (told.ratio.low > 1 || told.ratio.high < 1))
        snprintf(words, bytes, "no claim over all arms");
    else if (no_claim && !isfinite(told.detectable))
        snprintf(words, bytes, "no claim (too few instances)");
    else
        snprintf(words, bytes, "%s", verdict);
    if (json_is_true(json_object_get(arm, "settings_differ"))) {
        size_t used = strlen(words);
        snprintf(words + used, bytes - used, "; settings differ");
    }
}

static void add_arm(struct tlc_telling *telling, struct tlc_table *table, const json_t *arm,
                    double margin)
{
    char base[TLC_WORDS], new[TLC_WORDS], ratio[TLC_WORDS], range[TLC_WORDS], p[TLC_WORDS],
        verdict[2 * TLC_WORDS];
    struct tlc_figure figure = figure_of(arm, "ratio");
    tlc_words_figure(figure_of(arm, "base_us").estimate, base);
    tlc_words_figure(figure_of(arm, "new_us").estimate, new);
    tlc_words_ratio(figure.estimate, ratio);
    tlc_words_ratio_range(figure, range);
    double holm = tlc_json_number(arm, "holm_p");
    snprintf(p, sizeof p, isfinite(holm) ? "%.3f" : "-", holm);
    verdict_words(arm, margin, verdict, sizeof verdict);
    tlc_tell_row(telling, table,
                 (const char *const[]){text_of(arm, "name"), base, new, ratio, range, p, verdict});
}

static void tell_arms(struct tlc_telling *telling, const json_t *comparison)
{
    char base_title[64], new_title[64];
    bool paired = !strcmp(text_of(json_object_get(comparison, "normalisation"), "kind"), "paired");
    snprintf(base_title, sizeof base_title, paired ? "first %s" : "base %s",
             telling->emitter->microseconds);
    snprintf(new_title, sizeof new_title, paired ? "second %s" : "new %s",
             telling->emitter->microseconds);
    const struct tlc_table_column columns[] = {
        {"arm", false, 0},       {base_title, true, 0}, {new_title, true, 0}, {"ratio", true, 0},
        {"ratio 95 %", true, 0}, {"Holm p", true, 1},   {"verdict", false, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    const json_t *arms = json_object_get(comparison, "arms");
    for (size_t i = 0; i < json_array_size(arms); i++)
        add_arm(telling, &table, json_array_get(arms, i), tlc_json_number(comparison, "margin"));
    tlc_tell_heading(telling, 2, "cost by arm");
    tell_normalisation(telling, comparison);
    tlc_tell_table(telling, &table);
    if (json_array_size(arms) > 1)
        tlc_tell_paragraph(telling, "'slower' and 'faster' are claimed where Holm's adjustment "
                                    "over all compared arms leaves p at 0.05 or below.");
}

static void tell_reference(struct tlc_telling *telling, const json_t *comparison)
{
    const json_t *reference = json_object_get(comparison, "reference");
    char base[TLC_WORDS], new[TLC_WORDS], ratio[TLC_WORDS], range[TLC_WORDS];
    struct tlc_figure figure = figure_of(reference, "ratio");
    if (!json_is_object(reference))
        return;
    tlc_words_figure(figure_of(reference, "base_us").estimate, base);
    tlc_words_figure(figure_of(reference, "new_us").estimate, new);
    tlc_words_ratio(figure.estimate, ratio);
    tlc_words_ratio_range(figure, range);
    tlc_tell_paragraph(telling,
                       "'%s' itself cost %s %s in base and %s %s in new, ratio %s (%s). That is "
                       "not paired: the machine at two times, and the version, are both in it.",
                       text_of(reference, "name"), base, telling->emitter->microseconds, new,
                       telling->emitter->microseconds, ratio, range);
}

static void tell_side(struct tlc_telling *telling, const char *label, const json_t *side)
{
    tlc_tell_item(
        telling, label, "%s, plan '%s', %s%s", text_of(side, "file"), text_of(side, "plan"),
        text_of(side, "started"),
        json_is_true(json_object_get(side, "accepted")) ? "" : "; as a whole REFUSED by checks");
}

static void tell_gate(struct tlc_telling *telling, const json_t *comparison)
{
    const json_t *gate = json_object_get(comparison, "gate");
    const json_t *crossed = json_object_get(gate, "crossed");
    double limit = 100 * tlc_json_number(gate, "fail_above");
    if (!json_is_object(gate))
        return;
    for (size_t i = 0; i < json_array_size(crossed); i++)
        tlc_tell_alert(telling, "GATE: '%s' costs over %g %% more, shown by its interval.",
                       json_string_value(json_array_get(crossed, i)), limit);
    if (!json_array_size(crossed))
        tlc_tell_paragraph(telling, "Gate: no arm is shown to cost over %g %% more.", limit);
}

static enum tlc_status tell_comparison(const void *what, const struct tlc_emitter *emitter,
                                       struct tlc_error *error)
{
    const json_t *comparison = what;
    struct tlc_telling telling = {.emitter = emitter};
    const json_t *warnings = json_object_get(comparison, "warnings");
    bool paired = !strcmp(text_of(json_object_get(comparison, "normalisation"), "kind"), "paired");
    tlc_tell_heading(&telling, 1, "comparison");
    tell_side(&telling, paired ? "campaign" : "base", json_object_get(comparison, "base"));
    if (!paired)
        tell_side(&telling, "new", json_object_get(comparison, "new"));
    for (size_t i = 0; i < json_array_size(warnings); i++)
        tlc_tell_alert(&telling, "WARNING: %s.", json_string_value(json_array_get(warnings, i)));
    tell_arms(&telling, comparison);
    tell_reference(&telling, comparison);
    tell_gate(&telling, comparison);
    if (!paired) {
        tell_differences(&telling, json_object_get(comparison, "plan_differences"), "plan",
                         "The two ran the same plan.");
        tell_differences(&telling, json_object_get(comparison, "environment_differences"),
                         "environment", "Machine, set-up and stacks are the same in both.");
    }
    return tlc_told(&telling, error);
}

enum tlc_status tlc_compare_write(const json_t *comparison, const char *format, FILE *to,
                                  struct tlc_error *error)
{
    return tlc_emit(format, tell_comparison, comparison, to, error);
}
