#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "campaign/campaign.h"

// Six blocks, four rounds: cost of the arm is `ratio` times the baseline's, under a common drift.
enum { BLOCKS = 6, ROUNDS = 4 };

static const char plan_text[] =
    "name: test\nquestion: Does the summary hold?\nworkload: network\n"
    "baseline: {certificate: ecdsa-p256, groups: X25519}\ncontrol: true\n"
    "levers:\n  - {name: certificate, key: certificate, values: [ed25519]}\n"
    "schedule: {blocks: 6, rounds: 4, slice: 50ms}\n"
    "checks: {control_drift: 50%, margin: 2%, refused_samples: 20%, headroom_gain: 5%}\n";

static size_t arm_named(const struct tlc_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->arm_count; i++)
        if (!strcmp(plan->arms[i].name, name))
            return i;
    fail_msg("no arm '%s'", name);
    return 0;
}

static json_t *sample_of(const struct tlc_plan *plan, size_t arm, unsigned block, double ratio,
                         const char *refused)
{
    json_t *slices = json_array();
    double sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double drift = 1 + 0.3 * sin(block * 1.7 + round * 0.9), cost = 200 * ratio * drift;
        sum += cost;
        json_array_append_new(slices, json_pack("{s:i, s:i, s:i, s:f, s:f}", "round", (int)round,
                                                "handshakes", 100, "position", (int)arm, "cost_us",
                                                100 * cost, "span_s", 100 * cost / 1e6));
    }
    json_t *sample =
        json_pack("{s:s, s:i, s:i, s:b, s:[], s:f, s:f, s:o}", "arm", plan->arms[arm].name,
                  "arm_index", (int)arm, "block", (int)block, "accepted", refused == NULL,
                  "refused", "cost_us", sum / ROUNDS, "rate", 1e6 * ROUNDS / sum, "slices", slices);
    if (refused)
        json_array_append_new(json_object_get(sample, "refused"), json_string(refused));
    return sample;
}

struct fixture {
    struct tlc_plan *plan;
    json_t *samples, *result;
    struct tlc_error error;
};

static void make(struct fixture *fixture, double arm_ratio, double control_ratio)
{
    *fixture = (struct fixture){.samples = json_array(), .result = json_object()};
    if (tlc_plan_parse(plan_text, strlen(plan_text), "test.yaml", &fixture->plan,
                       &fixture->error) != TLC_OK)
        fail_msg("%s", fixture->error.text);
    for (unsigned block = 0; block < BLOCKS; block++)
        for (size_t arm = 0; arm < fixture->plan->arm_count; arm++) {
            double ratio = (int)arm == fixture->plan->control ? control_ratio : arm ? arm_ratio : 1;
            // Instances differ a little, the baseline's do not.
            if (arm)
                ratio *= 1 + 0.001 * (block % 3 - 1.0);
            json_array_append_new(fixture->samples,
                                  sample_of(fixture->plan, arm, block, ratio, NULL));
        }
}

static void drop(struct fixture *fixture)
{
    tlc_plan_free(fixture->plan);
    json_decref(fixture->samples);
    json_decref(fixture->result);
}

static json_t *arm_of(struct fixture *fixture, const char *name)
{
    return json_array_get(json_object_get(fixture->result, "arms"), arm_named(fixture->plan, name));
}

static double member(const json_t *object, const char *outer, const char *inner)
{
    return json_number_value(json_object_get(json_object_get(object, outer), inner));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void drift_cancels_in_the_ratio(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_OK);
    const json_t *arm = arm_of(&fixture, "ed25519");
    assert_true(fabs(member(arm, "ratio", "estimate") - 1.1) < 0.002);
    assert_true(member(arm, "ratio", "low") > 1.097 && member(arm, "ratio", "high") < 1.103);
    assert_string_equal(text(arm, "verdict"), "slower");
    assert_true(fabs(member(arm, "rate_ratio", "estimate") - 1 / 1.1) < 0.002);
    assert_string_equal(text(arm_of(&fixture, "control"), "verdict"), "equivalent");
    const json_t *baseline = json_array_get(json_object_get(fixture.result, "arms"), 0);
    assert_string_equal(text(baseline, "verdict"), "baseline");
    assert_true(json_is_null(json_object_get(baseline, "ratio")));
    assert_int_equal(json_integer_value(json_object_get(baseline, "instances")), BLOCKS);
    drop(&fixture);
}

static void refused_samples_count_against_their_arm(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    size_t arm = arm_named(fixture.plan, "ed25519");
    for (unsigned block = 0; block < 2; block++)
        json_array_set_new(fixture.samples, block * fixture.plan->arm_count + arm,
                           sample_of(fixture.plan, arm, block, 1.1, "errors"));
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    assert_non_null(strstr(fixture.error.text, "ed25519"));
    const json_t *json = arm_of(&fixture, "ed25519");
    assert_true(json_is_false(json_object_get(json, "accepted")));
    assert_true(json_is_null(json_object_get(json, "ratio")));
    assert_true(json_is_null(json_object_get(json, "cost_us")));
    const json_t *refusal = json_array_get(json_object_get(json, "refused"), 0);
    assert_string_equal(text(refusal, "check"), "errors");
    assert_int_equal(json_integer_value(json_object_get(refusal, "count")), 2);
    assert_int_equal(json_integer_value(json_object_get(fixture.result, "refused_samples")), 2);
    drop(&fixture);
}

static void one_refused_sample_of_six_is_left_out(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    size_t arm = arm_named(fixture.plan, "ed25519");
    json_array_set_new(fixture.samples, arm, sample_of(fixture.plan, arm, 0, 9.9, "steal"));
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_OK);
    const json_t *json = arm_of(&fixture, "ed25519");
    assert_true(fabs(member(json, "ratio", "estimate") - 1.1) < 0.002);
    assert_int_equal(json_integer_value(json_object_get(json, "instances")), BLOCKS - 1);
    // Five instances cannot give a 95 % interval.
    assert_true(json_is_null(json_object_get(json_object_get(json, "ratio"), "low")));
    assert_string_equal(text(json, "verdict"), "no-claim");
    drop(&fixture);
}

static void nothing_is_divided_by_a_refused_baseline(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    for (unsigned block = 0; block < 2; block++)
        json_array_set_new(fixture.samples, block * fixture.plan->arm_count,
                           sample_of(fixture.plan, 0, block, 1, "errors"));
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    const json_t *json = arm_of(&fixture, "ed25519");
    assert_true(json_is_true(json_object_get(json, "accepted")));
    assert_true(json_is_null(json_object_get(json, "ratio")));
    assert_string_equal(text(json, "verdict"), "no-claim");
    drop(&fixture);
}

static void a_control_that_differs_refuses_the_campaign(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.08);
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    assert_non_null(strstr(fixture.error.text, "negative-control"));
    assert_true(
        json_is_false(json_object_get(json_object_get(fixture.result, "campaign"), "accepted")));
    drop(&fixture);
}

// Two builds with equal flags, for example: the plan says that they must not differ.
static void an_arm_that_must_be_equal_is_a_control(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1);
    fixture.plan->arms[arm_named(fixture.plan, "ed25519")].equal = 1;
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    assert_non_null(strstr(fixture.error.text, "negative-control"));
    assert_string_equal(text(arm_of(&fixture, "ed25519"), "role"), "control");
    drop(&fixture);
}

static void a_drifting_control_refuses_the_campaign(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    fixture.plan->limits.control_drift = 0.01;
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    assert_non_null(strstr(fixture.error.text, "control-drift"));
    drop(&fixture);
}

static void a_rate_that_rises_with_concurrency_refuses_the_arm(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    size_t arm = arm_named(fixture.plan, "ed25519"), index;
    json_t *sample;
    json_array_foreach(fixture.samples, index, sample)
    {
        bool rises = (size_t)json_integer_value(json_object_get(sample, "arm_index")) == arm;
        double rate = json_number_value(json_object_get(sample, "rate"));
        json_object_set_new(sample, "rate_doubled", json_real(rate * (rises ? 1.3 : 1.001)));
    }
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_REFUSED);
    const json_t *json = arm_of(&fixture, "ed25519");
    assert_string_equal(text(json_array_get(json_object_get(json, "refused"), 0), "check"),
                        "generator-limited");
    assert_true(json_is_true(json_object_get(arm_of(&fixture, "control"), "accepted")));
    drop(&fixture);
}

static void a_claim_must_hold_over_all_arms(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_OK);
    const json_t *arm = arm_of(&fixture, "ed25519"), *control = arm_of(&fixture, "control");
    // One arm besides the control: six instances that all lie above 1, 2 / 2^6.
    assert_true(fabs(json_number_value(json_object_get(arm, "p")) - 0.03125) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(arm, "holm_p")) - 0.03125) < 1e-9);
    assert_true(json_is_true(json_object_get(arm, "claim_holm")));
    assert_true(json_is_null(json_object_get(control, "holm_p")));
    assert_true(json_is_null(json_object_get(control, "claim_holm")));
    const json_t *baseline = json_array_get(json_object_get(fixture.result, "arms"), 0);
    assert_true(json_is_null(json_object_get(baseline, "p")));
    assert_true(json_is_null(json_object_get(baseline, "detectable")));
    // What could be seen is about what the interval is wide.
    double half = log(member(arm, "ratio", "high") / member(arm, "ratio", "low")) / 2;
    double detectable = json_number_value(json_object_get(arm, "detectable"));
    assert_true(detectable > half && detectable < 2 * half);
    drop(&fixture);
}

static void outliers_are_flagged_and_kept(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    size_t arm = arm_named(fixture.plan, "ed25519");
    json_array_set_new(fixture.samples, 3 * fixture.plan->arm_count + arm,
                       sample_of(fixture.plan, arm, 3, 1.4, NULL));
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_OK);
    const json_t *json = arm_of(&fixture, "ed25519");
    const json_t *outliers = json_object_get(json, "outliers");
    assert_int_equal(json_array_size(outliers), 1);
    const json_t *outlier = json_array_get(outliers, 0);
    assert_int_equal(json_integer_value(json_object_get(outlier, "block")), 3);
    assert_true(fabs(json_number_value(json_object_get(outlier, "value")) - 1.4) < 0.01);
    assert_true(json_number_value(json_object_get(outlier, "score")) > 3.5);
    assert_string_equal(text(outlier, "of"), "ratio");
    assert_int_equal(json_integer_value(json_object_get(json, "instances")), BLOCKS);
    assert_int_equal(json_array_size(json_object_get(arm_of(&fixture, "control"), "outliers")), 0);
    drop(&fixture);
}

// Places turn by one each round; `late` is what the last third of the places costs more.
static void place_slices(struct fixture *fixture, double late)
{
    size_t count = fixture->plan->arm_count, index;
    json_t *sample;
    json_array_foreach(fixture->samples, index, sample)
    {
        size_t arm = (size_t)json_integer_value(json_object_get(sample, "arm_index")), k;
        json_t *slice;
        json_array_foreach(json_object_get(sample, "slices"), k, slice)
        {
            size_t place = (arm + k + index / count) % count;
            double cost = json_number_value(json_object_get(slice, "cost_us"));
            json_object_set_new(slice, "position", json_integer((json_int_t)place));
            json_object_set_new(slice, "cost_us",
                                json_real(2 * place > count - 1 ? cost * late : cost));
        }
    }
}

static void the_place_in_a_round_shows_where_it_matters(void **state)
{
    (void)state;
    struct fixture fixture;
    static const double truths[] = {1, 1.05};
    for (int i = 0; i < 2; i++) {
        make(&fixture, 1.1, 1.0);
        fixture.plan->limits.margin = 0.5;
        place_slices(&fixture, truths[i]);
        assert_int_equal(
            tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
            TLC_OK);
        const json_t *campaign = json_object_get(fixture.result, "campaign");
        if (fabs(member(campaign, "order_effect", "estimate") - truths[i]) > 0.002)
            fail_msg("%g is not %g", member(campaign, "order_effect", "estimate"), truths[i]);
        bool excluded = member(campaign, "order_effect", "low") > 1;
        assert_int_equal(excluded, i == 1);
        drop(&fixture);
    }
}

// What an arm costs in the second half of its slices, over the first.
static void change_halves(struct fixture *fixture, const char *name, double late)
{
    size_t arm = arm_named(fixture->plan, name), index, k;
    json_t *sample, *slice;
    json_array_foreach(fixture->samples, index, sample)
    {
        if ((size_t)json_integer_value(json_object_get(sample, "arm_index")) != arm)
            continue;
        json_array_foreach(json_object_get(sample, "slices"), k, slice)
        {
            double cost = json_number_value(json_object_get(slice, "cost_us"));
            json_object_set_new(slice, "cost_us", json_real(k < ROUNDS / 2 ? cost : cost * late));
        }
        double whole = json_number_value(json_object_get(sample, "cost_us"));
        json_object_set_new(sample, "cost_us", json_real(whole * (1 + late) / 2));
    }
}

static const json_t *check_named(const struct fixture *fixture, const char *name)
{
    const json_t *checks = json_object_get(fixture->result, "checks");
    for (size_t i = 0; i < json_array_size(checks); i++)
        if (!strcmp(text(json_array_get(checks, i), "name"), name))
            return json_array_get(checks, i);
    fail_msg("no check '%s'", name);
    return NULL;
}

static void a_server_that_is_not_warm_has_no_figure(void **state)
{
    (void)state;
    static const double late[] = {0.8, 0.95, 1.25};
    for (int i = 0; i < 3; i++) {
        struct fixture fixture;
        bool refused = i != 1;
        make(&fixture, 1.1, 1.0);
        change_halves(&fixture, "ed25519", late[i]);
        assert_int_equal(
            tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
            refused ? TLC_REFUSED : TLC_OK);
        const json_t *arm = arm_of(&fixture, "ed25519"),
                     *check = check_named(&fixture, "warmed-up");
        double whole = (1 + late[i]) / 2; // but for the drift within the block
        assert_true(fabs(member(arm, "settling", "estimate") - late[i] / whole) < 0.02);
        assert_int_equal(json_is_true(json_object_get(arm, "accepted")), !refused);
        assert_int_equal(json_integer_value(json_object_get(check, "failed")), refused);
        if (refused) {
            const json_t *reasons =
                json_object_get(json_object_get(fixture.result, "campaign"), "reasons");
            assert_string_equal(text(json_array_get(json_object_get(arm, "refused"), 0), "check"),
                                "warmed-up");
            assert_non_null(strstr(json_string_value(json_array_get(reasons, 0)),
                                   i ? "it cost 11 % more late in a block"
                                     : "it cost 11 % less late in a block"));
        }
        // The others stand, and the drift that all share is no settling.
        assert_true(json_is_true(json_object_get(arm_of(&fixture, "control"), "accepted")));
        assert_true(fabs(member(arm_of(&fixture, "control"), "settling", "estimate") - 1) < 0.001);
        drop(&fixture);
    }
}

static void settling_can_be_left_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    make(&fixture, 1.1, 1.0);
    fixture.plan->limits.settling = 0;
    change_halves(&fixture, "ed25519", 0.5);
    assert_int_equal(
        tlc_campaign_summarise(fixture.result, fixture.plan, fixture.samples, &fixture.error),
        TLC_OK);
    assert_int_equal(
        json_integer_value(json_object_get(check_named(&fixture, "warmed-up"), "applied")), 0);
    drop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_cancels_in_the_ratio),
        cmocka_unit_test(refused_samples_count_against_their_arm),
        cmocka_unit_test(one_refused_sample_of_six_is_left_out),
        cmocka_unit_test(nothing_is_divided_by_a_refused_baseline),
        cmocka_unit_test(a_control_that_differs_refuses_the_campaign),
        cmocka_unit_test(an_arm_that_must_be_equal_is_a_control),
        cmocka_unit_test(a_drifting_control_refuses_the_campaign),
        cmocka_unit_test(a_claim_must_hold_over_all_arms),
        cmocka_unit_test(outliers_are_flagged_and_kept),
        cmocka_unit_test(the_place_in_a_round_shows_where_it_matters),
        cmocka_unit_test(a_rate_that_rises_with_concurrency_refuses_the_arm),
        cmocka_unit_test(a_server_that_is_not_warm_has_no_figure),
        cmocka_unit_test(settling_can_be_left_alone),
    };
    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
