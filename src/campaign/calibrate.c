#include "campaign/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "campaign/calibrate_figures.h"

static const double CONFIDENCE = 0.95;
// How far the slope may be from 1, and first from last place: a claim of a few per cent rests on
// them.
static const double SLOPE_TOLERANCE = 0.03, POSITION_TOLERANCE = 0.01;

// --- the plan ---

static bool is_burn(const struct tlc_plan *plan, size_t arm)
{
    return plan->arms[arm].burn_us > plan->arms[0].burn_us;
}

static bool is_cheap(const struct tlc_plan *plan, size_t arm)
{
    return !strcmp(plan->arms[arm].share, "cheap");
}

// The first arm whose client is cheap where the baseline's is honest, or the other way round; 0
// when there is none.
static size_t client_arm(const struct tlc_plan *plan)
{
    for (size_t i = 1; i < plan->arm_count; i++)
        if (is_cheap(plan, i) != is_cheap(plan, 0) && !is_burn(plan, i))
            return i;
    return 0;
}

enum tlc_status tlc_calibration_check_plan(const struct tlc_plan *plan, struct tlc_error *error)
{
    size_t burns = 0;
    for (size_t i = 1; i < plan->arm_count; i++)
        burns += is_burn(plan, i);
    const char *lacks = plan->control < 0 ? "control: true"
                        : burns < 2       ? "at least two arms with a burn"
                        : !client_arm(plan)
                            ? "an arm with share: cheap, or honest against a cheap baseline"
                        : !plan->schedule.bookends  ? "schedule: {bookends: true}"
                        : !plan->schedule.duet      ? "schedule: {duet: true}"
                        : plan->schedule.blocks < 6 ? "6 blocks, the least for an interval"
                                                    : NULL;
    if (!lacks)
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "calibrate: plan '%s': cannot calibrate; it lacks %s (plan 'calibration' has "
                    "all that is needed)",
                    plan->name, lacks);
}

// --- figures as JSON ---

static json_t *figure_json(const char *name, struct tlc_interval interval)
{
    return json_pack("{s:o, s:o, s:o, s:I}", name, tlc_json_real(interval.estimate), "low",
                     tlc_json_real(interval.low), "high", tlc_json_real(interval.high), "n",
                     (json_int_t)interval.n);
}

static double number_or(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static struct tlc_interval figure_of(const json_t *json, const char *name)
{
    return (struct tlc_interval){number_or(json, name, NAN), number_or(json, "low", -INFINITY),
                                 number_or(json, "high", INFINITY),
                                 (size_t)number_or(json, "n", 0)};
}

// The ratio of an arm as the campaign's summary has it; nothing known when the arm was refused.
static struct tlc_interval ratio_of_arm(const json_t *document, size_t arm)
{
    const json_t *of = json_array_get(json_object_get(document, "arms"), arm);
    return figure_of(json_object_get(of, "ratio"), "estimate");
}

// Cheap over honest, whichever of them is the baseline.
static struct tlc_interval cheap_over_honest(const json_t *document, const struct tlc_plan *plan)
{
    size_t arm = client_arm(plan);
    struct tlc_interval ratio = ratio_of_arm(document, arm);
    if (is_cheap(plan, arm))
        return ratio;
    return (struct tlc_interval){1 / ratio.estimate,
                                 isfinite(ratio.high) ? 1 / ratio.high : -INFINITY,
                                 isfinite(ratio.low) ? 1 / ratio.low : INFINITY, ratio.n};
}

json_t *tlc_calibration_interference(const double *idle_ns, const double *busy_ns, size_t pairs)
{
    double *logs = malloc((pairs + 1) * sizeof *logs);
    struct tlc_interval ratio = {NAN, -INFINITY, INFINITY, 0};
    for (size_t i = 0; logs && i < pairs; i++)
        logs[i] = log(busy_ns[i] / idle_ns[i]);
    if (logs) {
        ratio = tlc_signed_rank_interval(logs, pairs, CONFIDENCE);
        ratio.estimate = exp(ratio.estimate);
        ratio.low = isfinite(ratio.low) ? exp(ratio.low) : ratio.low;
        ratio.high = exp(ratio.high);
    }
    free(logs);
    json_t *json = figure_json("estimate", ratio);
    json_object_set_new(json, "idle_ns", tlc_json_real(tlc_median(idle_ns, pairs)));
    json_object_set_new(json, "busy_ns", tlc_json_real(tlc_median(busy_ns, pairs)));
    return json;
}

json_t *tlc_calibration_company(const double *ratios, size_t count)
{
    json_t *json = figure_json("estimate", tlc_signed_rank_interval(ratios, count, CONFIDENCE));
    json_t *readings = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(readings, json_real(ratios[i]));
    json_object_set_new(json, "readings", readings);
    return json;
}

// --- known cost ---

// Points of all blocks for the line. Each is a difference to the slice it was paired with, so the
// line goes through the origin.
struct line {
    double *x, *y;
    unsigned *instance;
    size_t count;
};

// One value a block of what is known of an arm's burn, and of what was read of it.
struct known {
    double *burnt;    // by the server's own clock, which is not quite what was asked
    double *alone;    // at what the same work costs the same server by itself
    double *injected; // and at what work costs in company
    double *read;
};

static bool read_known(struct known *known, const json_t *arms, size_t arm, unsigned blocks,
                       double company)
{
    known->burnt = calloc(blocks + 1u, sizeof *known->burnt);
    known->alone = calloc(blocks + 1u, sizeof *known->alone);
    known->injected = calloc(blocks + 1u, sizeof *known->injected);
    known->read = calloc(blocks + 1u, sizeof *known->read);
    if (!known->burnt || !known->alone || !known->injected || !known->read)
        return false;
    for (unsigned block = 0; block < blocks; block++) {
        known->burnt[block] = tlc_extra_burn(arms, arm, block, false);
        known->alone[block] = tlc_extra_burn(arms, arm, block, true);
        known->injected[block] = company * known->alone[block];
    }
    return tlc_extra_costs(arms, arm, blocks, known->read);
}

static void free_known(struct known *known)
{
    free(known->burnt);
    free(known->alone);
    free(known->injected);
    free(known->read);
}

static void add_points(struct line *line, const struct known *known, unsigned blocks)
{
    for (unsigned block = 0; block < blocks; block++) {
        if (!isfinite(known->read[block]) || !(known->injected[block] > 0))
            continue;
        line->x[line->count] = known->injected[block];
        line->y[line->count] = known->read[block];
        line->instance[line->count++] = block;
    }
}

static json_t *positive_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *point_json(const struct tlc_plan *plan, size_t arm, const struct known *known)
{
    unsigned blocks = plan->schedule.blocks;
    json_t *point =
        figure_json("estimate", tlc_signed_rank_interval(known->read, blocks, CONFIDENCE));
    json_object_set_new(point, "asked_us",
                        json_real((double)(plan->arms[arm].burn_us - plan->arms[0].burn_us)));
    json_object_set_new(point, "arm", json_string(plan->arms[arm].name));
    json_object_set_new(point, "burnt_us", positive_or_null(tlc_median(known->burnt, blocks)));
    json_object_set_new(point, "alone_us", positive_or_null(tlc_median(known->alone, blocks)));
    json_object_set_new(point, "injected_us",
                        positive_or_null(tlc_median(known->injected, blocks)));
    return point;
}

static bool add_arms(struct line *line, const struct tlc_plan *plan, const json_t *arms,
                     double company, json_t *points)
{
    for (size_t arm = 1; arm < plan->arm_count; arm++) {
        struct known known = {0};
        if (!is_burn(plan, arm))
            continue;
        bool whole = read_known(&known, arms, arm, plan->schedule.blocks, company);
        if (whole) {
            add_points(line, &known, plan->schedule.blocks);
            json_array_append_new(points, point_json(plan, arm, &known));
        }
        free_known(&known);
        if (!whole)
            return false;
    }
    return true;
}

// What is injected is known no better than what work costs in company.
static struct tlc_interval slope_of(struct tlc_interval line, struct tlc_interval company)
{
    if (!company.n || !(line.low > 0) || !isfinite(line.high))
        return line;
    if (!(company.low > 0) || !isfinite(company.high))
        return (struct tlc_interval){line.estimate, -INFINITY, INFINITY, line.n};
    line.low = line.estimate *
               exp(-hypot(log(line.estimate / line.low), log(company.high / company.estimate)));
    line.high = line.estimate *
                exp(hypot(log(line.high / line.estimate), log(company.estimate / company.low)));
    return line;
}

static json_t *known_cost(const struct tlc_plan *plan, const json_t *document)
{
    const json_t *arms = json_object_get(document, "arms");
    struct tlc_interval company = figure_of(json_object_get(document, "company"), "estimate");
    double worth = company.n ? company.estimate : 1;
    size_t most = plan->arm_count * plan->schedule.blocks;
    struct line line = {.x = calloc(most, sizeof *line.x),
                        .y = calloc(most, sizeof *line.y),
                        .instance = calloc(most, sizeof *line.instance)};
    json_t *json = NULL, *points = json_array();
    if (line.x && line.y && line.instance && add_arms(&line, plan, arms, worth, points)) {
        struct tlc_interval slope = tlc_slope_over_instances(
            line.x, line.y, line.instance, line.count, plan->schedule.blocks, CONFIDENCE);
        json = figure_json("slope", slope_of(slope, company));
        json_object_set(json, "points", points);
    }
    json_decref(points);
    free(line.instance);
    free(line.y);
    free(line.x);
    return json;
}

// --- verdict ---

// What an interval says of a value that must be 1 within a tolerance. With a tolerance, an interval
// that reaches three times as far shows too little to pass; without one, it must hold 1.
static const char *outcome_of(struct tlc_interval ratio, double tolerance)
{
    double near = 1 + tolerance, far = 1 + 3 * tolerance;
    if (!ratio.n || !isfinite(ratio.low) || !isfinite(ratio.high))
        return "not-shown";
    if (ratio.low > near || ratio.high < 1 / near)
        return "failed";
    if (tolerance > 0 && (ratio.estimate < 1 / near || ratio.estimate > near ||
                          ratio.low < 1 / far || ratio.high > far))
        return "not-shown";
    return "passed";
}

struct parts {
    json_t *list;
    const char *worst; // outcome of the worst part
    const char *first; // text of the first part that did not pass; borrowed from the list
};

static void add_part(struct parts *parts, const char *name, const char *outcome, const char *format,
                     ...) TLC_PRINTF(4, 5);
static void add_part(struct parts *parts, const char *name, const char *outcome, const char *format,
                     ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bool bad = !strcmp(outcome, "failed") || !strcmp(outcome, "not-shown");
    json_t *part = json_pack("{s:s, s:s, s:s}", "name", name, "outcome", outcome, "text", text);
    json_array_append_new(parts->list, part);
    if (bad && strcmp(parts->worst, "failed") != 0)
        parts->worst = outcome;
    if (bad && !parts->first)
        parts->first = json_string_value(json_object_get(part, "text"));
}

// The half-width of a ratio's interval: the smallest difference that would have been seen.
static double half_width(struct tlc_interval ratio)
{
    return isfinite(ratio.low) && isfinite(ratio.high) && ratio.low > 0
               ? sqrt(ratio.high / ratio.low) - 1
               : NAN;
}

static void judge_a_a(struct parts *parts, struct tlc_interval ratio, size_t accepted,
                      double seconds)
{
    const char *outcome = outcome_of(ratio, 0);
    if (!strcmp(outcome, "passed"))
        add_part(parts, "a_a", outcome,
                 "two equal arms do not differ; %.2f %% is the smallest difference that this "
                 "machine can show in %.0f s",
                 100 * half_width(ratio), seconds);
    else if (!strcmp(outcome, "failed"))
        add_part(parts, "a_a", outcome,
                 "two equal arms differ: the interval leaves out 1, as it does by chance once in "
                 "20 times; calibrate again, and look at 'tlscost doctor'");
    else
        add_part(parts, "a_a", outcome, "%s",
                 accepted ? "too few samples were accepted to compare equal arms"
                          : "no sample was accepted; see which checks refused them");
}

// Why a value could not be shown.
static const char *why_not_shown(struct tlc_interval interval)
{
    return isfinite(interval.low) && isfinite(interval.high)
               ? "the machine is too noisy"
               : "too few samples were accepted for an interval";
}

static void judge_known_cost(struct parts *parts, struct tlc_interval slope)
{
    const char *outcome = outcome_of(slope, SLOPE_TOLERANCE);
    if (!strcmp(outcome, "passed"))
        add_part(parts, "known_cost", outcome,
                 "burnt time is read back: 1 us more is read as %.3f us more", slope.estimate);
    else if (!strcmp(outcome, "failed"))
        add_part(parts, "known_cost", outcome,
                 "burnt time is not read back: 1 us more is read as %.3f us more, beyond %.0f %%",
                 slope.estimate, 100 * SLOPE_TOLERANCE);
    else
        add_part(parts, "known_cost", outcome,
                 "the slope could not be shown to be 1 within %.0f %%: %s", 100 * SLOPE_TOLERANCE,
                 why_not_shown(slope));
}

static void judge_ratio(struct parts *parts, const char *name, struct tlc_interval ratio,
                        double tolerance, const char *same, const char *differ)
{
    const char *outcome = outcome_of(ratio, tolerance);
    if (!strcmp(outcome, "passed"))
        add_part(parts, name, outcome, "%s", same);
    else if (!strcmp(outcome, "failed"))
        add_part(parts, name, outcome, "%s, by more than %.0f %%", differ, 100 * tolerance);
    else
        add_part(parts, name, outcome, "the ratio could not be shown to be 1 within %.0f %%: %s",
                 100 * tolerance, why_not_shown(ratio));
}

static void judge_interference(struct parts *parts, struct tlc_interval ratio)
{
    if (!ratio.n)
        add_part(parts, "interference", "not-shown", "no window was measured");
    else if (ratio.low > 1.02)
        add_part(parts, "interference", "told",
                 "the same work costs the server's CPUs %.0f %% more while the generator's are "
                 "busy: costs in us hold for a loaded machine, ratios hold anyway",
                 100 * (ratio.estimate - 1));
    else
        add_part(parts, "interference", "told",
                 "load on the generator's CPUs moves the server's cost by %.1f %%",
                 100 * (ratio.estimate - 1));
}

static json_t *verdict_json(const json_t *document, const struct tlc_plan *plan,
                            struct parts *parts)
{
    const json_t *arms = json_object_get(document, "arms");
    *parts = (struct parts){.list = json_array(), .worst = "passed"};
    judge_a_a(parts, figure_of(json_object_get(document, "a_a"), "estimate"),
              tlc_accepted_samples(arms), tlc_plan_seconds(plan));
    judge_known_cost(parts, figure_of(json_object_get(document, "known_cost"), "slope"));
    judge_ratio(parts, "position", figure_of(json_object_get(document, "position"), "estimate"),
                POSITION_TOLERANCE, "the first and the last place of a round cost the same",
                "the first and the last place of a round differ");
    judge_ratio(parts, "fair_client",
                figure_of(json_object_get(document, "fair_client"), "estimate"),
                plan->limits.margin, "cheap and honest clients cost the server the same",
                "cheap and honest clients cost the server differently");
    judge_interference(parts, figure_of(json_object_get(document, "interference"), "estimate"));
    return json_pack("{s:b, s:s, s:O, s:I, s:o}", "passed", !strcmp(parts->worst, "passed"),
                     "outcome", parts->worst, "parts", parts->list, "accepted_samples",
                     (json_int_t)tlc_accepted_samples(arms), "refused", tlc_refusing_checks(arms));
}

enum tlc_status tlc_calibration_judge(json_t *document, const struct tlc_plan *plan,
                                      struct tlc_error *error)
{
    struct parts parts;
    const json_t *arms = json_object_get(document, "arms");
    json_t *known = known_cost(plan, document);
    if (!known)
        return tlc_fail(error, TLC_ENVIRONMENT, "calibrate: out of memory");
    struct tlc_interval equal = ratio_of_arm(document, (size_t)plan->control);
    json_t *a_a = figure_json("estimate", equal);
    json_object_set_new(a_a, "half_width", tlc_json_real(half_width(equal)));
    json_object_set_new(document, "a_a", a_a);
    json_object_set_new(document, "known_cost", known);
    json_object_set_new(
        document, "position",
        figure_json("estimate", tlc_position_ratio(arms, plan->schedule.blocks, CONFIDENCE)));
    json_object_set_new(document, "fair_client",
                        figure_json("estimate", cheap_over_honest(document, plan)));
    json_object_set_new(document, "verdict", verdict_json(document, plan, &parts));
    enum tlc_status status = TLC_OK;
    if (parts.first)
        status = tlc_fail(error, TLC_REFUSED, "calibrate: %s: %s",
                          strcmp(parts.worst, "failed") ? "not shown" : "failed", parts.first);
    json_decref(parts.list);
    return status;
}
