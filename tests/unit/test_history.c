#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "compare_support.h"
#include "report/history.h"

enum { RESULTS = 14, STEP = 8 };

struct folder {
    struct tlc_history_entry entries[RESULTS];
    json_t *results[RESULTS];
    char names[RESULTS][16], times[RESULTS][32];
};

// Results of one plan, newest first; from result STEP on the arm costs `step` times as much, and
// another kernel runs. The machine's speed differs each time.
static void make(struct folder *folder, double step)
{
    for (unsigned i = 0; i < RESULTS; i++) {
        unsigned place = RESULTS - 1 - i;
        snprintf(folder->names[place], sizeof folder->names[place], "r%02u.json", i);
        snprintf(folder->times[place], sizeof folder->times[place], "2026-01-%02uT00:00:00Z",
                 i + 1);
        const struct made made = {6,     1 + 0.2 * (i * 5 % 7), i < STEP ? 1.2 : 1.2 * step, true,
                                  i + 1, folder->times[place]};
        folder->results[place] = made_result(&made);
        json_object_set_new(json_object_get(folder->results[place], "environment"), "kernel",
                            json_string(i < STEP ? "Linux 6" : "Linux 7"));
        folder->entries[place] =
            (struct tlc_history_entry){folder->names[place], folder->results[place]};
    }
}

static void drop(struct folder *folder)
{
    for (unsigned i = 0; i < RESULTS; i++)
        json_decref(folder->results[i]);
}

static const struct tlc_history_options plain = {.alpha = 0.01};

static json_t *build(const struct folder *folder, const struct tlc_history_options *options)
{
    json_t *history = NULL;
    struct tlc_error error = {0};
    if (tlc_history_build(folder->entries, RESULTS, options, &history, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return history;
}

static const json_t *arm_of(const json_t *history, const char *name)
{
    size_t index;
    json_t *arm;
    json_array_foreach(json_object_get(history, "arms"), index, arm)
    {
        if (!strcmp(json_string_value(json_object_get(arm, "name")), name))
            return arm;
    }
    fail_msg("no arm %s", name);
    return NULL;
}

static double estimate(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(json_object_get(object, member), "estimate"));
}

static void a_step_is_marked_with_what_differed(void **state)
{
    (void)state;
    struct folder folder;
    make(&folder, 1.05);
    json_t *history = build(&folder, &plain);
    const json_t *arm = arm_of(history, "ed25519"), *changes = json_object_get(arm, "changes");
    assert_int_equal(json_array_size(changes), 1);
    const json_t *change = json_array_get(changes, 0);
    assert_string_equal(json_string_value(json_object_get(change, "file")), "r08.json");
    assert_int_equal(json_integer_value(json_object_get(change, "result")), STEP);
    assert_true(fabs(estimate(change, "ratio") - 1.05) < 0.003);
    const json_t *differs = json_object_get(change, "environment_differences");
    assert_int_equal(json_array_size(differs), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(differs, 0), "what")),
                        "kernel");
    // Sorted by time, whatever the order of the files.
    const json_t *points = json_object_get(arm, "points");
    assert_int_equal(json_array_size(points), RESULTS);
    assert_true(fabs(estimate(json_array_get(points, 0), "value") - 1.2) < 0.003);
    assert_true(fabs(estimate(json_array_get(points, RESULTS - 1), "value") - 1.26) < 0.003);
    assert_int_equal(json_array_size(json_object_get(arm_of(history, "baseline"), "changes")), 0);
    json_decref(history);
    drop(&folder);
}

static void a_level_history_has_no_marks(void **state)
{
    (void)state;
    struct folder folder;
    make(&folder, 1);
    json_t *history = build(&folder, &plain), *again = build(&folder, &plain);
    assert_int_equal(json_array_size(json_object_get(arm_of(history, "ed25519"), "changes")), 0);
    assert_true(json_equal(json_object_get(history, "arms"), json_object_get(again, "arms")));
    json_decref(history);
    json_decref(again);
    drop(&folder);
}

static void gaps_and_strangers_are_told(void **state)
{
    (void)state;
    struct folder folder;
    struct tlc_error error = {0};
    make(&folder, 1.05);
    json_object_set_new(json_array_get(json_object_get(folder.results[10], "arms"), 2), "accepted",
                        json_false());
    json_object_set_new(folder.results[11], "command", json_string("load"));
    json_object_set_new(json_object_get(folder.results[12], "plan"), "name", json_string("other"));
    json_t *history = build(&folder, &plain);
    assert_int_equal(json_array_size(json_object_get(history, "results")), RESULTS - 2);
    assert_int_equal(json_array_size(json_object_get(history, "left_out")), 2);
    const json_t *points = json_object_get(arm_of(history, "ed25519"), "points");
    size_t gaps = 0;
    for (size_t i = 0; i < json_array_size(points); i++)
        gaps += json_is_null(json_object_get(json_array_get(points, i), "value"));
    assert_int_equal(gaps, 1);
    char *told = NULL;
    size_t bytes;
    FILE *to = open_memstream(&told, &bytes);
    assert_int_equal(tlc_history_write(history, "markdown", to, &error), TLC_OK);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(told, "no figure"));
    assert_non_null(strstr(told, "plan 'other'"));
    assert_non_null(strstr(told, "CHANGE"));
    assert_non_null(strstr(told, "Linux 7"));
    free(told);
    json_decref(history);
    struct tlc_history_options options = {.alpha = 0.01, .plan = "nothing"};
    assert_int_equal(tlc_history_build(folder.entries, RESULTS, &options, &history, &error),
                     TLC_USAGE);
    assert_non_null(strstr(error.text, "plan 'nothing'"));
    options = (struct tlc_history_options){.alpha = 0.01, .relative_to = "nobody"};
    assert_int_equal(tlc_history_build(folder.entries, RESULTS, &options, &history, &error),
                     TLC_USAGE);
    assert_int_equal(tlc_history_build(folder.entries, 0, &plain, &history, &error), TLC_USAGE);
    drop(&folder);
}

static void without_a_control_the_machine_is_in_it(void **state)
{
    (void)state;
    struct folder folder;
    make(&folder, 1);
    const struct tlc_history_options absolute = {.alpha = 0.01, .absolute = true};
    json_t *history = build(&folder, &absolute);
    const json_t *points = json_object_get(arm_of(history, "control"), "points");
    assert_true(fabs(estimate(json_array_get(points, 1), "value") - 200 * 2.0) < 3);
    json_decref(history);
    drop(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_marked_with_what_differed),
        cmocka_unit_test(a_level_history_has_no_marks),
        cmocka_unit_test(gaps_and_strangers_are_told),
        cmocka_unit_test(without_a_control_the_machine_is_in_it),
    };
    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
