#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "plan/expand.h"

static enum tlc_status set_group(const struct tlc_document *document, const char *group,
                                 const struct tlc_setting *settings, size_t count,
                                 char *const *values, void *base, struct tlc_error *error)
{
    char why[TLC_WHY_BYTES], path[64];
    if (!tlc_settings_default(settings, count, base))
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", document->name);
    for (size_t i = 0; values && i < count; i++)
        if (values[i] && !settings[i].read(&settings[i], values[i], base, why, sizeof why)) {
            snprintf(path, sizeof path, "%s/%s", group, settings[i].name);
            return tlc_document_fail(document, path, error, "%s", why);
        }
    return TLC_OK;
}

static enum tlc_status check_texts(const struct tlc_document *document, struct tlc_error *error)
{
    const struct tlc_raw_plan *raw = document->plan;
    size_t length = strspn(raw->name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (!length || raw->name[length] || length > 40 || *raw->name == '-')
        return tlc_document_fail(document, "name", error,
                                 "'%.64s' cannot name a plan; write up to 40 small letters, digits "
                                 "and '-'",
                                 raw->name);
    if (!*raw->question || strchr(raw->question, '\n'))
        return tlc_document_fail(document, "question", error,
                                 "a plan answers one question; write it as one sentence");
    return TLC_OK;
}

static enum tlc_status build(const struct tlc_document *document, struct tlc_plan *plan,
                             struct tlc_error *error)
{
    const struct tlc_raw_plan *raw = document->plan;
    enum tlc_status status = check_texts(document, error);
    if (status)
        return status;
    plan->name = strdup(raw->name);
    plan->question = strdup(raw->question);
    plan->workload = strdup(raw->workload ? raw->workload : "network");
    plan->file = strdup(document->name);
    if (!plan->name || !plan->question || !plan->workload || !plan->file)
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", document->name);
    status = set_group(document, "schedule", tlc_schedule_settings, TLC_SCHEDULE_KEY_COUNT,
                       raw->schedule ? raw->schedule->values : NULL, &plan->schedule, error);
    if (!status)
        status = set_group(document, "checks", tlc_limit_settings, TLC_LIMIT_KEY_COUNT,
                           raw->checks ? raw->checks->values : NULL, &plan->limits, error);
    if (!status)
        status = tlc_plan_expand(document, plan, error);
    return status;
}

enum tlc_status tlc_plan_parse(const char *text, size_t count, const char *name,
                               struct tlc_plan **plan, struct tlc_error *error)
{
    struct tlc_document document;
    *plan = NULL;
    enum tlc_status status = tlc_document_parse(text, count, name, &document, error);
    if (status)
        goto done;
    *plan = calloc(1, sizeof **plan);
    if (*plan)
        status = build(&document, *plan, error);
    else
        status = tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", name);
    if (status) {
        tlc_plan_free(*plan);
        *plan = NULL;
    }
done:
    tlc_document_free(&document);
    return status;
}

enum tlc_status tlc_plan_check_value(const char *key, const char *value, const char *option,
                                     struct tlc_error *error)
{
    char why[TLC_WHY_BYTES] = "no such key";
    struct tlc_arm arm = {0};
    struct tlc_schedule schedule = {0};
    void *base = &arm;
    const struct tlc_setting *setting = tlc_setting_named(tlc_arm_settings, TLC_ARM_KEY_COUNT, key);
    if (!setting) {
        setting = tlc_setting_named(tlc_schedule_settings, TLC_SCHEDULE_KEY_COUNT, key);
        base = &schedule;
    }
    bool good = setting && setting->read(setting, value, base, why, sizeof why);
    tlc_arm_clear(&arm);
    return good ? TLC_OK : tlc_fail(error, TLC_USAGE, "%s: %s", option, why);
}

enum tlc_status tlc_plan_read(const char *path, struct tlc_plan **plan, struct tlc_error *error)
{
    enum { LIMIT = (1 << 20) + 1 }; // one more than tlc_plan_parse takes, which then says so
    *plan = NULL;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tlc_fail_errno(error, "plan: %s", path);
    enum tlc_status status;
    char *text = malloc(LIMIT);
    size_t count = text ? fread(text, 1, LIMIT, file) : 0;
    if (!text)
        status = tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", path);
    else if (ferror(file))
        status = tlc_fail_errno(error, "plan: %s", path);
    else
        status = tlc_plan_parse(text, count, path, plan, error);
    free(text);
    fclose(file);
    return status;
}

void tlc_plan_free(struct tlc_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->arm_count; i++)
        tlc_arm_clear(&plan->arms[i]);
    for (size_t i = 0; i < plan->lever_count; i++) {
        free(plan->levers[i].name);
        free(plan->levers[i].key);
        free(plan->levers[i].pulls);
    }
    for (size_t i = 0; i < plan->left_out_count; i++) {
        free(plan->left_out[i].arm);
        free(plan->left_out[i].reason);
    }
    free(plan->left_out);
    free(plan->arms);
    free(plan->levers);
    free(plan->name);
    free(plan->question);
    free(plan->workload);
    free(plan->file);
    free(plan);
}

// The ratio goes with the mode: no resumption has none (rules.c). The warm-up goes with the server.
static bool follows(size_t other, size_t key)
{
    return (other == TLC_KEY_RESUME_RATIO && key == TLC_KEY_RESUMPTION) ||
           (other == TLC_KEY_OWN_WARM_UP && key == TLC_KEY_SERVER);
}

// The one other arm that has `value` at `key` and is equal in all else but what it is divided by.
static size_t twin_with(const struct tlc_plan *plan, size_t of, size_t key, const char *value)
{
    char text[1024];
    for (size_t i = 0; i < plan->arm_count; i++) {
        bool twin = i != of && (int)i != plan->control && (int)i != plan->fair_client;
        for (size_t other = 0; twin && other < TLC_ARM_KEY_COUNT; other++)
            twin = other == key || follows(other, key) || other == TLC_KEY_AGAINST ||
                   other == TLC_KEY_OPTIONAL ||
                   tlc_arm_same(&plan->arms[i], &plan->arms[of], other);
        tlc_setting_format(&tlc_arm_settings[key], &plan->arms[i], text, sizeof text);
        if (twin && !strcmp(text, value))
            return i;
    }
    return of;
}

size_t tlc_plan_against(const struct tlc_plan *plan, size_t arm)
{
    const char *against = plan->arms[arm].against;
    if (!arm || !against || (int)arm == plan->control || (int)arm == plan->fair_client)
        return 0;
    for (size_t i = 0; i < plan->arm_count; i++)
        if (!strcmp(plan->arms[i].name, against))
            return i;
    char key[64], value[1024];
    const char *equals = strchr(against, '=');
    if (!equals || (size_t)(equals - against) >= sizeof key)
        return arm;
    snprintf(key, sizeof key, "%.*s", (int)(equals - against), against);
    const struct tlc_setting *setting = tlc_setting_named(tlc_arm_settings, TLC_ARM_KEY_COUNT, key);
    if (!setting)
        return arm;
    tlc_setting_format(setting, &plan->arms[arm], value, sizeof value);
    return strcmp(value, equals + 1)
               ? twin_with(plan, arm, (size_t)(setting - tlc_arm_settings), equals + 1)
               : 0;
}

static void shift_index(int *index, size_t arm)
{
    *index = *index == (int)arm ? -1 : *index - (*index > (int)arm);
}

enum tlc_status tlc_plan_leave_out(struct tlc_plan *plan, size_t arm, const char *reason,
                                   struct tlc_error *error)
{
    if (!arm || !plan->arms[arm].optional)
        return tlc_fail(error, TLC_USAGE, "arm '%s': it is not optional", plan->arms[arm].name);
    struct tlc_left_out *grown =
        realloc(plan->left_out, (plan->left_out_count + 1) * sizeof *grown);
    char *why = strdup(reason);
    if (grown)
        plan->left_out = grown;
    if (!grown || !why) {
        free(why);
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", plan->file);
    }
    plan->left_out[plan->left_out_count++] =
        (struct tlc_left_out){.arm = plan->arms[arm].name, .reason = why};
    plan->arms[arm].name = NULL;
    tlc_arm_clear(&plan->arms[arm]);
    memmove(&plan->arms[arm], &plan->arms[arm + 1],
            (plan->arm_count - arm - 1) * sizeof *plan->arms);
    plan->arm_count--;
    shift_index(&plan->control, arm);
    shift_index(&plan->fair_client, arm);
    return TLC_OK;
}

const char *tlc_arm_key_at(size_t index)
{
    return index < TLC_ARM_KEY_COUNT ? tlc_arm_settings[index].name : NULL;
}

bool tlc_arm_value(const struct tlc_arm *arm, const char *key, char *text, size_t bytes)
{
    const struct tlc_setting *setting = tlc_setting_named(tlc_arm_settings, TLC_ARM_KEY_COUNT, key);
    if (setting)
        tlc_setting_format(setting, arm, text, bytes);
    return setting != NULL;
}

bool tlc_arm_is_unfinished(const struct tlc_arm *arm)
{
    return strcmp(arm->stop, "complete") != 0;
}

bool tlc_arm_is_paced(const struct tlc_arm *arm)
{
    return arm->pace || arm->offered > 0 || tlc_arm_is_unfinished(arm);
}

uint16_t tlc_group_outside(const uint16_t *groups, size_t count)
{
    static const uint16_t decoys[] = {TLC_GROUP_SECP384R1, TLC_GROUP_SECP521R1, TLC_GROUP_SECP256R1,
                                      TLC_GROUP_X25519};
    for (size_t i = 0; i < sizeof decoys / sizeof *decoys; i++) {
        bool among = false;
        for (size_t j = 0; j < count; j++)
            among = among || groups[j] == decoys[i];
        if (!among)
            return decoys[i];
    }
    return 0;
}
