// In what two results differ besides their figures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_parts.h"
#include "result/rounds.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static void add_difference(json_t *differences, const char *what, const json_t *base,
                           const json_t *new)
{
    json_t *entry = json_object();
    json_object_set_new(entry, "what", json_string(what));
    json_object_set_new(entry, "base", base ? json_deep_copy(base) : json_null());
    json_object_set_new(entry, "new", new ? json_deep_copy(new) : json_null());
    json_array_append_new(differences, entry);
}

// Null and missing are the same: not told.
static bool equals(const json_t *base, const json_t *new)
{
    bool no_base = !base || json_is_null(base), no_new = !new || json_is_null(new);
    if (no_base || no_new)
        return no_base && no_new;
    if (json_is_number(base) && json_is_number(new)) {
        double a = json_number_value(base), b = json_number_value(new);
        return !(a < b) && !(a > b);
    }
    return json_equal(base, new) == 1;
}

static bool is_listed(const char *key, const char *const *list)
{
    for (; list && *list; list++)
        if (!strcmp(*list, key))
            return true;
    return false;
}

enum { DEEPEST = 8 };

// Compares members, those of `new` first that `base` lacks last; objects are entered.
static void compare_objects(json_t *differences, const char *prefix, const json_t *base,
                            const json_t *new, const char *const *left_out, unsigned depth)
{
    for (int pass = 0; pass < 2; pass++) {
        const json_t *from = pass ? new : base;
        const char *key;
        json_t *ignored;
        json_object_foreach((json_t *)(uintptr_t)from, key, ignored)
        {
            const json_t *a = json_object_get(base, key), *b = json_object_get(new, key);
            if ((pass && a) || is_listed(key, left_out) || equals(a, b))
                continue;
            char what[256];
            snprintf(what, sizeof what, "%s%s%s", prefix, *prefix ? " " : "", key);
            if (depth < DEEPEST && (json_is_object(a) || json_is_object(b)) &&
                (!a || json_is_object(a)) && (!b || json_is_object(b)))
                compare_objects(differences, what, a, b, left_out, depth + 1);
            else
                add_difference(differences, what, a, b);
        }
    }
}

static const json_t *named(const json_t *array, const char *key, const char *name)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!strcmp(text_of(json_array_get(array, i), key), name))
            return json_array_get(array, i);
    return NULL;
}

const json_t *tlc_plan_arm(const json_t *result, const char *arm)
{
    return named(json_object_get(json_object_get(result, "plan"), "arms"), "name", arm);
}

static const char *const arm_words[] = {"name", "lever", NULL};

bool tlc_arm_differs(const json_t *base, const json_t *new, const char *arm)
{
    json_t *differences = json_array();
    compare_objects(differences, "", tlc_plan_arm(base, arm), tlc_plan_arm(new, arm), arm_words, 0);
    bool differs = json_array_size(differences) > 0;
    json_decref(differences);
    return differs;
}

// Entries of two arrays of objects by the name in `key`: those in both are compared, the others
// told.
static void compare_named(json_t *differences, const char *kind, const char *key,
                          const json_t *base, const json_t *new, const char *const *left_out)
{
    for (int pass = 0; pass < 2; pass++) {
        const json_t *from = pass ? new : base;
        for (size_t i = 0; i < json_array_size(from); i++) {
            const char *name = text_of(json_array_get(from, i), key);
            const json_t *a = named(base, key, name), *b = named(new, key, name);
            char what[256];
            snprintf(what, sizeof what, "%s %.200s", kind, name);
            json_t *there = json_string("there"), *missing = json_string("not there");
            if (!a || !b)
                add_difference(differences, what, a ? there : missing, b ? there : missing);
            else if (!pass)
                compare_objects(differences, what, a, b, left_out, 0);
            json_decref(there);
            json_decref(missing);
        }
    }
}

json_t *tlc_plan_differences(const json_t *base, const json_t *new)
{
    static const char *const left_out[] = {"arms", "file", "levers", NULL};
    const json_t *a = json_object_get(base, "plan"), *b = json_object_get(new, "plan");
    json_t *differences = json_array();
    compare_objects(differences, "plan", a, b, left_out, 0);
    compare_named(differences, "arm", "name", json_object_get(a, "arms"),
                  json_object_get(b, "arms"), arm_words);
    return differences;
}

json_t *tlc_environment_differences(const json_t *base, const json_t *new)
{
    static const char *const fleeting[] = {"load_average", "interrupted", "a_a",      "known_cost",
                                           "interference", "fair_client", "position", NULL};
    static const char *const of_stack[] = {"id", NULL};
    json_t *differences = json_array();
    compare_objects(differences, "", json_object_get(base, "environment"),
                    json_object_get(new, "environment"), fleeting, 0);
    compare_objects(differences, "setup", json_object_get(base, "setup"),
                    json_object_get(new, "setup"), fleeting, 0);
    compare_objects(differences, "calibration", json_object_get(base, "calibration"),
                    json_object_get(new, "calibration"), fleeting, 0);
    compare_named(differences, "stack", "id", json_object_get(base, "stacks"),
                  json_object_get(new, "stacks"), of_stack);
    return differences;
}

static bool serves(const json_t *result, const char *arm)
{
    return json_is_true(json_object_get(tlc_result_arm(result, arm), "accepted"));
}

static const char *control_of(const json_t *result)
{
    const json_t *plan = json_object_get(result, "plan");
    json_int_t control = json_integer_value(json_object_get(plan, "control"));
    if (!json_is_integer(json_object_get(plan, "control")) || control < 0)
        return NULL;
    return json_string_value(
        json_object_get(json_array_get(json_object_get(plan, "arms"), (size_t)control), "name"));
}

const char *tlc_reference_of(const json_t *base, const json_t *new, const char *wanted, char *why,
                             size_t bytes)
{
    const char *name = wanted ? wanted : control_of(base);
    *why = '\0';
    if (!name)
        snprintf(why, bytes, "the plan has no control");
    else if (!wanted && (!control_of(new) || strcmp(name, control_of(new))))
        snprintf(why, bytes, "the two have no common control");
    else if (!tlc_result_arm(base, name) || !tlc_result_arm(new, name))
        snprintf(why, bytes, "arm '%.100s' is not in both", name);
    else if (!serves(base, name) || !serves(new, name))
        snprintf(why, bytes, "arm '%.100s' was refused", name);
    return *why ? NULL : name;
}
