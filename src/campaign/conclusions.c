#include "campaign/conclusions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/budget.h"
#include "base/json.h"
#include "result/rounds.h"
#include "stats/change_point.h"
#include "stats/instances.h"
#include "stats/stats.h"

static const double ALPHA = 0.05, POWER = 0.8;

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static bool is_accepted(const json_t *object)
{
    return json_is_true(json_object_get(object, "accepted"));
}

// Instances whose value lies far from the others of the same arm.
static json_t *outliers_of(const double *units, const struct tlc_rounds *rounds, bool of_ratio)
{
    json_t *outliers = json_array();
    double *scores = calloc(rounds->instances + 1, sizeof *scores);
    if (scores)
        tlc_robust_scores(units, rounds->instances, scores);
    for (unsigned i = 0; scores && i < rounds->instances; i++)
        if (fabs(scores[i]) > TLC_OUTLIER_LIMIT)
            json_array_append_new(outliers,
                                  json_pack("{s:I, s:s, s:f, s:f}", "block", rounds->block[i], "of",
                                            of_ratio ? "ratio" : "cost_us", "value", exp(units[i]),
                                            "score", scores[i]));
    free(scores);
    return outliers;
}

// One arm by its instances: the outliers, and the p value of its ratio where it has one.
static bool judge_arm(json_t *arm, const json_t *baseline, double *p)
{
    bool is_divided = strcmp(text_of(arm, "role"), "baseline") != 0 &&
                      json_is_object(json_object_get(arm, "ratio"));
    struct tlc_rounds rounds;
    bool whole = tlc_rounds_read(json_object_get(arm, "samples"),
                                 is_divided ? json_object_get(baseline, "samples") : NULL, &rounds);
    double *units = whole ? calloc(rounds.instances + 1, sizeof *units) : NULL;
    *p = NAN;
    if (units) {
        tlc_instance_estimates(rounds.log_value, rounds.instance, rounds.count, rounds.instances,
                               units);
        json_object_set_new(arm, "outliers", outliers_of(units, &rounds, is_divided));
        if (is_divided && is_accepted(arm) && rounds.instances)
            *p = tlc_signed_rank_p(units, rounds.instances, 0);
        json_object_set_new(arm, "p", tlc_json_real(*p));
    }
    free(units);
    tlc_rounds_free(&rounds);
    return units != NULL;
}

static double detectable_of(const json_t *arm)
{
    const json_t *ratio = json_object_get(arm, "ratio");
    struct tlc_interval interval = {tlc_json_number(ratio, "estimate"),
                                    tlc_json_number(ratio, "low"), tlc_json_number(ratio, "high"),
                                    1};
    return tlc_detectable_effect(interval, POWER);
}

static void conclude_arm(json_t *arm, double holm)
{
    const char *verdict = text_of(arm, "verdict");
    bool claims = !strcmp(verdict, "slower") || !strcmp(verdict, "faster");
    json_object_set_new(arm, "holm_p", tlc_json_real(holm));
    json_object_set_new(arm, "claim_holm",
                        claims && isfinite(holm) ? json_boolean(holm <= ALPHA) : json_null());
    json_object_set_new(arm, "detectable", tlc_json_real(detectable_of(arm)));
}

// The arm that this one is divided by.
static const json_t *divisor_of(const json_t *arms, const json_t *arm)
{
    const char *against = text_of(arm, "against");
    for (size_t i = 1; *against && i < json_array_size(arms); i++)
        if (!strcmp(text_of(json_array_get(arms, i), "name"), against))
            return json_array_get(arms, i);
    return json_array_get(arms, 0);
}

// The accepted samples' cost, one a process; the caller frees them.
static double *costs_of(const json_t *arm, size_t *count)
{
    const json_t *samples = json_object_get(arm, "samples");
    double *costs = calloc(json_array_size(samples) + 1, sizeof *costs);
    *count = 0;
    for (size_t i = 0; costs && i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        if (is_accepted(sample) && isfinite(tlc_json_number(sample, "cost_us")))
            costs[(*count)++] = tlc_json_number(sample, "cost_us");
    }
    return costs;
}

// Median and relative standard deviation over process samples.
static bool add_variation(json_t *arm)
{
    size_t count;
    double *costs = costs_of(arm, &count);
    if (costs && count)
        json_object_set_new(
            arm, "variation",
            json_pack("{s:f, s:o}", "median_us", tlc_median(costs, count), "relative_deviation",
                      tlc_json_real(count > 1 ? tlc_coefficient_of_variation(costs, count) : NAN)));
    free(costs);
    return costs != NULL;
}

// The difference of two medians, and whether it is larger than the deviation of both.
static void compare_variation(json_t *arm, const json_t *divisor)
{
    json_t *mine = json_object_get(arm, "variation");
    const json_t *base = json_object_get(divisor, "variation");
    double difference = tlc_json_number(mine, "median_us") / tlc_json_number(base, "median_us") - 1;
    double widest = fmax(tlc_json_number(mine, "relative_deviation"),
                         tlc_json_number(base, "relative_deviation"));
    bool known = isfinite(difference) && isfinite(tlc_json_number(mine, "relative_deviation")) &&
                 isfinite(tlc_json_number(base, "relative_deviation"));
    if (!mine || arm == divisor)
        return;
    json_object_set_new(mine, "difference", tlc_json_real(difference));
    json_object_set_new(mine, "exceeds",
                        known ? json_boolean(fabs(difference) > widest) : json_null());
}

// Of raw operations only: a process sample of a server holds many slices, whose pairs tell more.
static bool judge_variation(json_t *arms, const struct tlc_plan *plan)
{
    size_t count = json_array_size(arms);
    bool whole = true;
    for (size_t i = 0; whole && i < count && i < plan->arm_count; i++)
        if (!strcmp(plan->arms[i].workload, "primitive"))
            whole = add_variation(json_array_get(arms, i));
    for (size_t i = 0; whole && i < count; i++)
        compare_variation(json_array_get(arms, i), divisor_of(arms, json_array_get(arms, i)));
    return whole;
}

static bool judge_arms(json_t *arms)
{
    size_t count = json_array_size(arms);
    double *p = calloc(count + 1, sizeof *p);
    bool whole = p != NULL;
    for (size_t i = 0; whole && i < count; i++) {
        json_t *arm = json_array_get(arms, i);
        whole = judge_arm(arm, divisor_of(arms, arm), &p[i]);
        // Controls are there to show nothing; they are no claims to be paid for.
        if (!strcmp(text_of(arm, "role"), "control"))
            p[i] = NAN;
    }
    if (whole)
        tlc_holm(p, count, p);
    for (size_t i = 0; whole && i < count; i++)
        conclude_arm(json_array_get(arms, i), p[i]);
    free(p);
    return whole;
}

struct visit { // one slice
    size_t arm;
    json_int_t round, position;
    double value; // log cost, then without what the round has in common
};

struct visits {
    struct visit *all;
    size_t count;
    json_int_t last_position;
};

static void add_visits(struct visits *visits, const json_t *sample, size_t arm)
{
    const json_t *slices = json_object_get(sample, "slices");
    for (size_t i = 0; i < json_array_size(slices); i++) {
        const json_t *slice = json_array_get(slices, i);
        struct visit visit = {
            arm, json_integer_value(json_object_get(slice, "round")),
            json_integer_value(json_object_get(slice, "position")),
            log(tlc_json_number(slice, "cost_us") / tlc_json_number(slice, "handshakes"))};
        if (!isfinite(visit.value))
            continue;
        visits->all[visits->count++] = visit;
        if (visit.position > visits->last_position)
            visits->last_position = visit.position;
    }
}

static size_t slices_of_all(const json_t *arms)
{
    size_t total = 0, index, k;
    json_t *arm, *sample;
    json_array_foreach((json_t *)(uintptr_t)arms, index, arm)
        json_array_foreach(json_object_get(arm, "samples"), k, sample) total +=
        json_array_size(json_object_get(sample, "slices"));
    return total;
}

static void collect_block(struct visits *visits, const json_t *arms, json_int_t block)
{
    visits->count = 0;
    visits->last_position = 0;
    for (size_t i = 0; i < json_array_size(arms); i++) {
        const json_t *samples = json_object_get(json_array_get(arms, i), "samples");
        for (size_t k = 0; k < json_array_size(samples); k++) {
            const json_t *sample = json_array_get(samples, k);
            if (is_accepted(sample) &&
                json_integer_value(json_object_get(sample, "block")) == block)
                add_visits(visits, sample, i);
        }
    }
}

// Takes away what a round's slices have in common: their mean. A machine that gets slower over the
// rounds is then no effect of the place within a round.
static void centre_rounds(struct visits *visits)
{
    double *centre = calloc(visits->count + 1, sizeof *centre);
    for (size_t i = 0; centre && i < visits->count; i++) {
        double sum = 0, n = 0;
        for (size_t k = 0; k < visits->count; k++)
            if (visits->all[k].round == visits->all[i].round) {
                sum += visits->all[k].value;
                n++;
            }
        centre[i] = sum / n;
    }
    for (size_t i = 0; i < visits->count; i++)
        visits->all[i].value = centre ? visits->all[i].value - centre[i] : NAN;
    free(centre);
}

// Mean of the late visits of an arm minus that of the early ones; NaN when it lacks either. The
// place in the middle is neither.
static double late_minus_early(const struct visits *visits, size_t arm)
{
    double sum[2] = {0, 0}, n[2] = {0, 0};
    for (size_t i = 0; i < visits->count; i++) {
        const struct visit *visit = &visits->all[i];
        if (visit->arm != arm || 2 * visit->position == visits->last_position)
            continue;
        int late = 2 * visit->position > visits->last_position;
        sum[late] += visit->value;
        n[late]++;
    }
    return n[0] > 0 && n[1] > 0 ? sum[1] / n[1] - sum[0] / n[0] : NAN;
}

static double block_effect(struct visits *visits, size_t arm_count)
{
    double sum = 0, n = 0;
    centre_rounds(visits);
    for (size_t arm = 0; arm < arm_count; arm++) {
        double effect = late_minus_early(visits, arm);
        if (isfinite(effect)) {
            sum += effect;
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

static json_int_t last_block(const json_t *arms)
{
    json_int_t last = -1;
    size_t index, k;
    json_t *arm, *sample;
    json_array_foreach((json_t *)(uintptr_t)arms, index, arm)
    {
        json_array_foreach(json_object_get(arm, "samples"), k, sample)
        {
            json_int_t block = json_integer_value(json_object_get(sample, "block"));
            last = block > last ? block : last;
        }
    }
    return last;
}

// The ratio of cost late in a round to cost early in it, within arms, over blocks.
static json_t *order_effect(const json_t *arms)
{
    enum { MOST_BLOCKS = 1000 };
    double effects[MOST_BLOCKS];
    struct visits visits = {.all = calloc(slices_of_all(arms) + 1, sizeof *visits.all)};
    size_t count = 0;
    json_int_t last = last_block(arms);
    for (json_int_t block = 0; visits.all && block <= last && count < MOST_BLOCKS; block++) {
        collect_block(&visits, arms, block);
        effects[count++] = block_effect(&visits, json_array_size(arms));
    }
    free(visits.all);
    struct tlc_interval interval = tlc_signed_rank_interval(effects, count, 1 - ALPHA);
    if (!interval.n)
        return json_null();
    bool narrow = isfinite(interval.low) && isfinite(interval.high);
    return json_pack("{s:f, s:o, s:o, s:I}", "estimate", exp(interval.estimate), "low",
                     narrow ? json_real(exp(interval.low)) : json_null(), "high",
                     narrow ? json_real(exp(interval.high)) : json_null(), "n",
                     (json_int_t)interval.n);
}

bool tlc_conclude(json_t *result, const struct tlc_plan *plan)
{
    json_t *arms = json_object_get(result, "arms");
    json_t *budget = tlc_budget_json(result);
    json_object_set_new(json_object_get(result, "campaign"), "order_effect", order_effect(arms));
    if (budget)
        json_object_set_new(result, "attribution", budget);
    return judge_arms(arms) && judge_variation(arms, plan);
}
