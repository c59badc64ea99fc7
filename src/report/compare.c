#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/compare_parts.h"
#include "result/result.h"
#include "result/rounds.h"
#include "stats/rank_sum.h"

static const double ALPHA = 0.05, POWER = 0.8;

struct row {
    const char *name;
    char note[160]; // why there is no comparison; empty: there is one
    const json_t *base, *new;
    struct tlc_interval base_relative, new_relative, at_95, at_90; // of logs
    double p, holm, gate_p, gate_holm;                             // NaN: not tested
    size_t base_count, new_count;
    bool differs;
};

struct comparison {
    const struct tlc_compare_options *options;
    const json_t *base, *new;
    const char *reference; // NULL: absolute
    struct row *rows;
    size_t count;
    json_t *warnings;
    double margin;
};

static const struct tlc_interval no_interval = {NAN, -INFINITY, INFINITY, 0};

static double gate_of(const struct tlc_compare_options *options)
{
    return log1p(options->fail_above);
}

static void compare_units(struct row *row, const struct tlc_units *base,
                          const struct tlc_units *new, const struct tlc_compare_options *options)
{
    row->base_count = base->count;
    row->new_count = new->count;
    row->base_relative = tlc_signed_rank_interval(base->value, base->count, 1 - ALPHA);
    row->new_relative = tlc_signed_rank_interval(new->value, new->count, 1 - ALPHA);
    if (!base->count || !new->count) {
        snprintf(row->note, sizeof row->note,
                 "no block has both the arm and what it is divided by");
        return;
    }
    row->at_95 = tlc_rank_sum_interval(base->value, base->count, new->value, new->count, 1 - ALPHA);
    row->at_90 =
        tlc_rank_sum_interval(base->value, base->count, new->value, new->count, 1 - 2 * ALPHA);
    row->p = tlc_rank_sum_p(base->value, base->count, new->value, new->count, 0);
    if (isfinite(options->fail_above))
        row->gate_p =
            tlc_rank_sum_p(base->value, base->count, new->value, new->count, gate_of(options));
}

static void refuse_row(struct row *row, const char *reason, const char *where)
{
    snprintf(row->note, sizeof row->note, "%s %.100s", reason, where);
}

static bool fill_row(struct comparison *comparison, struct row *row)
{
    const struct tlc_compare_options *options = comparison->options;
    const char *reference = comparison->reference;
    *row = (struct row){.name = row->name,
                        .base = tlc_result_arm(comparison->base, row->name),
                        .new = tlc_result_arm(comparison->new, row->name),
                        .base_relative = no_interval,
                        .new_relative = no_interval,
                        .at_95 = no_interval,
                        .at_90 = no_interval,
                        .p = NAN,
                        .holm = NAN,
                        .gate_p = NAN,
                        .gate_holm = NAN};
    if (!row->base || !row->new) {
        refuse_row(row, "only in", row->base ? options->base_name : options->new_name);
        return true;
    }
    row->differs = tlc_arm_differs(comparison->base, comparison->new, row->name);
    if (!json_is_true(json_object_get(row->base, "accepted"))) {
        refuse_row(row, "refused by checks in", options->base_name);
        return true;
    }
    if (!json_is_true(json_object_get(row->new, "accepted"))) {
        refuse_row(row, "refused by checks in", options->new_name);
        return true;
    }
    struct tlc_units base = {0}, new = {0};
    bool whole =
        tlc_units_read(row->base, reference ? tlc_result_arm(comparison->base, reference) : NULL,
                       &base) &&
        tlc_units_read(row->new, reference ? tlc_result_arm(comparison->new, reference) : NULL,
                       &new);
    if (whole)
        compare_units(row, &base, &new, options);
    tlc_units_free(&base);
    tlc_units_free(&new);
    return whole;
}

static void warn(json_t *warnings, json_t *text)
{
    json_array_append_new(warnings, text);
}

// Holm over all arms that were compared; the same for the tests at the gate.
static bool adjust_rows(struct comparison *comparison)
{
    double *p = calloc(2 * comparison->count + 1, sizeof *p);
    double *gate = p ? p + comparison->count : NULL;
    bool whole = p != NULL;
    for (size_t i = 0; p && i < comparison->count; i++) {
        p[i] = comparison->rows[i].p;
        gate[i] = comparison->rows[i].gate_p;
    }
    if (p) {
        tlc_holm(p, comparison->count, p);
        tlc_holm(gate, comparison->count, gate);
    }
    for (size_t i = 0; p && i < comparison->count; i++) {
        comparison->rows[i].holm = p[i];
        comparison->rows[i].gate_holm = gate[i];
    }
    free(p);
    return whole;
}

static bool is_supported(const struct row *row)
{
    return row->holm <= ALPHA;
}

static const char *verdict_of(const struct comparison *comparison, const struct row *row)
{
    if (!row->at_95.n)
        return "no-claim";
    enum tlc_verdict verdict = tlc_verdict_of(tlc_exp_interval(row->at_95),
                                              tlc_exp_interval(row->at_90), comparison->margin);
    if ((verdict == TLC_VERDICT_SLOWER || verdict == TLC_VERDICT_FASTER) && !is_supported(row))
        verdict = tlc_equivalent(tlc_exp_interval(row->at_90), comparison->margin)
                      ? TLC_VERDICT_EQUIVALENT
                      : TLC_VERDICT_NO_CLAIM;
    return tlc_verdict_name(verdict);
}

static bool crosses_gate(const struct comparison *comparison, const struct row *row)
{
    return isfinite(comparison->options->fail_above) && row->at_95.n &&
           row->at_95.low > gate_of(comparison->options) && row->gate_holm <= ALPHA;
}

static json_t *cost_of(const json_t *arm)
{
    json_t *cost = json_object_get(arm, "cost_us");
    return cost ? json_deep_copy(cost) : json_null();
}

static json_t *row_json(const struct comparison *comparison, const struct row *row)
{
    double detectable = tlc_detectable_effect(tlc_exp_interval(row->at_95), POWER);
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string(row->name));
    json_object_set_new(json, "settings_differ", json_boolean(row->differs));
    json_object_set_new(json, "note", *row->note ? json_string(row->note) : json_null());
    json_object_set_new(json, "base_us", cost_of(row->base));
    json_object_set_new(json, "new_us", cost_of(row->new));
    json_object_set_new(json, "base_relative",
                        comparison->reference ? tlc_ratio_json(row->base_relative) : json_null());
    json_object_set_new(json, "new_relative",
                        comparison->reference ? tlc_ratio_json(row->new_relative) : json_null());
    json_object_set_new(json, "ratio", tlc_ratio_json(row->at_95));
    json_object_set_new(json, "p", tlc_json_real(row->p));
    json_object_set_new(json, "holm_p", tlc_json_real(row->holm));
    json_object_set_new(json, "detectable", tlc_json_real(detectable));
    json_object_set_new(json, "verdict", json_string(verdict_of(comparison, row)));
    json_object_set_new(json, "crosses_gate", json_boolean(crosses_gate(comparison, row)));
    json_object_set_new(json, "instances",
                        json_pack("{s:I, s:I}", "base", (json_int_t)row->base_count, "new",
                                  (json_int_t)row->new_count));
    return json;
}

static json_t *side_json(const json_t *result, const char *name)
{
    json_t *accepted = json_object_get(json_object_get(result, "campaign"), "accepted");
    return json_pack(
        "{s:s, s:O?, s:O?, s:O?}", "file", name, "started", json_object_get(result, "started"),
        "plan", json_object_get(json_object_get(result, "plan"), "name"), "accepted", accepted);
}

static json_t *gate_json(const struct comparison *comparison)
{
    if (!isfinite(comparison->options->fail_above))
        return json_null();
    json_t *crossed = json_array();
    for (size_t i = 0; i < comparison->count; i++)
        if (crosses_gate(comparison, &comparison->rows[i]))
            json_array_append_new(crossed, json_string(comparison->rows[i].name));
    return json_pack("{s:f, s:o}", "fail_above", comparison->options->fail_above, "crossed",
                     crossed);
}

static json_t *new_document(const struct comparison *comparison, const char *normalisation)
{
    const struct tlc_compare_options *options = comparison->options;
    json_t *environment = json_object_get(comparison->new, "environment");
    json_t *document = tlc_result_new("compare", json_deep_copy(environment));
    json_object_set_new(document, "base", side_json(comparison->base, options->base_name));
    json_object_set_new(document, "new", side_json(comparison->new, options->new_name));
    json_object_set_new(
        document, "normalisation",
        json_pack("{s:s, s:s?}", "kind", normalisation, "reference", comparison->reference));
    json_object_set_new(document, "margin", tlc_json_real(comparison->margin));
    json_object_set_new(document, "gate", gate_json(comparison));
    json_object_set_new(document, "plan_differences",
                        tlc_plan_differences(comparison->base, comparison->new));
    json_object_set_new(document, "environment_differences",
                        tlc_environment_differences(comparison->base, comparison->new));
    json_t *arms = json_array();
    for (size_t i = 0; i < comparison->count; i++)
        json_array_append_new(arms, row_json(comparison, &comparison->rows[i]));
    json_object_set_new(document, "arms", arms);
    json_object_set(document, "warnings", comparison->warnings);
    return document;
}

static double margin_of(const json_t *result, const struct tlc_compare_options *options)
{
    const json_t *limits = json_object_get(json_object_get(result, "plan"), "limits");
    const json_t *margin = json_object_get(limits, "margin");
    if (isfinite(options->margin))
        return options->margin;
    return json_is_number(margin) ? json_number_value(margin) : NAN;
}

// 2 / C(m+n, m): what the test gives when the two samples do not overlap at all.
static double smallest_p(size_t m, size_t n)
{
    double p = 2;
    for (size_t i = 1; i <= m; i++)
        p *= (double)i / (double)(n + i);
    return p;
}

static void warn_of_few(struct comparison *comparison)
{
    size_t tests = 0;
    const struct row *fewest = NULL;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct row *row = &comparison->rows[i];
        tests += isfinite(row->p) ? 1 : 0;
        if (isfinite(row->p) &&
            (!fewest || row->base_count + row->new_count < fewest->base_count + fewest->new_count))
            fewest = row;
    }
    if (fewest && smallest_p(fewest->base_count, fewest->new_count) * (double)tests > ALPHA)
        warn(comparison->warnings,
             json_sprintf("%zu and %zu instances of arm '%s' cannot support a claim over %zu arms, "
                          "however large the difference: run with more blocks",
                          fewest->base_count, fewest->new_count, fewest->name, tests));
}

static void warn_of_reference(struct comparison *comparison, const char *why)
{
    const char *reference = comparison->reference;
    if (!reference && *why)
        warn(comparison->warnings,
             json_sprintf("costs are compared as they are, since %s: what the machine did "
                          "differently at the two times (frequency, neighbours, another kernel) is "
                          "in every figure",
                          why));
    if (reference && tlc_arm_differs(comparison->base, comparison->new, reference))
        warn(comparison->warnings,
             json_sprintf("the settings of '%s', by which all arms are divided, differ between the "
                          "two: every ratio holds that difference too",
                          reference));
}

// A new library moves the control as well, and a ratio to it then hides what all arms gained.
static void warn_of_stack(struct comparison *comparison)
{
    const json_t *arm = tlc_plan_arm(comparison->new, comparison->reference);
    const char *stack = json_string_value(json_object_get(arm, "stack"));
    const json_t *sides[] = {comparison->base, comparison->new}, *found[2] = {NULL, NULL};
    for (int side = 0; stack && side < 2; side++) {
        const json_t *stacks = json_object_get(sides[side], "stacks");
        for (size_t i = 0; i < json_array_size(stacks); i++) {
            const char *id = json_string_value(json_object_get(json_array_get(stacks, i), "id"));
            if (id && !strcmp(id, stack))
                found[side] = json_object_get(json_array_get(stacks, i), "sha256");
        }
    }
    if (found[0] && found[1] && !json_equal(found[0], found[1]))
        warn(comparison->warnings,
             json_sprintf("'%s', by which all arms are divided, was served by another build of "
                          "stack '%s' in each: what changed for all arms alike is not seen; give "
                          "--relative-to an arm whose stack stayed, or --absolute",
                          comparison->reference, stack));
}

// Arms of BASE in its order, then those that only NEW has. The reference itself is not compared.
static bool list_arms(struct comparison *comparison)
{
    const json_t *sides[] = {json_object_get(comparison->base, "arms"),
                             json_object_get(comparison->new, "arms")};
    comparison->rows =
        calloc(json_array_size(sides[0]) + json_array_size(sides[1]) + 1, sizeof *comparison->rows);
    for (int side = 0; comparison->rows && side < 2; side++)
        for (size_t i = 0; i < json_array_size(sides[side]); i++) {
            const char *name =
                json_string_value(json_object_get(json_array_get(sides[side], i), "name"));
            if (side && tlc_result_arm(comparison->base, name))
                continue;
            if (comparison->reference && !strcmp(name, comparison->reference))
                continue;
            comparison->rows[comparison->count++].name = name;
        }
    return comparison->rows != NULL;
}

// What the reference itself cost at both times: unpaired, not divided by anything.
static json_t *reference_json(const struct comparison *comparison)
{
    struct comparison absolute = *comparison;
    struct row row = {.name = comparison->reference};
    absolute.reference = NULL;
    if (!row.name || !fill_row(&absolute, &row))
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o}", "name", row.name, "base_us", cost_of(row.base),
                     "new_us", cost_of(row.new), "ratio", tlc_ratio_json(row.at_95));
}

static enum tlc_status fill_rows(struct comparison *comparison, struct tlc_error *error)
{
    size_t compared = 0, in_both = 0;
    bool whole = list_arms(comparison);
    for (size_t i = 0; whole && i < comparison->count; i++) {
        whole = fill_row(comparison, &comparison->rows[i]);
        compared += !*comparison->rows[i].note;
        in_both += comparison->rows[i].base && comparison->rows[i].new;
    }
    if (!whole)
        return tlc_fail(error, TLC_ENVIRONMENT, "compare: out of memory");
    if (!compared && in_both)
        return tlc_fail(error, TLC_REFUSED,
                        "compare: %.200s and %.200s: no arm was accepted by the checks in both; "
                        "'tlscost report' tells why",
                        comparison->options->base_name, comparison->options->new_name);
    if (!compared)
        return tlc_fail(error, TLC_USAGE,
                        "compare: %.200s and %.200s: no arm of the same name has figures in both",
                        comparison->options->base_name, comparison->options->new_name);
    return TLC_OK;
}

static enum tlc_status require_run(const json_t *result, const char *name, struct tlc_error *error)
{
    const char *command = json_string_value(json_object_get(result, "command"));
    if (command && !strcmp(command, "run"))
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "compare: %.200s: a result of '%.32s' has no arms; name a result of 'run'",
                    name, command ? command : "");
}

enum tlc_status tlc_compare_results(const json_t *base, const json_t *new,
                                    const struct tlc_compare_options *options, json_t **document,
                                    struct tlc_error *error)
{
    char why[160] = "--absolute was asked for";
    struct comparison comparison = {
        .options = options, .base = base, .new = new, .margin = margin_of(new, options)};
    enum tlc_status status = require_run(base, options->base_name, error);
    if (status == TLC_OK)
        status = require_run(new, options->new_name, error);
    if (status != TLC_OK)
        return status;
    if (!options->absolute)
        comparison.reference = tlc_reference_of(base, new, options->relative_to, why, sizeof why);
    if (options->relative_to && !comparison.reference)
        return tlc_fail(error, TLC_USAGE, "compare: --relative-to: %s", why);
    comparison.warnings = json_array();
    warn_of_reference(&comparison, why);
    if (comparison.reference)
        warn_of_stack(&comparison);
    status = fill_rows(&comparison, error);
    if (status == TLC_OK && !adjust_rows(&comparison))
        status = tlc_fail(error, TLC_ENVIRONMENT, "compare: out of memory");
    if (status == TLC_OK) {
        warn_of_few(&comparison);
        *document = new_document(&comparison, comparison.reference ? "relative" : "absolute");
        json_object_set_new(*document, "reference", reference_json(&comparison));
    }
    json_decref(comparison.warnings);
    free(comparison.rows);
    return status;
}

static enum tlc_status find_accepted(const json_t *result, const char *name, const char *file,
                                     const json_t **arm, struct tlc_error *error)
{
    *arm = tlc_result_arm(result, name);
    if (!*arm)
        return tlc_fail(error, TLC_USAGE, "compare: %.200s: it has no arm '%.100s'", file, name);
    if (!json_is_true(json_object_get(*arm, "accepted")))
        return tlc_fail(error, TLC_REFUSED, "compare: %.200s: arm '%.100s' was refused by checks",
                        file, name);
    return TLC_OK;
}

// Paired by round and block: the values are ratios of `second` to `first` already.
static bool fill_paired(struct row *row, const struct tlc_compare_options *options)
{
    struct tlc_units ratios;
    if (!tlc_units_read(row->new, row->base, &ratios))
        return false;
    row->base_count = row->new_count = ratios.count;
    row->at_95 = tlc_signed_rank_interval(ratios.value, ratios.count, 1 - ALPHA);
    row->at_90 = tlc_signed_rank_interval(ratios.value, ratios.count, 1 - 2 * ALPHA);
    row->p = row->holm = tlc_signed_rank_p(ratios.value, ratios.count, 0);
    row->gate_p = row->gate_holm =
        isfinite(options->fail_above)
            ? tlc_signed_rank_p(ratios.value, ratios.count, gate_of(options))
            : NAN;
    if (!ratios.count)
        snprintf(row->note, sizeof row->note, "no block has both arms");
    tlc_units_free(&ratios);
    return true;
}

enum tlc_status tlc_compare_arms(const json_t *result, const char *first, const char *second,
                                 const struct tlc_compare_options *options, json_t **document,
                                 struct tlc_error *error)
{
    struct row row = {.name = second,
                      .base_relative = no_interval,
                      .new_relative = no_interval,
                      .at_95 = no_interval,
                      .at_90 = no_interval};
    struct comparison comparison = {.options = options,
                                    .base = result,
                                    .new = result,
                                    .reference = first,
                                    .rows = &row,
                                    .count = 1,
                                    .margin = margin_of(result, options)};
    enum tlc_status status = require_run(result, options->base_name, error);
    if (status == TLC_OK)
        status = find_accepted(result, first, options->base_name, &row.base, error);
    if (status == TLC_OK)
        status = find_accepted(result, second, options->base_name, &row.new, error);
    if (status != TLC_OK)
        return status;
    if (!fill_paired(&row, options))
        return tlc_fail(error, TLC_ENVIRONMENT, "compare: out of memory");
    comparison.warnings = json_array();
    if (row.new_count < 6)
        warn(comparison.warnings,
             json_sprintf("%zu blocks have both arms: a 95 %% interval needs at least 6",
                          row.new_count));
    *document = new_document(&comparison, "paired");
    json_decref(comparison.warnings);
    return TLC_OK;
}

enum tlc_status tlc_compare_gate(const json_t *comparison, struct tlc_error *error)
{
    const json_t *gate = json_object_get(comparison, "gate");
    const json_t *crossed = json_object_get(gate, "crossed");
    size_t count = json_array_size(crossed);
    if (!count)
        return TLC_OK;
    return tlc_fail(error, TLC_GATE,
                    "compare: arm '%s'%s costs more than %g %% more, shown by its "
                    "interval",
                    json_string_value(json_array_get(crossed, 0)), count > 1 ? " (and others)" : "",
                    100 * json_number_value(json_object_get(gate, "fail_above")));
}
