#include "report/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "evidence/checks.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static struct tlc_figure figure_of(const json_t *arm, const char *member)
{
    const json_t *figure = json_object_get(arm, member);
    return (struct tlc_figure){tlc_json_number(figure, "estimate"), tlc_json_number(figure, "low"),
                               tlc_json_number(figure, "high")};
}

static const char *remedy_of(const char *check)
{
    for (int i = 0; i < TLC_CHECK_COUNT; i++)
        if (!strcmp(tlc_check_name((enum tlc_check)i), check))
            return tlc_check_remedy((enum tlc_check)i);
    return NULL;
}

// The reason that the first refused sample gives for a check: reasons stand in the order of names.
static const char *reason_of(const json_t *samples, const char *check)
{
    size_t index, k;
    json_t *sample, *name;
    json_array_foreach(samples, index, sample)
    {
        json_array_foreach(json_object_get(sample, "refused"), k, name)
        {
            if (json_is_string(name) && !strcmp(json_string_value(name), check))
                return json_string_value(json_array_get(json_object_get(sample, "reasons"), k));
        }
    }
    return NULL;
}

static bool read_refusals(const json_t *json, struct tlc_report_arm *arm)
{
    const json_t *refused = json_object_get(json, "refused");
    const json_t *samples = json_object_get(json, "samples");
    size_t index;
    json_t *entry;
    arm->refusals = calloc(json_array_size(refused) + 1, sizeof *arm->refusals);
    if (!arm->refusals)
        return false;
    json_array_foreach(refused, index, entry)
    {
        const char *check = text_of(entry, "check");
        arm->refusals[arm->refusal_count++] = (struct tlc_refusal){
            .check = check,
            .reason = reason_of(samples, check),
            .remedy = remedy_of(check),
            .count = (size_t)json_integer_value(json_object_get(entry, "count"))};
    }
    json_array_foreach(samples, index, entry) arm->refused_samples +=
        !json_is_true(json_object_get(entry, "accepted"));
    arm->samples = json_array_size(samples);
    return true;
}

static const json_t *settings_of(const json_t *plan, const char *name)
{
    size_t index;
    json_t *arm;
    json_array_foreach(json_object_get(plan, "arms"), index, arm)
    {
        if (!strcmp(text_of(arm, "name"), name))
            return arm;
    }
    return NULL;
}

static int lever_of(const struct tlc_report_model *model, const char *name)
{
    for (size_t i = 0; name && i < model->lever_count; i++)
        if (!strcmp(model->levers[i].name, name))
            return (int)i;
    return -1;
}

static bool read_arm(const json_t *json, struct tlc_report_model *model)
{
    struct tlc_report_arm *arm = &model->arms[model->arm_count++];
    const char *role = text_of(json, "role");
    arm->name = text_of(json, "name");
    arm->verdict = text_of(json, "verdict");
    arm->settings = settings_of(model->plan, arm->name);
    arm->accepted = json_is_true(json_object_get(json, "accepted"));
    arm->baseline = !strcmp(role, "baseline");
    arm->control = !strcmp(role, "control");
    arm->lever = lever_of(model, json_string_value(json_object_get(json, "lever")));
    arm->instances = (size_t)json_integer_value(json_object_get(json, "instances"));
    arm->cost_us = figure_of(json, "cost_us");
    arm->rate = figure_of(json, "rate");
    arm->ratio = figure_of(json, "ratio");
    arm->settling = figure_of(json, "settling");
    arm->server_us = figure_of(json, "server_us");
    arm->client_us = figure_of(json, "client_us");
    arm->against = text_of(json, "against");
    arm->sample_list = json_object_get(json, "samples");
    arm->workload = text_of(arm->settings, "workload");
    arm->variation = json_object_get(json, "variation");
    arm->detectable = tlc_json_number(json, "detectable");
    arm->holm_p = tlc_json_number(json, "holm_p");
    arm->claim_holm = json_object_get(json, "claim_holm");
    arm->outliers = json_object_get(json, "outliers");
    arm->curve = json_object_get(json, "curve");
    if (!read_refusals(json, arm))
        return false;
    model->samples += arm->samples;
    model->refused_arms += !arm->accepted;
    if (arm->accepted && isfinite(arm->cost_us.estimate) && !isfinite(arm->cost_us.low))
        model->few = true;
    if (arm->baseline && !model->baseline)
        model->baseline = arm;
    model->mixed = model->mixed || strcmp(arm->workload, model->arms[0].workload);
    return true;
}

// The plan's levers, and one more for arms that pull none of them (those of a matrix).
static bool read_levers(struct tlc_report_model *model)
{
    const json_t *levers = json_object_get(model->plan, "levers");
    size_t index;
    json_t *lever;
    model->levers = calloc(json_array_size(levers) + 1, sizeof *model->levers);
    if (!model->levers)
        return false;
    json_array_foreach(levers, index, lever)
    {
        model->levers[model->lever_count++] =
            (struct tlc_report_lever){.name = text_of(lever, "name"),
                                      .key = json_string_value(json_object_get(lever, "key")),
                                      .pulls = json_string_value(json_object_get(lever, "pulls"))};
    }
    return true;
}

static void adopt_arms_without_lever(struct tlc_report_model *model)
{
    int other = -1;
    for (size_t i = 0; i < model->arm_count; i++) {
        struct tlc_report_arm *arm = &model->arms[i];
        if (arm->lever >= 0 || arm->baseline || arm->control)
            continue;
        if (other < 0) {
            other = (int)model->lever_count++;
            model->levers[other] = (struct tlc_report_lever){.name = "arms"};
        }
        arm->lever = other;
    }
}

static bool read_all(const json_t *result, struct tlc_report_model *model)
{
    const json_t *campaign = json_object_get(result, "campaign");
    const json_t *arms = json_object_get(result, "arms");
    size_t index;
    json_t *arm;
    model->result = result;
    model->plan = json_object_get(result, "plan");
    model->environment = json_object_get(result, "environment");
    model->setup = json_object_get(result, "setup");
    model->checks = json_object_get(result, "checks");
    model->stacks = json_object_get(result, "stacks");
    model->reasons = json_object_get(campaign, "reasons");
    model->name = text_of(model->plan, "name");
    model->question = text_of(model->plan, "question");
    model->started = text_of(result, "started");
    model->finished = text_of(result, "finished");
    model->margin = tlc_json_number(json_object_get(model->plan, "limits"), "margin");
    model->accepted = json_is_true(json_object_get(campaign, "accepted"));
    model->interrupted = json_is_true(json_object_get(model->setup, "interrupted"));
    model->refused_samples = (size_t)json_integer_value(json_object_get(result, "refused_samples"));
    model->arms = calloc(json_array_size(arms) + 1, sizeof *model->arms);
    if (!model->arms || !read_levers(model))
        return false;
    json_array_foreach(arms, index, arm)
    {
        if (!read_arm(arm, model))
            return false;
    }
    adopt_arms_without_lever(model);
    return true;
}

enum tlc_status tlc_report_model_new(const json_t *result, struct tlc_report_model **model,
                                     struct tlc_error *error)
{
    const char *command = text_of(result, "command");
    if (strcmp(command, "run"))
        return tlc_fail(error, TLC_USAGE,
                        "report: a result of '%.32s' has no report; name a result of 'run'",
                        command);
    *model = calloc(1, sizeof **model);
    if (*model && read_all(result, *model))
        return TLC_OK;
    tlc_report_model_free(*model);
    *model = NULL;
    return tlc_fail(error, TLC_ENVIRONMENT, "report: out of memory");
}

void tlc_report_model_free(struct tlc_report_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; model->arms && i < model->arm_count; i++)
        free(model->arms[i].refusals);
    free(model->arms);
    free(model->levers);
    free(model);
}

const struct tlc_report_arm *tlc_report_divisor(const struct tlc_report_model *model,
                                                const struct tlc_report_arm *arm)
{
    for (size_t i = 0; *arm->against && i < model->arm_count; i++)
        if (!strcmp(model->arms[i].name, arm->against))
            return &model->arms[i];
    return *arm->against || arm->baseline ? NULL : model->baseline;
}

const char *tlc_report_setting(const struct tlc_report_arm *arm, const char *key)
{
    return arm && key ? json_string_value(json_object_get(arm->settings, key)) : NULL;
}

const char *tlc_report_arm_name(const struct tlc_report_model *model,
                                const struct tlc_report_arm *arm)
{
    bool primitive = !strcmp(arm->workload, "primitive");
    const char *operation =
        arm->baseline && primitive ? tlc_report_setting(arm, "operation") : NULL;
    for (size_t i = 0; operation && i < model->arm_count; i++)
        if (!strcmp(model->arms[i].name, operation))
            return arm->name;
    return operation ? operation : arm->name;
}
