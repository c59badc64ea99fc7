// From samples to figures: intervals over instances, ratios, verdicts, refusals.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "campaign/campaign.h"
#include "campaign/conclusions.h"
#include "campaign/curves.h"
#include "campaign/ratio.h"
#include "campaign/settling.h"
#include "campaign/unverified.h"
#include "evidence/checks.h"
#include "stats/stats.h"

enum { MAX_BLOCKS = 1000 };
static const double CONFIDENCE = 0.95;

// The samples of one arm, by block.
struct arm_samples {
    json_t *samples; // array of references
    double cost[MAX_BLOCKS], rate[MAX_BLOCKS], gain[MAX_BLOCKS];
    double server[MAX_BLOCKS], client[MAX_BLOCKS]; // CPU of each side; NaN where not told apart
    size_t accepted, gains, total;
    double gain_median;
    struct tlc_interval settling; // cost late in a block over the whole
    bool limited;                 // held back by the generator
    bool unsettled;               // not warm when it was measured
    bool figures;                 // whether the arm has any
};

static bool is_accepted(const json_t *sample)
{
    return json_is_true(json_object_get(sample, "accepted"));
}

static void collect(const json_t *samples, size_t arm, struct arm_samples *of)
{
    size_t index;
    json_t *sample;
    *of = (struct arm_samples){.samples = json_array()};
    json_array_foreach((json_t *)(uintptr_t)samples, index, sample)
    {
        if ((size_t)json_integer_value(json_object_get(sample, "arm_index")) != arm ||
            of->total == MAX_BLOCKS)
            continue;
        json_array_append(of->samples, sample);
        of->total++;
        double rate = tlc_json_number(sample, "rate"),
               doubled = tlc_json_number(sample, "rate_doubled");
        if (rate > 0 && doubled > 0)
            of->gain[of->gains++] = doubled / rate - 1;
        if (!is_accepted(sample))
            continue;
        of->cost[of->accepted] = tlc_json_number(sample, "cost_us");
        of->server[of->accepted] = tlc_json_number(sample, "server_us");
        of->client[of->accepted] = tlc_json_number(sample, "client_us");
        of->rate[of->accepted++] = rate;
    }
}

static json_t *interval_json(struct tlc_interval interval)
{
    if (!interval.n || !isfinite(interval.estimate))
        return json_null();
    return json_pack("{s:f, s:o, s:o, s:I}", "estimate", interval.estimate, "low",
                     tlc_json_real(interval.low), "high", tlc_json_real(interval.high), "n",
                     (json_int_t)interval.n);
}

// Positive quantities are averaged on the log scale, where a machine's speed is a shift.
static struct tlc_interval positive_interval(const double *values, size_t count)
{
    double logs[MAX_BLOCKS];
    for (size_t i = 0; i < count; i++)
        logs[i] = log(values[i]);
    struct tlc_interval interval = tlc_signed_rank_interval(logs, count, CONFIDENCE);
    interval.estimate = exp(interval.estimate);
    interval.low = exp(interval.low);
    interval.high = exp(interval.high);
    return interval;
}

static json_t *refusals_of(const struct arm_samples *arm)
{
    json_t *refused = json_array();
    for (int check = 0; check < TLC_CHECK_COUNT; check++) {
        size_t count = 0, index, k;
        json_t *sample, *name;
        json_array_foreach(arm->samples, index, sample)
            json_array_foreach(json_object_get(sample, "refused"), k, name) count +=
            !strcmp(json_string_value(name), tlc_check_name((enum tlc_check)check));
        if ((check == TLC_CHECK_GENERATOR_LIMITED && arm->limited) ||
            (check == TLC_CHECK_WARMED_UP && arm->unsettled))
            count = arm->total;
        if (count)
            json_array_append_new(refused, json_pack("{s:s, s:I}", "check",
                                                     tlc_check_name((enum tlc_check)check), "count",
                                                     (json_int_t)count));
    }
    return refused;
}

// The generator holds an arm back when more concurrency gives more handshakes: the median gain over
// the blocks lies above the limit, and, where there are enough blocks, so does the interval's lower
// end above 0.
static bool generator_limited(const struct arm_samples *arm, const struct tlc_limits *limits,
                              double *gain)
{
    struct tlc_interval interval = tlc_signed_rank_interval(arm->gain, arm->gains, CONFIDENCE);
    *gain = arm->gains ? interval.estimate : NAN;
    if (limits->headroom_gain <= 0 || !arm->gains)
        return false;
    return interval.estimate > limits->headroom_gain &&
           !(interval.low <= 0 && isfinite(interval.low));
}

struct summary {
    const struct tlc_plan *plan;
    struct arm_samples *arms;
    double worst_gain, worst_settling, control_drift, negative_control;
    size_t limited, unsettled, refused_samples;
    json_t *reasons; // why the campaign is refused
};

static bool must_not_differ(const struct tlc_plan *plan, size_t arm)
{
    return (int)arm == plan->control || (int)arm == plan->fair_client || plan->arms[arm].equal;
}

static const char *role_of(const struct tlc_plan *plan, size_t arm)
{
    return arm == 0 ? "baseline" : must_not_differ(plan, arm) ? "control" : "arm";
}

// How far the whole interval keeps away from "no difference"; 0 when it holds 1.
static double distance_from_one(struct tlc_interval ratio)
{
    return fmax(0, fmax(ratio.low - 1, 1 / ratio.high - 1));
}

// An event changes the cost within a block on purpose.
static void judge_settling(struct summary *summary, size_t index)
{
    const struct tlc_plan *plan = summary->plan;
    struct arm_samples *arm = &summary->arms[index];
    bool event = strcmp(plan->arms[index].event, "none") != 0;
    // A baseline that is not warm itself says nothing of the others.
    const json_t *baseline = index && !summary->arms[0].unsettled ? summary->arms[0].samples : NULL;
    arm->settling =
        event ? (struct tlc_interval){NAN, NAN, NAN, 0} : tlc_settling(arm->samples, baseline);
    double change = fabs(arm->settling.estimate - 1);
    if (isfinite(arm->settling.low) && !(change <= summary->worst_settling))
        summary->worst_settling = change;
    arm->unsettled =
        plan->limits.settling > 0 && tlc_settling_exceeds(arm->settling, plan->limits.settling);
    summary->unsettled += arm->unsettled;
}

// Whether the arm has figures, before any is divided by another.
static void judge_samples(struct summary *summary, size_t index)
{
    const struct tlc_limits *limits = &summary->plan->limits;
    struct arm_samples *arm = &summary->arms[index];
    arm->limited = generator_limited(arm, limits, &arm->gain_median);
    if (isfinite(arm->gain_median) && !(arm->gain_median <= summary->worst_gain))
        summary->worst_gain = arm->gain_median;
    summary->limited += arm->limited;
    judge_settling(summary, index);
    summary->refused_samples += arm->total - arm->accepted;
    double lost = arm->total ? (double)(arm->total - arm->accepted) / (double)arm->total : 1;
    arm->figures =
        arm->accepted && lost <= limits->refused_samples && !arm->limited && !arm->unsettled;
}

// Of arms whose two sides share a process, what each of them costs.
static void add_sides(json_t *json, const struct arm_samples *arm)
{
    if (!arm->accepted || !isfinite(arm->server[0]))
        return;
    json_object_set_new(json, "server_us",
                        interval_json(positive_interval(arm->server, arm->accepted)));
    json_object_set_new(json, "client_us",
                        interval_json(positive_interval(arm->client, arm->accepted)));
}

// A raw operation and a handshake are different things: their quotient is no cost of a change.
static bool are_alike(const struct tlc_arm *arm, const struct tlc_arm *divisor)
{
    return !strcmp(arm->workload, "primitive") == !strcmp(divisor->workload, "primitive");
}

static json_t *arm_json(struct summary *summary, size_t index)
{
    const struct tlc_plan *plan = summary->plan;
    const struct arm_samples *arm = &summary->arms[index];
    size_t against = tlc_plan_against(plan, index);
    bool accepted = arm->figures;
    struct tlc_ratio cost = {{NAN, NAN, NAN, 0}, {NAN, NAN, NAN, 0}}, rate = cost;
    const char *verdict = index ? "no-claim" : "baseline";
    // Nothing is divided by an arm that has no figure itself.
    if (index && accepted && summary->arms[against].figures &&
        are_alike(&plan->arms[index], &plan->arms[against])) {
        cost = tlc_ratio_of(arm->samples, summary->arms[against].samples, TLC_COST);
        rate = tlc_ratio_of(arm->samples, summary->arms[against].samples, TLC_RATE);
        if (cost.at_95.n)
            verdict = tlc_verdict_name(tlc_verdict_of(cost.at_95, cost.at_90, plan->limits.margin));
    }
    if (must_not_differ(plan, index) && cost.at_95.n)
        summary->negative_control = fmax(summary->negative_control, distance_from_one(cost.at_95));
    char words[TLC_SETTLING_WORDS];
    if (!accepted)
        json_array_append_new(
            summary->reasons,
            json_sprintf("arm '%s': %zu of %zu samples refused%s%s%s", plan->arms[index].name,
                         arm->total - arm->accepted, arm->total,
                         arm->limited ? ", and its rate rises with more concurrency" : "",
                         arm->unsettled ? ", and " : "",
                         arm->unsettled ? tlc_settling_words(arm->settling, words) : ""));
    json_t *json = json_pack(
        "{s:s, s:s?, s:s, s:s?, s:b, s:o, s:o, s:o, s:o, s:o, s:s, s:I, s:o, s:O}", "name",
        plan->arms[index].name, "lever", plan->arms[index].lever, "role", role_of(plan, index),
        "against", against ? plan->arms[against].name : NULL, "accepted", accepted, "refused",
        refusals_of(arm), "cost_us",
        accepted ? interval_json(positive_interval(arm->cost, arm->accepted)) : json_null(), "rate",
        accepted ? interval_json(positive_interval(arm->rate, arm->accepted)) : json_null(),
        "ratio", interval_json(cost.at_95), "rate_ratio", interval_json(rate.at_95), "verdict",
        verdict, "instances", (json_int_t)arm->accepted, "headroom_gain",
        tlc_json_real(arm->gain_median), "samples", arm->samples);
    json_object_set_new(json, "settling", interval_json(arm->settling));
    if (accepted)
        add_sides(json, arm);
    return json;
}

static double limit_of(const struct tlc_limits *limits, enum tlc_check check)
{
    switch (check) {
    case TLC_CHECK_ERRORS:
        return (double)limits->errors;
    case TLC_CHECK_LISTEN_OVERFLOW:
        return 0;
    case TLC_CHECK_GENERATOR_HEADROOM:
        return limits->generator_busy;
    case TLC_CHECK_GENERATOR_LIMITED:
        return limits->headroom_gain;
    case TLC_CHECK_SERVER_SATURATED:
        return limits->server_busy;
    case TLC_CHECK_STEAL:
        return limits->steal;
    case TLC_CHECK_ACCOUNTING:
        return limits->accounting;
    case TLC_CHECK_WARMED_UP:
        return limits->settling;
    case TLC_CHECK_CONTROL_DRIFT:
        return limits->control_drift;
    case TLC_CHECK_NEGATIVE_CONTROL:
        return limits->margin;
    default:
        return NAN;
    }
}

struct tally {
    double worst;
    size_t failed, applied;
};

// Worst value, failures and applications of one check over all samples.
static struct tally tally_samples(const json_t *samples, enum tlc_check check)
{
    struct tally tally = {.worst = NAN};
    size_t index, k;
    json_t *sample, *name;
    json_array_foreach((json_t *)(uintptr_t)samples, index, sample)
    {
        const json_t *values = json_object_get(sample, "check_values");
        if (!json_object_get(values, tlc_check_name(check)))
            continue;
        tally.applied++;
        double value = tlc_json_number(values, tlc_check_name(check));
        bool worse =
            check == TLC_CHECK_SERVER_SATURATED ? !(value >= tally.worst) : !(value <= tally.worst);
        if (isfinite(value) && worse)
            tally.worst = value;
        json_array_foreach(json_object_get(sample, "refused"), k, name) tally.failed +=
            !strcmp(json_string_value(name), tlc_check_name(check));
    }
    return tally;
}

static struct tally tally_of(const struct summary *summary, const json_t *samples,
                             enum tlc_check check)
{
    const struct tlc_limits *limits = &summary->plan->limits;
    bool control = summary->plan->control >= 0;
    switch (check) {
    case TLC_CHECK_GENERATOR_LIMITED:
        return (struct tally){summary->worst_gain, summary->limited,
                              limits->headroom_gain > 0 && isfinite(summary->worst_gain)
                                  ? summary->plan->arm_count
                                  : 0};
    case TLC_CHECK_WARMED_UP:
        return (struct tally){summary->worst_settling, summary->unsettled,
                              limits->settling > 0 && isfinite(summary->worst_settling)
                                  ? summary->plan->arm_count
                                  : 0};
    case TLC_CHECK_CONTROL_DRIFT:
        return (struct tally){summary->control_drift,
                              summary->control_drift > limits->control_drift,
                              control && isfinite(summary->control_drift)};
    case TLC_CHECK_NEGATIVE_CONTROL:
        return (struct tally){summary->negative_control, summary->negative_control > limits->margin,
                              isfinite(summary->negative_control)};
    default:
        return tally_samples(samples, check);
    }
}

static json_t *checks_json(struct summary *summary, const json_t *samples)
{
    json_t *checks = json_array();
    for (int i = 0; i < TLC_CHECK_COUNT; i++) {
        enum tlc_check check = (enum tlc_check)i;
        struct tally tally = tally_of(summary, samples, check);
        json_array_append_new(
            checks,
            json_pack("{s:s, s:o, s:o, s:I, s:I, s:s}", "name", tlc_check_name(check), "limit",
                      tlc_json_real(limit_of(&summary->plan->limits, check)), "worst",
                      tlc_json_real(tally.worst), "failed", (json_int_t)tally.failed, "applied",
                      (json_int_t)tally.applied, "remedy", tlc_check_remedy(check)));
        bool of_campaign = check == TLC_CHECK_CONTROL_DRIFT || check == TLC_CHECK_NEGATIVE_CONTROL;
        if (of_campaign && tally.failed)
            json_array_append_new(summary->reasons,
                                  json_sprintf("%s: %.3g against a limit of %.3g; %s",
                                               tlc_check_name(check), tally.worst,
                                               limit_of(&summary->plan->limits, check),
                                               tlc_check_remedy(check)));
    }
    return checks;
}

static void control_drift(struct summary *summary)
{
    summary->control_drift = summary->negative_control = NAN;
    if (summary->plan->control < 0)
        return;
    const struct arm_samples *control = &summary->arms[summary->plan->control];
    if (control->accepted >= 2)
        summary->control_drift = tlc_coefficient_of_variation(control->cost, control->accepted);
}

enum tlc_status tlc_campaign_summarise(json_t *result, const struct tlc_plan *plan,
                                       const json_t *samples, struct tlc_error *error)
{
    struct summary summary = {
        .plan = plan, .worst_gain = NAN, .worst_settling = NAN, .reasons = json_array()};
    summary.arms = calloc(plan->arm_count, sizeof *summary.arms);
    if (!summary.arms)
        return tlc_fail(error, TLC_ENVIRONMENT, "summary: out of memory");
    for (size_t i = 0; i < plan->arm_count; i++)
        collect(samples, i, &summary.arms[i]);
    control_drift(&summary);
    for (size_t i = 0; i < plan->arm_count; i++)
        judge_samples(&summary, i);
    json_t *arms = json_array();
    for (size_t i = 0; i < plan->arm_count; i++)
        json_array_append_new(arms, arm_json(&summary, i));
    json_object_set_new(result, "arms", arms);
    json_object_set_new(result, "checks", checks_json(&summary, samples));
    json_object_set_new(result, "refused_samples",
                        json_integer((json_int_t)summary.refused_samples));
    bool accepted = json_array_size(summary.reasons) == 0;
    const char *first = json_string_value(json_array_get(summary.reasons, 0));
    enum tlc_status status = TLC_OK;
    if (!accepted)
        status = tlc_fail(error, TLC_REFUSED, "run: figures refused by checks: %s%s", first,
                          json_array_size(summary.reasons) > 1 ? "; and more, see the report" : "");
    json_object_set_new(result, "campaign",
                        json_pack("{s:b, s:o}", "accepted", accepted, "reasons", summary.reasons));
    tlc_curves_add(arms);
    tlc_unverified_add(plan, arms);
    if (!tlc_conclude(result, plan))
        status = tlc_fail(error, TLC_ENVIRONMENT, "summary: out of memory");
    for (size_t i = 0; i < plan->arm_count; i++)
        json_decref(summary.arms[i].samples);
    free(summary.arms);
    return status;
}
