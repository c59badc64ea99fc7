#include "attribute/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/component.h"

// What the provider does of other components is only part of them: a key schedule is more than its
// HKDF, a record more than its cipher.
static const struct {
    enum tlc_component timed;
    enum tlc_part component;
} whole[] = {
    {TLC_COMPONENT_KEY_AGREEMENT, TLC_PART_AGREEMENT},
    {TLC_COMPONENT_KEY_GENERATION, TLC_PART_GENERATION},
    {TLC_COMPONENT_ENCAPSULATE, TLC_PART_ENCAPSULATION},
    {TLC_COMPONENT_IMPORT_KEY, TLC_PART_PEER_KEY},
    {TLC_COMPONENT_SIGN, TLC_PART_SIGNATURE},
};
enum { WHOLE = sizeof whole / sizeof *whole };

static bool is(const json_t *settings, const char *key, const char *word)
{
    const char *setting = json_string_value(json_object_get(settings, key));
    return setting && !strcmp(setting, word);
}

// What does not change the server's work: names, comparisons, and how it is looked at.
static bool is_of_no_matter(const char *key)
{
    static const char *const keys[] = {"name",      "lever", "against",  "optional",
                                       "attribute", "trace", "instance", NULL};
    for (size_t i = 0; keys[i]; i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

static bool do_the_same(const json_t *settings, const json_t *others)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)settings, key, value)
    {
        const json_t *other = json_object_get(others, key);
        if (!is_of_no_matter(key) && !json_equal(value, other))
            return false;
    }
    return true;
}

// The arm that was timed for this one; NULL: none.
static const json_t *timed_arm(const json_t *result, const struct tlc_parts *parts)
{
    const json_t *arms = json_object_get(result, "arms");
    for (size_t i = 0; i < json_array_size(arms); i++) {
        const json_t *arm = json_array_get(arms, i), *settings = tlc_parts_settings(result, arm);
        if (settings && parts->settings && json_is_true(json_object_get(arm, "accepted")) &&
            is(settings, "trace", "timed") && do_the_same(parts->settings, settings))
            return arm;
    }
    return NULL;
}

static double timed_in(const json_t *sample, enum tlc_component component)
{
    const json_t *trace = json_object_get(json_object_get(sample, "stay"), "trace");
    const json_t *told =
        json_object_get(json_object_get(trace, "components"), tlc_component_name(component));
    const json_t *us = json_object_get(told, "trimmed_us");
    return json_is_number(us) ? json_number_value(us) : NAN;
}

static struct tlc_interval mean_of(const json_t *arm, const struct tlc_parts *first,
                                   enum tlc_component component)
{
    const json_t *samples = json_object_get(arm, "samples");
    double *values = calloc(json_array_size(samples) + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; values && i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        double us = timed_in(sample, component);
        double block = json_number_value(json_object_get(sample, "block"));
        if (json_is_true(json_object_get(sample, "accepted")) && isfinite(us))
            values[count++] = us * tlc_parts_speed(first, block);
    }
    struct tlc_interval mean = {.estimate = NAN, .low = NAN, .high = NAN};
    if (count)
        mean = tlc_parts_mean(values, count);
    free(values);
    return mean;
}

static void add(struct tlc_timed_part *list, size_t *count, const struct tlc_parts *parts,
                enum tlc_part component, const json_t *arm, struct tlc_interval timed_us)
{
    struct tlc_interval us = tlc_parts_mean(parts->of[component], parts->blocks);
    list[(*count)++] = (struct tlc_timed_part){
        .parts = parts,
        .component = component,
        .arm = json_string_value(json_object_get(arm, "name")),
        .us = us,
        .timed_us = timed_us,
        .apart = us.low > timed_us.high || us.high < timed_us.low,
    };
}

bool tlc_timed_parts(const json_t *result, const struct tlc_parts *parts, size_t parts_count,
                     struct tlc_timed_part **list, size_t *count)
{
    *count = 0;
    *list = calloc(parts_count * WHOLE + 1, sizeof **list);
    for (size_t i = 0; *list && i < parts_count; i++) {
        const json_t *arm = timed_arm(result, &parts[i]);
        for (size_t k = 0; arm && k < WHOLE; k++) {
            struct tlc_interval timed_us = mean_of(arm, parts, whole[k].timed);
            if (timed_us.estimate > 0)
                add(*list, count, &parts[i], whole[k].component, arm, timed_us);
        }
    }
    return *list != NULL;
}
