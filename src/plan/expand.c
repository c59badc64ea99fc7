#include "plan/expand.h"
#include "plan/warm_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    const struct tlc_document *document;
    const struct tlc_raw_plan *raw;
    struct tlc_plan *plan;
    struct tlc_origin origins[TLC_MOST_ARMS];
    struct tlc_arm *patterns; // of exclude: the baseline with the pattern's values
    unsigned *excluded;       // arms each pattern has left out
    struct tlc_error *error;
};

static enum tlc_status out_of_memory(const struct builder *builder)
{
    return tlc_fail(builder->error, TLC_ENVIRONMENT, "plan: %s: out of memory",
                    builder->document->name);
}

void tlc_arm_clear(struct tlc_arm *arm)
{
    free(arm->name);
    free(arm->lever);
    tlc_settings_free(tlc_arm_settings, TLC_ARM_KEY_COUNT, arm);
    *arm = (struct tlc_arm){0};
}

bool tlc_arm_same(const struct tlc_arm *a, const struct tlc_arm *b, size_t key)
{
    char left[1024], right[1024];
    tlc_setting_format(&tlc_arm_settings[key], a, left, sizeof left);
    tlc_setting_format(&tlc_arm_settings[key], b, right, sizeof right);
    return !strcmp(left, right);
}

bool tlc_arm_equal(const struct tlc_arm *a, const struct tlc_arm *b)
{
    for (size_t key = 0; key < TLC_ARM_KEY_COUNT; key++)
        if (!tlc_arm_same(a, b, key))
            return false;
    return true;
}

// ---- one arm

static enum tlc_status set_key(struct builder *builder, struct tlc_arm *arm, size_t key,
                               const char *text, const char *path)
{
    char why[TLC_WHY_BYTES];
    if (tlc_arm_settings[key].read(&tlc_arm_settings[key], text, arm, why, sizeof why))
        return TLC_OK;
    return tlc_document_fail(builder->document, path, builder->error, "%s", why);
}

static enum tlc_status set_keys(struct builder *builder, struct tlc_arm *arm,
                                const struct tlc_raw_arm *raw, const char *path)
{
    for (size_t key = 0; raw && key < TLC_ARM_KEY_COUNT; key++)
        if (raw->values[key]) {
            char at[96];
            snprintf(at, sizeof at, "%s/%s", path, tlc_arm_settings[key].name);
            enum tlc_status status = set_key(builder, arm, key, raw->values[key], at);
            if (status)
                return status;
        }
    return TLC_OK;
}

// A copy of the baseline without a name.
static enum tlc_status start_arm(struct builder *builder, struct tlc_arm *arm)
{
    *arm = (struct tlc_arm){0};
    if (tlc_settings_copy(tlc_arm_settings, TLC_ARM_KEY_COUNT, &builder->plan->arms[0], arm))
        return TLC_OK;
    tlc_arm_clear(arm);
    return out_of_memory(builder);
}

static bool good_name(const char *name)
{
    size_t length = strlen(name);
    if (!length || length > 100 || name[0] == ' ' || name[length - 1] == ' ')
        return false;
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '/')
            return false;
    return true;
}

// Appends the arm under a name; takes over what it owns, also on failure.
static enum tlc_status add_arm(struct builder *builder, struct tlc_arm *arm, const char *name,
                               const char *lever, const char *path)
{
    struct tlc_plan *plan = builder->plan;
    enum tlc_status status = TLC_OK;
    arm->name = strdup(name);
    arm->lever = lever ? strdup(lever) : NULL;
    if (!arm->name || (lever && !arm->lever))
        status = out_of_memory(builder);
    else if (plan->arm_count == TLC_MOST_ARMS)
        status = tlc_document_fail(builder->document, path, builder->error,
                                   "more than %d arms; write fewer values or exclude some",
                                   TLC_MOST_ARMS);
    else if (!good_name(name))
        status = tlc_document_fail(builder->document, path, builder->error,
                                   "'%.100s' cannot name an arm; write 1 to 100 visible characters "
                                   "without '/'",
                                   name);
    if (status) {
        tlc_arm_clear(arm);
        return status;
    }
    snprintf(builder->origins[plan->arm_count].path, sizeof builder->origins[0].path, "%s", path);
    plan->arms[plan->arm_count++] = *arm;
    *arm = (struct tlc_arm){0};
    return TLC_OK;
}

static bool name_taken(const struct tlc_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->arm_count; i++)
        if (!strcmp(plan->arms[i].name, name))
            return true;
    return false;
}

// ---- exclude

static enum tlc_status read_patterns(struct builder *builder)
{
    const struct tlc_raw_plan *raw = builder->raw;
    builder->patterns = calloc(raw->exclude_count + 1u, sizeof *builder->patterns);
    builder->excluded = calloc(raw->exclude_count + 1u, sizeof *builder->excluded);
    if (!builder->patterns || !builder->excluded)
        return out_of_memory(builder);
    for (unsigned i = 0; i < raw->exclude_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "exclude/%u", i);
        size_t keys = 0;
        for (size_t key = 0; key < TLC_ARM_KEY_COUNT; key++)
            keys += raw->exclude[i].values[key] != NULL;
        if (!keys)
            return tlc_document_fail(builder->document, path, builder->error,
                                     "this would exclude every arm; name at least one key");
        enum tlc_status status = start_arm(builder, &builder->patterns[i]);
        if (!status)
            status = set_keys(builder, &builder->patterns[i], &raw->exclude[i], path);
        if (status)
            return status;
    }
    return TLC_OK;
}

static bool is_excluded(struct builder *builder, const struct tlc_arm *arm)
{
    bool excluded = false;
    for (unsigned i = 0; i < builder->raw->exclude_count; i++) {
        bool matches = true;
        for (size_t key = 0; key < TLC_ARM_KEY_COUNT && matches; key++)
            matches = !builder->raw->exclude[i].values[key] ||
                      tlc_arm_same(arm, &builder->patterns[i], key);
        builder->excluded[i] += matches;
        excluded = excluded || matches;
    }
    return excluded;
}

static enum tlc_status check_patterns_used(struct builder *builder)
{
    for (unsigned i = 0; i < builder->raw->exclude_count; i++)
        if (!builder->excluded[i]) {
            char path[64];
            snprintf(path, sizeof path, "exclude/%u", i);
            return tlc_document_fail(builder->document, path, builder->error,
                                     "no arm of the levers or the matrix is like this; remove it "
                                     "or correct its values");
        }
    return TLC_OK;
}

// ---- levers

// "ed25519" for words, "workers=2" for numbers, and for words that another arm's name uses.
static void lever_arm_name(const struct builder *builder, size_t key, const char *value, char *name,
                           size_t bytes)
{
    snprintf(name, bytes, "%s", value);
    if (tlc_arm_settings[key].type != TLC_MEMBER_TEXT || name_taken(builder->plan, name))
        snprintf(name, bytes, "%s=%s", tlc_arm_settings[key].name, value);
}

static enum tlc_status add_lever_arm(struct builder *builder, const char *lever, size_t key,
                                     const char *value, const char *path)
{
    struct tlc_plan *plan = builder->plan;
    struct tlc_arm arm;
    enum tlc_status status = start_arm(builder, &arm);
    if (status)
        return status;
    status = set_key(builder, &arm, key, value, path);
    if (!status && tlc_arm_equal(&arm, &plan->arms[0]))
        status = tlc_document_fail(builder->document, path, builder->error,
                                   "'%.64s' is the baseline's own value; leave it out", value);
    for (size_t i = 1; !status && i < plan->arm_count; i++)
        if (tlc_arm_equal(&arm, &plan->arms[i]))
            status = tlc_document_fail(builder->document, path, builder->error,
                                       "'%.64s' is the arm '%s' again; leave it out", value,
                                       plan->arms[i].name);
    if (status || is_excluded(builder, &arm)) {
        tlc_arm_clear(&arm);
        return status;
    }
    char name[1024];
    lever_arm_name(builder, key, value, name, sizeof name);
    return add_arm(builder, &arm, name, lever, path);
}

static enum tlc_status add_lever(struct builder *builder, unsigned index)
{
    const struct tlc_raw_lever *raw = &builder->raw->levers[index];
    struct tlc_plan *plan = builder->plan;
    char path[64];
    snprintf(path, sizeof path, "levers/%u/key", index);
    const struct tlc_setting *setting =
        tlc_setting_named(tlc_arm_settings, TLC_ARM_KEY_COUNT, raw->key);
    if (!setting) {
        const char *words[TLC_ARM_KEY_COUNT];
        char hint[128];
        for (size_t key = 0; key < TLC_ARM_KEY_COUNT; key++)
            words[key] = tlc_arm_settings[key].name;
        return tlc_document_fail(
            builder->document, path, builder->error,
            "an arm has no key '%.64s'%s; write a key of the baseline, for example certificate",
            raw->key, tlc_did_you_mean(raw->key, words, TLC_ARM_KEY_COUNT, hint, sizeof hint));
    }
    struct tlc_lever *lever = &plan->levers[plan->lever_count++];
    lever->name = strdup(raw->name ? raw->name : raw->key);
    lever->key = strdup(raw->key);
    lever->pulls = raw->pulls ? strdup(raw->pulls) : NULL;
    if (!lever->name || !lever->key || (raw->pulls && !lever->pulls))
        return out_of_memory(builder);
    snprintf(path, sizeof path, "levers/%u/name", index);
    for (size_t i = 0; i + 1 < plan->lever_count; i++)
        if (!strcmp(plan->levers[i].name, lever->name))
            return tlc_document_fail(builder->document, path, builder->error,
                                     "two levers are named '%.64s'; write another name",
                                     lever->name);
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < raw->values_count && !status; i++) {
        snprintf(path, sizeof path, "levers/%u/values/%u", index, i);
        status = add_lever_arm(builder, lever->name, (size_t)(setting - tlc_arm_settings),
                               raw->values[i], path);
    }
    return status;
}

// ---- matrix

// The combination of number `index`: the last axis turns fastest.
static enum tlc_status add_combination(struct builder *builder, size_t index)
{
    const struct tlc_raw_matrix *matrix = builder->raw->matrix;
    struct tlc_plan *plan = builder->plan;
    struct tlc_arm arm;
    char name[1024] = "";
    enum tlc_status status = start_arm(builder, &arm);
    for (size_t key = TLC_ARM_KEY_COUNT; key-- > 0 && !status;) {
        unsigned count = matrix->axes[key].values_count;
        if (!count)
            continue;
        char path[64], rest[sizeof name];
        const char *value = matrix->axes[key].values[index % count];
        snprintf(path, sizeof path, "matrix/%s/%zu", tlc_arm_settings[key].name, index % count);
        index /= count;
        memcpy(rest, name, sizeof rest);
        bool number = tlc_arm_settings[key].type != TLC_MEMBER_TEXT;
        snprintf(name, sizeof name, "%s%s%.200s%s%.700s", number ? tlc_arm_settings[key].name : "",
                 number ? "=" : "", value, *rest ? "+" : "", rest);
        status = set_key(builder, &arm, key, value, path);
    }
    bool known = false;
    for (size_t i = 0; !status && i < plan->arm_count; i++)
        known = known || tlc_arm_equal(&arm, &plan->arms[i]);
    if (status || known || is_excluded(builder, &arm)) {
        tlc_arm_clear(&arm);
        return status;
    }
    return add_arm(builder, &arm, name, NULL, "matrix");
}

static enum tlc_status add_matrix(struct builder *builder)
{
    size_t product = 1;
    for (size_t key = 0; key < TLC_ARM_KEY_COUNT && product <= TLC_MOST_PRODUCT; key++)
        if (builder->raw->matrix->axes[key].values_count)
            product *= builder->raw->matrix->axes[key].values_count;
    if (product > TLC_MOST_PRODUCT)
        return tlc_document_fail(builder->document, "matrix", builder->error,
                                 "more than %d combinations; write fewer values", TLC_MOST_PRODUCT);
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; i < product && !status; i++)
        status = add_combination(builder, i);
    return status;
}

// ---- all of it

static enum tlc_status add_baseline(struct builder *builder)
{
    struct tlc_arm arm = {0};
    if (!tlc_settings_default(tlc_arm_settings, TLC_ARM_KEY_COUNT, &arm)) {
        tlc_arm_clear(&arm);
        return out_of_memory(builder);
    }
    enum tlc_status status =
        set_key(builder, &arm, TLC_KEY_WORKLOAD, builder->plan->workload, "workload");
    if (!status)
        status = set_keys(builder, &arm, builder->raw->baseline, "baseline");
    if (status) {
        tlc_arm_clear(&arm);
        return status;
    }
    return add_arm(builder, &arm, "baseline", NULL, "baseline");
}

// A yes or no of the plan; false when the text is neither.
static bool read_choice(const char *text, bool *choice)
{
    static const char *const words[] = {"true", "yes", "on", "false", "no", "off"};
    size_t word = 0;
    while (word < 6 && strcmp(words[word], text))
        word++;
    *choice = word < 3;
    return word < 6;
}

// An arm that must not differ from the baseline; *index gets its place.
static enum tlc_status add_equal_arm(struct builder *builder, const char *key, const char *text,
                                     const char *name, const char *share, int *index)
{
    bool wanted;
    struct tlc_arm arm;
    if (!read_choice(text, &wanted))
        return tlc_document_fail(builder->document, key, builder->error,
                                 "%s '%.64s' is not a choice; write true or false", key, text);
    if (!wanted)
        return TLC_OK;
    enum tlc_status status = start_arm(builder, &arm);
    if (!status && share)
        status = set_key(builder, &arm, TLC_KEY_SHARE, share, key);
    if (!status)
        status = add_arm(builder, &arm, name, NULL, key);
    if (!status)
        *index = (int)builder->plan->arm_count - 1;
    return status;
}

static enum tlc_status add_controls(struct builder *builder)
{
    const struct tlc_raw_plan *raw = builder->raw;
    enum tlc_status status = add_equal_arm(builder, "control", raw->control ? raw->control : "true",
                                           "control", NULL, &builder->plan->control);
    if (status || !raw->fair_client)
        return status;
    if (!strcmp(builder->plan->arms[0].share, "honest"))
        return tlc_document_fail(builder->document, "fair_client", builder->error,
                                 "the baseline's client makes honest key shares already; leave it "
                                 "out, or write share: cheap in the baseline");
    return add_equal_arm(builder, "fair_client", raw->fair_client, "honest client", "honest",
                         &builder->plan->fair_client);
}

static enum tlc_status add_includes(struct builder *builder)
{
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < builder->raw->include_count && !status; i++) {
        struct tlc_arm arm;
        char path[64];
        snprintf(path, sizeof path, "include/%u", i);
        status = start_arm(builder, &arm);
        if (status)
            break;
        status = set_keys(builder, &arm, &builder->raw->include[i], path);
        if (status)
            tlc_arm_clear(&arm);
        else
            status = add_arm(builder, &arm, builder->raw->include[i].name, NULL, path);
    }
    return status;
}

// What is said in the baseline holds for all arms; but it and its equals run in any case, since the
// others are divided by them.
static void keep_equals(struct tlc_plan *plan)
{
    const int equals[] = {0, plan->control, plan->fair_client};
    for (size_t i = 0; i < sizeof equals / sizeof *equals; i++)
        if (equals[i] >= 0)
            plan->arms[equals[i]].optional = 0;
}

static enum tlc_status add_all(struct builder *builder)
{
    enum tlc_status status = add_baseline(builder);
    if (!status)
        status = add_controls(builder);
    if (!status)
        status = read_patterns(builder);
    for (unsigned i = 0; i < builder->raw->levers_count && !status; i++)
        status = add_lever(builder, i);
    if (!status && builder->raw->matrix)
        status = add_matrix(builder);
    if (!status)
        status = check_patterns_used(builder);
    if (!status)
        status = add_includes(builder);
    if (!status)
        keep_equals(builder->plan);
    if (!status)
        tlc_plan_take_warm_ups(builder->plan);
    if (!status)
        status = tlc_plan_check(builder->plan, builder->document, builder->origins, builder->error);
    return status;
}

enum tlc_status tlc_plan_expand(const struct tlc_document *document, struct tlc_plan *plan,
                                struct tlc_error *error)
{
    enum tlc_status status = TLC_ENVIRONMENT;
    struct builder *builder = calloc(1, sizeof *builder);
    plan->control = plan->fair_client = -1;
    plan->arms = calloc(TLC_MOST_ARMS, sizeof *plan->arms);
    plan->levers = calloc(document->plan->levers_count + 1u, sizeof *plan->levers);
    if (!builder || !plan->arms || !plan->levers) {
        status = tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", document->name);
        goto done;
    }
    builder->document = document;
    builder->raw = document->plan;
    builder->plan = plan;
    builder->error = error;
    status = add_all(builder);
    for (unsigned i = 0; builder->patterns && i < document->plan->exclude_count; i++)
        tlc_arm_clear(&builder->patterns[i]);
    free(builder->patterns);
    free(builder->excluded);
done:
    free(builder);
    return status;
}
