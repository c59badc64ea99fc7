// Whether parts add up and the same work costs the same, of results made here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/budget.h"
#include "report/report.h"

enum { BLOCKS = 8, SAMPLES = 1000, HANDSHAKES = 10000 };

struct made {
    const char *name, *group, *resumption, *stack, *burn_in;
    double agreement, generation; // share of the samples
    double timed_us;              // key agreement by the tracing provider; 0: samples instead
};

static const struct made curve = {.name = "curve",
                                  .group = "X25519",
                                  .resumption = "none",
                                  .stack = "openssl",
                                  .burn_in = "state-machine",
                                  .agreement = 0.1,
                                  .generation = 0.1};
static const struct made hybrid = {.name = "hybrid",
                                   .group = "X25519MLKEM768",
                                   .resumption = "none",
                                   .stack = "openssl",
                                   .burn_in = "state-machine",
                                   .agreement = 0.1,
                                   .generation = 0.1};

static json_t *timed_sample(const struct made *made, int block)
{
    double us = made->timed_us + (block % 2 ? 0.5 : -0.5);
    return json_pack("{s:i, s:b, s:i, s:f, s:{s:s}, s:{s:{s:{s:{s:f, s:f}}}}}", "block", block,
                     "accepted", 1, "handshakes", HANDSHAKES, "cost_us", 210.0, "evidence", "group",
                     made->group, "stay", "trace", "components", "key_agreement", "own_us", us + 9,
                     "trimmed_us", us);
}

// Every block differs a little, so that there are intervals.
static json_t *sample_of(const struct made *made, int block)
{
    if (made->timed_us > 0)
        return timed_sample(made, block);
    double jitter = block % 2 ? 2 : -2, agreement = made->agreement * SAMPLES + jitter;
    double generation = made->generation * SAMPLES + jitter;
    json_t *components = json_pack("{s:{s:f, s:f}, s:{s:f, s:f}, s:{s:f, s:f}}", "key agreement",
                                   "samples", agreement, "allocation", 0.0, "key generation",
                                   "samples", generation, "allocation", 0.0, "state machine",
                                   "samples", SAMPLES - agreement - generation, "allocation", 50.0);
    return json_pack("{s:i, s:b, s:i, s:f, s:{s:s}, s:{s:{s:i, s:i, s:i, s:f, s:o}}}", "block",
                     block, "accepted", 1, "handshakes", HANDSHAKES, "cost_us", 200.0, "evidence",
                     "group", made->group, "stay", "attribution", "samples", SAMPLES,
                     "frequency_hz", 500, "sampled_handshakes", HANDSHAKES, "sampled_us", 2e6,
                     "components", components);
}

static json_t *result_of(const struct made *const *made, size_t count)
{
    json_t *settings = json_array(), *arms = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *samples = json_array();
        for (int block = 0; block < BLOCKS; block++)
            json_array_append_new(samples, sample_of(made[i], block));
        json_array_append_new(
            settings,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:n, s:s, s:s}", "name",
                      made[i]->name, "trace", made[i]->timed_us > 0 ? "timed" : "none", "groups",
                      made[i]->group, "resumption", made[i]->resumption, "stack", made[i]->stack,
                      "certificate", "ecdsa-p256", "burn_in", made[i]->burn_in, "burn_us", 20,
                      "server", "share", "cheap", "workload", "network"));
        json_array_append_new(arms, json_pack("{s:s, s:s, s:b, s:i, s:o}", "name", made[i]->name,
                                              "role", i ? "arm" : "baseline", "accepted", 1,
                                              "instances", BLOCKS, "samples", samples));
    }
    return json_pack("{s:s, s:{s:s, s:o}, s:o}", "command", "run", "plan", "name", "p", "arms",
                     settings, "arms", arms);
}

static json_t *budget_of(const struct made *first, const struct made *second)
{
    json_t *result = result_of((const struct made *const[]){first, second}, 2);
    json_t *budget = tlc_budget_json(result);
    assert_non_null(budget);
    json_decref(result);
    return budget;
}

static const json_t *work_of(const json_t *budget, const char *component)
{
    size_t index;
    json_t *work;
    json_array_foreach(json_object_get(budget, "same_work"), index, work)
    {
        if (!strcmp(json_string_value(json_object_get(work, "component")), component))
            return work;
    }
    return NULL;
}

static double estimate_of(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(json_object_get(object, member), "estimate"));
}

static void the_same_key_agreement_agrees(void **state)
{
    (void)state;
    json_t *budget = budget_of(&curve, &hybrid);
    const json_t *work = work_of(budget, "key agreement");
    assert_non_null(work);
    assert_true(json_is_true(json_object_get(work, "agrees")));
    assert_string_equal(json_string_value(json_object_get(work, "arm")), "hybrid");
    assert_string_equal(json_string_value(json_object_get(work, "other")), "curve");
    assert_float_equal(estimate_of(work, "us"), 20, 1e-9);
    assert_float_equal(estimate_of(work, "difference_us"), 0, 1e-9);
    assert_true(json_is_true(json_object_get(work_of(budget, "key generation"), "agrees")));
    assert_non_null(work_of(budget, "signature")); // by the certificate, whatever the group
    json_decref(budget);
}

static void another_key_agreement_is_flagged(void **state)
{
    (void)state;
    struct made dear = hybrid;
    dear.agreement = 0.13;
    json_t *budget = budget_of(&curve, &dear);
    const json_t *work = work_of(budget, "key agreement");
    assert_true(json_is_false(json_object_get(work, "agrees")));
    assert_float_equal(estimate_of(work, "difference_us"), 6, 1e-9);
    assert_true(json_is_true(json_object_get(work_of(budget, "key generation"), "agrees")));
    json_decref(budget);
}

static void what_is_other_work_is_not_compared(void **state)
{
    (void)state;
    struct made p256 = hybrid, resumed = hybrid, other_stack = hybrid, burnt = hybrid;
    p256.group = "SecP256r1MLKEM768";
    resumed.resumption = "psk_dhe_ke";
    other_stack.stack = "wolfssl";
    burnt.burn_in = "key-generation";
    const struct made *const others[] = {&p256, &resumed, &other_stack};
    for (size_t i = 0; i < 3; i++) {
        json_t *budget = budget_of(&curve, others[i]);
        assert_null(work_of(budget, "key agreement"));
        json_decref(budget);
    }
    json_t *budget = budget_of(&curve, &burnt);
    assert_null(work_of(budget, "key generation"));
    assert_non_null(work_of(budget, "key agreement"));
    json_decref(budget);
    // The other half of two hybrids is the same as well.
    budget = budget_of(&hybrid, &p256);
    assert_non_null(work_of(budget, "encapsulate"));
    assert_null(work_of(budget, "peer's key"));
    json_decref(budget);
}

static void sums_are_told_for_machines(void **state)
{
    (void)state;
    json_t *budget = budget_of(&curve, &hybrid);
    const json_t *arm = json_array_get(json_object_get(budget, "arms"), 1);
    assert_string_equal(json_string_value(json_object_get(arm, "arm")), "hybrid");
    assert_float_equal(estimate_of(arm, "total_us"), 200, 1e-9);
    assert_float_equal(estimate_of(arm, "allocation_us"), 10, 1e-9);
    assert_float_equal(estimate_of(json_object_get(arm, "components"), "key agreement"), 20, 1e-9);
    assert_float_equal(json_number_value(json_object_get(arm, "gap")), 0, 1e-9);
    assert_true(json_is_true(json_object_get(arm, "closed")));
    assert_true(json_is_true(json_object_get(arm, "known")));
    json_decref(budget);
    json_t *result = json_pack("{s:[{}]}", "arms");
    assert_null(tlc_budget_json(result)); // nothing was attributed
    json_decref(result);
}

static void times_stand_beside_the_parts(void **state)
{
    (void)state;
    struct made near = curve, far = curve, other = hybrid;
    near.name = far.name = other.name = "timed";
    near.timed_us = other.timed_us = 20.2;
    far.timed_us = 24;
    json_t *budget = budget_of(&curve, &near);
    const json_t *list = json_object_get(budget, "timed");
    assert_int_equal(json_array_size(list), 1);
    const json_t *part = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(part, "component")), "key agreement");
    assert_string_equal(json_string_value(json_object_get(part, "arm")), "curve");
    assert_string_equal(json_string_value(json_object_get(part, "timed")), "timed");
    assert_float_equal(estimate_of(part, "us"), 20, 1e-9);
    assert_float_equal(estimate_of(part, "timed_us"), 20.2, 1e-9);
    assert_true(json_is_true(json_object_get(part, "agrees")));
    json_decref(budget);
    budget = budget_of(&curve, &far);
    part = json_array_get(json_object_get(budget, "timed"), 0);
    assert_true(json_is_false(json_object_get(part, "agrees")));
    json_decref(budget);
    budget = budget_of(&curve, &other); // of another group: times of other work
    assert_int_equal(json_array_size(json_object_get(budget, "timed")), 0);
    json_decref(budget);
}

static char *report_of(const struct made *first, const struct made *second, const char *format)
{
    json_t *result = result_of((const struct made *const[]){first, second}, 2);
    struct tlc_report_options options = {.width = 250};
    struct tlc_error error = {0};
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (tlc_report_write_with(result, format, &options, to, &error) != TLC_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fclose(to), 0);
    json_decref(result);
    return text;
}

static void reports_flag_it(void **state)
{
    (void)state;
    static const char *const formats[] = {"markdown", "terminal"};
    struct made dear = hybrid;
    dear.agreement = 0.13;
    for (size_t i = 0; i < 2; i++) {
        char *text = report_of(&curve, &hybrid, formats[i]);
        assert_non_null(strstr(text, "the same work in two arms"));
        assert_null(strstr(text, "DIFFERS |"));
        assert_null(strstr(text, "NOT THE SAME"));
        free(text);
        text = report_of(&curve, &dear, formats[i]);
        assert_non_null(strstr(text, "DIFFERS"));
        assert_non_null(strstr(text, "NOT THE SAME: key agreement is the same work in hybrid and "
                                     "in curve, and took 26.0 us and 20.0 us"));
        free(text);
    }
}

static void reports_show_times(void **state)
{
    (void)state;
    static const char *const formats[] = {"markdown", "terminal"};
    struct made timed = curve;
    timed.name = "timed";
    timed.timed_us = 24;
    for (size_t i = 0; i < 2; i++) {
        char *text = report_of(&curve, &timed, formats[i]);
        assert_non_null(strstr(text, "parts beside the tracing provider's times"));
        assert_non_null(strstr(text, "key agreement, timed"));
        assert_non_null(strstr(text, "DIFFERS"));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_key_agreement_agrees),
        cmocka_unit_test(another_key_agreement_is_flagged),
        cmocka_unit_test(what_is_other_work_is_not_compared),
        cmocka_unit_test(sums_are_told_for_machines),
        cmocka_unit_test(times_stand_beside_the_parts),
        cmocka_unit_test(reports_flag_it),
        cmocka_unit_test(reports_show_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
