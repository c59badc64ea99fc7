// A plan as the result stores it.
#include <stdlib.h>
#include <string.h>

#include "plan/expand.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *index_json(int index)
{
    return index < 0 ? json_null() : json_integer(index);
}

json_t *tlc_plan_to_json(const struct tlc_plan *plan)
{
    json_t *levers = json_array(), *arms = json_array(), *left_out = json_array();
    for (size_t i = 0; i < plan->lever_count; i++) {
        const struct tlc_lever *lever = &plan->levers[i];
        json_array_append_new(levers, json_pack("{s:s, s:s, s:o}", "name", lever->name, "key",
                                                lever->key, "pulls", text_or_null(lever->pulls)));
    }
    for (size_t i = 0; i < plan->arm_count; i++) {
        const struct tlc_arm *arm = &plan->arms[i];
        json_t *settings = tlc_settings_to_json(tlc_arm_settings, TLC_ARM_KEY_COUNT, arm);
        json_t *json =
            json_pack("{s:s, s:o}", "name", arm->name, "lever", text_or_null(arm->lever));
        json_object_update(json, settings);
        json_decref(settings);
        json_array_append_new(arms, json);
    }
    for (size_t i = 0; i < plan->left_out_count; i++)
        json_array_append_new(left_out, json_pack("{s:s, s:s}", "arm", plan->left_out[i].arm,
                                                  "reason", plan->left_out[i].reason));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", plan->name, "question",
        plan->question, "workload", plan->workload, "file", plan->file, "control",
        index_json(plan->control), "fair_client", index_json(plan->fair_client), "levers", levers,
        "arms", arms, "schedule",
        tlc_settings_to_json(tlc_schedule_settings, TLC_SCHEDULE_KEY_COUNT, &plan->schedule),
        "limits", tlc_settings_to_json(tlc_limit_settings, TLC_LIMIT_KEY_COUNT, &plan->limits),
        "left_out", left_out);
}

// A copy of a member that must be text; NULL when it is not.
static char *text_member(const json_t *json, const char *member)
{
    const char *text = json_string_value(json_object_get(json, member));
    return text ? strdup(text) : NULL;
}

static const char *read_levers(const json_t *json, struct tlc_plan *plan)
{
    size_t count = json_array_size(json);
    plan->levers = calloc(count + 1, sizeof *plan->levers);
    if (!plan->levers)
        return "out of memory";
    for (size_t i = 0; i < count; i++) {
        const json_t *from = json_array_get(json, i);
        struct tlc_lever *lever = &plan->levers[plan->lever_count++];
        lever->name = text_member(from, "name");
        lever->key = text_member(from, "key");
        lever->pulls = text_member(from, "pulls");
        if (!lever->name || !lever->key)
            return "levers: a lever without name or key";
    }
    return NULL;
}

static const char *read_arms(const json_t *json, struct tlc_plan *plan, char *why, size_t bytes)
{
    size_t count = json_array_size(json);
    if (count < 1 || count > TLC_MOST_ARMS)
        return "arms: none, or too many";
    plan->arms = calloc(count, sizeof *plan->arms);
    if (!plan->arms)
        return "out of memory";
    for (size_t i = 0; i < count; i++) {
        const json_t *from = json_array_get(json, i);
        struct tlc_arm *arm = &plan->arms[plan->arm_count++];
        arm->name = text_member(from, "name");
        arm->lever = text_member(from, "lever");
        if (!arm->name)
            return "arms: an arm without a name";
        if (!tlc_settings_from_json(tlc_arm_settings, TLC_ARM_KEY_COUNT, from, arm, why, bytes))
            return why;
    }
    return NULL;
}

// Missing in results of earlier versions.
static const char *read_left_out(const json_t *json, struct tlc_plan *plan)
{
    size_t count = json_array_size(json);
    plan->left_out = calloc(count + 1, sizeof *plan->left_out);
    if (!plan->left_out)
        return "out of memory";
    for (size_t i = 0; i < count; i++) {
        struct tlc_left_out *left_out = &plan->left_out[plan->left_out_count++];
        left_out->arm = text_member(json_array_get(json, i), "arm");
        left_out->reason = text_member(json_array_get(json, i), "reason");
        if (!left_out->arm || !left_out->reason)
            return "left_out: without arm or reason";
    }
    return NULL;
}

static bool read_index(const json_t *json, const char *member, const struct tlc_plan *plan,
                       int *into)
{
    const json_t *value = json_object_get(json, member);
    json_int_t index = json_is_integer(value) ? json_integer_value(value) : -1;
    *into = (int)index;
    return index < (json_int_t)plan->arm_count && index != 0 && index >= -1;
}

static const char *read_stored(const json_t *json, struct tlc_plan *plan, char *why, size_t bytes)
{
    plan->name = text_member(json, "name");
    plan->question = text_member(json, "question");
    plan->workload = text_member(json, "workload");
    plan->file = text_member(json, "file");
    if (!plan->name || !plan->question || !plan->workload || !plan->file)
        return "name, question, workload or file: missing";
    if (!tlc_settings_from_json(tlc_schedule_settings, TLC_SCHEDULE_KEY_COUNT,
                                json_object_get(json, "schedule"), &plan->schedule, why, bytes) ||
        !tlc_settings_from_json(tlc_limit_settings, TLC_LIMIT_KEY_COUNT,
                                json_object_get(json, "limits"), &plan->limits, why, bytes))
        return why;
    const char *wrong = read_levers(json_object_get(json, "levers"), plan);
    if (!wrong)
        wrong = read_arms(json_object_get(json, "arms"), plan, why, bytes);
    if (!wrong)
        wrong = read_left_out(json_object_get(json, "left_out"), plan);
    if (!wrong && (!read_index(json, "control", plan, &plan->control) ||
                   !read_index(json, "fair_client", plan, &plan->fair_client)))
        return "control or fair_client: no arm has this index";
    return wrong;
}

enum tlc_status tlc_plan_from_json(const json_t *json, struct tlc_plan **plan,
                                   struct tlc_error *error)
{
    char why[TLC_WHY_BYTES];
    enum tlc_status status = TLC_OK;
    *plan = calloc(1, sizeof **plan);
    if (!*plan)
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: out of memory");
    const char *wrong = read_stored(json, *plan, why, sizeof why);
    if (wrong)
        status = tlc_fail(error, TLC_USAGE, "plan: stored plan: %s; measure again", wrong);
    else
        status = tlc_plan_check(*plan, NULL, NULL, error);
    if (status) {
        tlc_plan_free(*plan);
        *plan = NULL;
    }
    return status;
}
