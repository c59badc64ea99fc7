#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "compare_support.h"
#include "report/compare.h"

static const struct tlc_compare_options plain = {
    .base_name = "base.json", .new_name = "new.json", .margin = NAN, .fail_above = NAN};

static json_t *compare(const struct made *before, const struct made *after,
                       const struct tlc_compare_options *options)
{
    json_t *base = made_result(before), *new = made_result(after), *comparison = NULL;
    struct tlc_error error = {0};
    if (tlc_compare_results(base, new, options, &comparison, &error) != TLC_OK)
        fail_msg("%s", error.text);
    json_decref(base);
    json_decref(new);
    return comparison;
}

static const json_t *arm_of(const json_t *comparison, const char *name)
{
    size_t index;
    json_t *arm;
    json_array_foreach(json_object_get(comparison, "arms"), index, arm)
    {
        if (!strcmp(json_string_value(json_object_get(arm, "name")), name))
            return arm;
    }
    return NULL;
}

static double figure(const json_t *arm, const char *of, const char *which)
{
    const json_t *value = json_object_get(json_object_get(arm, of), which);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "(null)";
}

static bool warns_of(const json_t *comparison, const char *what)
{
    size_t index;
    json_t *warning;
    json_array_foreach(json_object_get(comparison, "warnings"), index, warning)
    {
        if (strstr(json_string_value(warning), what))
            return true;
    }
    return false;
}

// The machine ran at half its speed the second time; the arm really costs 5 % more.
static void speed_of_the_machine_cancels(void **state)
{
    (void)state;
    const struct made before = {6, 1, 1.2, true, 1, NULL}, after = {6, 2, 1.26, true, 2, NULL};
    json_t *comparison = compare(&before, &after, &plain);
    const json_t *arm = arm_of(comparison, "ed25519");
    assert_null(arm_of(comparison, "control"));
    assert_true(fabs(figure(arm, "ratio", "estimate") - 1.05) < 0.003);
    assert_true(figure(arm, "ratio", "low") > 1.045 && figure(arm, "ratio", "high") < 1.055);
    assert_string_equal(text(arm, "verdict"), "slower");
    assert_true(fabs(json_number_value(json_object_get(arm, "p")) - 2.0 / 924) < 1e-9);
    // Two arms were tested.
    assert_true(fabs(json_number_value(json_object_get(arm, "holm_p")) - 4.0 / 924) < 1e-9);
    assert_string_equal(text(arm_of(comparison, "baseline"), "verdict"), "equivalent");
    const json_t *normalisation = json_object_get(comparison, "normalisation");
    assert_string_equal(text(normalisation, "kind"), "relative");
    assert_string_equal(text(normalisation, "reference"), "control");
    assert_true(fabs(figure(json_object_get(comparison, "reference"), "ratio", "estimate") - 2) <
                0.01);
    json_decref(comparison);
}

static void without_a_control_costs_are_absolute_and_warned_of(void **state)
{
    (void)state;
    const struct made before = {6, 1, 1.2, false, 1, NULL}, after = {6, 2, 1.2, false, 2, NULL};
    json_t *comparison = compare(&before, &after, &plain);
    assert_string_equal(text(json_object_get(comparison, "normalisation"), "kind"), "absolute");
    assert_true(warns_of(comparison, "no control"));
    assert_true(fabs(figure(arm_of(comparison, "ed25519"), "ratio", "estimate") - 2) < 0.02);
    assert_non_null(arm_of(comparison, "control"));
    json_decref(comparison);
    struct tlc_compare_options named = plain;
    named.relative_to = "baseline";
    comparison = compare(&before, &after, &named);
    assert_true(fabs(figure(arm_of(comparison, "ed25519"), "ratio", "estimate") - 1) < 0.003);
    assert_false(warns_of(comparison, "as they are"));
    json_decref(comparison);
}

static void gate_fails_on_a_supported_claim_only(void **state)
{
    (void)state;
    struct tlc_compare_options gate = plain;
    struct tlc_error error = {0};
    const struct made before = {6, 1, 1.0, true, 1, NULL}, after = {6, 1, 1.05, true, 2, NULL};
    gate.fail_above = 0.03;
    json_t *comparison = compare(&before, &after, &gate);
    assert_int_equal(tlc_compare_gate(comparison, &error), TLC_GATE);
    assert_non_null(strstr(error.text, "ed25519"));
    json_decref(comparison);
    gate.fail_above = 0.06; // the claim is there, but not above the gate
    comparison = compare(&before, &after, &gate);
    assert_string_equal(text(arm_of(comparison, "ed25519"), "verdict"), "slower");
    assert_int_equal(tlc_compare_gate(comparison, &error), TLC_OK);
    json_decref(comparison);
    // Faster is no reason to fail, nor is a rise that too few instances cannot support.
    gate.fail_above = 0.03;
    comparison = compare(&after, &before, &gate);
    assert_string_equal(text(arm_of(comparison, "ed25519"), "verdict"), "faster");
    assert_int_equal(tlc_compare_gate(comparison, &error), TLC_OK);
    json_decref(comparison);
    const struct made few_before = {3, 1, 1, true, 1, NULL}, few = {3, 1, 1.5, true, 2, NULL};
    comparison = compare(&few_before, &few, &gate);
    assert_string_equal(text(arm_of(comparison, "ed25519"), "verdict"), "no-claim");
    assert_true(warns_of(comparison, "more blocks"));
    assert_int_equal(tlc_compare_gate(comparison, &error), TLC_OK);
    json_decref(comparison);
}

// Four and four instances: an arm's own interval excludes 1 at p = 2/70, but not over two arms.
static void holm_takes_back_what_one_interval_shows(void **state)
{
    (void)state;
    const struct made before = {4, 1, 1, true, 1, NULL}, after = {4, 1, 1.1, true, 2, NULL};
    json_t *comparison = compare(&before, &after, &plain);
    const json_t *arm = arm_of(comparison, "ed25519");
    assert_true(figure(arm, "ratio", "low") > 1);
    assert_true(json_number_value(json_object_get(arm, "holm_p")) > 0.05);
    assert_string_equal(text(arm, "verdict"), "no-claim");
    json_decref(comparison);
}

static json_t *difference(const json_t *differences, const char *what)
{
    size_t index;
    json_t *entry;
    json_array_foreach(differences, index, entry)
    {
        if (!strcmp(text(entry, "what"), what))
            return entry;
    }
    return NULL;
}

static void differences_are_named(void **state)
{
    (void)state;
    const struct made made = {6, 1, 1, true, 1, NULL}, slower = {6, 2, 1, true, 1, NULL};
    json_t *base = made_result(&made), *new = made_result(&slower), *comparison = NULL;
    struct tlc_error error = {0};
    json_t *plan = json_object_get(new, "plan");
    json_object_set_new(json_array_get(json_object_get(plan, "arms"), 2), "certificate",
                        json_string("ed448"));
    json_object_set_new(json_object_get(plan, "schedule"), "blocks", json_integer(9));
    json_object_set_new(json_object_get(new, "environment"), "kernel", json_string("Linux 7"));
    json_object_set_new(json_array_get(json_object_get(new, "stacks"), 0), "sha256",
                        json_string("bb"));
    json_array_append_new(json_object_get(new, "arms"), json_pack("{s:s}", "name", "more"));
    assert_int_equal(tlc_compare_results(base, new, &plain, &comparison, &error), TLC_OK);
    const json_t *of_plan = json_object_get(comparison, "plan_differences");
    const json_t *of_machine = json_object_get(comparison, "environment_differences");
    assert_int_equal(json_array_size(of_plan), 2);
    assert_string_equal(text(difference(of_plan, "arm ed25519 certificate"), "new"), "ed448");
    assert_non_null(difference(of_plan, "plan schedule blocks"));
    // The load of the moment differs too, and is nobody's business.
    assert_int_equal(json_array_size(of_machine), 2);
    assert_string_equal(text(difference(of_machine, "kernel"), "new"), "Linux 7");
    assert_string_equal(text(difference(of_machine, "stack openssl sha256"), "base"), "aa");
    assert_true(json_is_true(json_object_get(arm_of(comparison, "ed25519"), "settings_differ")));
    assert_false(json_is_true(json_object_get(arm_of(comparison, "baseline"), "settings_differ")));
    assert_string_equal(text(arm_of(comparison, "more"), "note"), "only in new.json");
    assert_true(warns_of(comparison, "another build of stack 'openssl'"));
    json_decref(comparison);
    json_decref(base);
    json_decref(new);
}

static void arms_of_one_campaign_are_paired(void **state)
{
    (void)state;
    const struct made made = {6, 1, 1.07, true, 1, NULL};
    json_t *result = made_result(&made), *comparison = NULL;
    struct tlc_error error = {0};
    assert_int_equal(tlc_compare_arms(result, "baseline", "ed25519", &plain, &comparison, &error),
                     TLC_OK);
    const json_t *arm = arm_of(comparison, "ed25519");
    assert_true(fabs(figure(arm, "ratio", "estimate") - 1.07) < 0.003);
    assert_string_equal(text(arm, "verdict"), "slower");
    assert_true(fabs(json_number_value(json_object_get(arm, "p")) - 2.0 / 64) < 1e-9);
    json_decref(comparison);
    assert_int_equal(tlc_compare_arms(result, "baseline", "rsa", &plain, &comparison, &error),
                     TLC_USAGE);
    assert_non_null(strstr(error.text, "no arm 'rsa'"));
    json_object_set_new(json_array_get(json_object_get(result, "arms"), 0), "accepted",
                        json_false());
    assert_int_equal(tlc_compare_arms(result, "baseline", "ed25519", &plain, &comparison, &error),
                     TLC_REFUSED);
    json_decref(result);
}

static void what_cannot_be_compared_is_an_error(void **state)
{
    (void)state;
    const struct made made = {6, 1, 1, true, 1, NULL};
    json_t *base = made_result(&made), *new = made_result(&made), *comparison = NULL;
    struct tlc_error error = {0};
    struct tlc_compare_options options = plain;
    options.relative_to = "nobody";
    assert_int_equal(tlc_compare_results(base, new, &options, &comparison, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "'nobody' is not in both"));
    size_t index;
    json_t *arm;
    json_array_foreach(json_object_get(new, "arms"), index, arm)
        json_object_set_new(arm, "accepted", json_false());
    assert_int_equal(tlc_compare_results(base, new, &plain, &comparison, &error), TLC_REFUSED);
    assert_non_null(strstr(error.text, "no arm was accepted by the checks in both"));
    json_array_foreach(json_object_get(new, "arms"), index, arm)
        json_object_set_new(arm, "name", json_sprintf("other-%zu", index));
    assert_int_equal(tlc_compare_results(base, new, &plain, &comparison, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "no arm of the same name"));
    json_object_set_new(new, "command", json_string("load"));
    assert_int_equal(tlc_compare_results(base, new, &plain, &comparison, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "'load'"));
    json_decref(base);
    json_decref(new);
}

// The same comparison in both formats names normalisation, verdicts and what cannot be seen.
static void words_say_what_was_done(void **state)
{
    (void)state;
    const struct made before = {6, 1, 1.2, true, 1, NULL}, after = {6, 1, 1.2, true, 2, NULL};
    struct tlc_compare_options strict = plain;
    struct tlc_error error = {0};
    strict.margin = 1e-6; // nothing is equivalent then
    strict.fail_above = 0.03;
    json_t *comparison = compare(&before, &after, &strict);
    for (int i = 0; i < 2; i++) {
        char *told = NULL;
        size_t bytes;
        FILE *to = open_memstream(&told, &bytes);
        assert_int_equal(tlc_compare_write(comparison, i ? "markdown" : "terminal", to, &error),
                         TLC_OK);
        assert_int_equal(fclose(to), 0);
        assert_non_null(strstr(told, "Relative to"));
        assert_non_null(strstr(told, "no claim"));
        assert_non_null(strstr(told, "cannot be seen"));
        assert_non_null(strstr(told, "The two ran the same plan"));
        assert_non_null(strstr(told, "no arm is shown to cost over 3 % more"));
        free(told);
    }
    assert_int_equal(tlc_compare_write(comparison, "pdf", stdout, &error), TLC_USAGE);
    json_decref(comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_of_the_machine_cancels),
        cmocka_unit_test(without_a_control_costs_are_absolute_and_warned_of),
        cmocka_unit_test(gate_fails_on_a_supported_claim_only),
        cmocka_unit_test(holm_takes_back_what_one_interval_shows),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test(arms_of_one_campaign_are_paired),
        cmocka_unit_test(what_cannot_be_compared_is_an_error),
        cmocka_unit_test(words_say_what_was_done),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
