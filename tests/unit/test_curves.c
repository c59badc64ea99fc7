// Arms over time: what buckets of slices say about an event.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "campaign/curves.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

// A sample of one slice of four buckets; a full handshake costs 300, a resumed one 100.
static json_t *sample(int event, int full_behind, bool accepted)
{
    json_t *handshakes = json_array(), *resumed = json_array(), *cost = json_array();
    for (int i = 0; i < 4; i++) {
        int full = event >= 0 && i == event ? full_behind : 0;
        json_array_append_new(handshakes, json_integer(100));
        json_array_append_new(resumed, json_integer(100 - full));
        json_array_append_new(cost, json_real(100.0 * (100 - full) + 300.0 * full));
    }
    return json_pack("{s:b, s:[{s:{s:o, s:o, s:o, s:o}}]}", "accepted", accepted, "slices",
                     "buckets", "event_bucket", event >= 0 ? json_integer(event) : json_null(),
                     "handshakes", handshakes, "resumed", resumed, "cost_us", cost);
}

static json_t *arms_of(int event, int full_behind, size_t instances)
{
    json_t *samples = json_array();
    for (size_t i = 0; i < instances; i++)
        json_array_append_new(samples, sample(event, full_behind, true));
    return json_pack("[{s:o}]", "samples", samples);
}

static double figure(const json_t *curve, const char *name)
{
    const json_t *value = json_object_get(curve, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static const json_t *curve_of(const json_t *arms)
{
    return json_object_get(json_array_get(arms, 0), "curve");
}

static void a_storm_is_counted_and_priced(void **state)
{
    (void)state;
    json_t *arms = arms_of(2, 80, 6);
    tlc_curves_add(arms);
    const json_t *curve = curve_of(arms);
    assert_true(near(figure(curve, "resumed_before"), 1));
    assert_true(near(figure(curve, "resumed_least"), 0.2));
    assert_true(near(figure(curve, "recovered_ms"), 100));
    assert_true(near(figure(curve, "extra_full"), 80));
    const json_t *extra = json_object_get(curve, "extra_cpu_s");
    assert_true(near(figure(extra, "estimate"), 80 * 200e-6));
    assert_true(near(figure(extra, "low"), 80 * 200e-6));
    assert_int_equal(json_array_size(json_object_get(curve, "resumed")), 4);
    json_decref(arms);
}

static void a_share_that_stays_away_is_not_back(void **state)
{
    (void)state;
    json_t *arms = arms_of(3, 50, 6);
    tlc_curves_add(arms);
    assert_true(json_is_null(json_object_get(curve_of(arms), "recovered_ms")));
    json_decref(arms);
}

static void nothing_lost_is_never_gone(void **state)
{
    (void)state;
    json_t *arms = arms_of(2, 0, 6);
    tlc_curves_add(arms);
    assert_true(near(figure(curve_of(arms), "recovered_ms"), 0));
    assert_true(near(figure(curve_of(arms), "extra_full"), 0));
    json_decref(arms);
}

static void without_an_event_there_is_only_the_curve(void **state)
{
    (void)state;
    json_t *arms = arms_of(-1, 0, 6);
    tlc_curves_add(arms);
    const json_t *curve = curve_of(arms);
    assert_true(json_is_null(json_object_get(curve, "event_bucket")));
    assert_true(json_is_null(json_object_get(curve, "extra_cpu_s")));
    assert_true(near(figure(curve, "resumed_before"), 1));
    json_decref(arms);
}

static void few_instances_have_no_interval_and_refused_samples_no_part(void **state)
{
    (void)state;
    json_t *arms = arms_of(2, 80, 2);
    json_array_append_new(json_object_get(json_array_get(arms, 0), "samples"),
                          sample(2, 10, false));
    tlc_curves_add(arms);
    const json_t *extra = json_object_get(curve_of(arms), "extra_cpu_s");
    assert_true(near(figure(extra, "estimate"), 80 * 200e-6));
    assert_true(json_is_null(json_object_get(extra, "low")));
    assert_true(near(figure(curve_of(arms), "extra_full"), 80));
    json_decref(arms);
}

static void arms_without_buckets_have_no_curve(void **state)
{
    (void)state;
    json_t *arms = json_pack("[{s:[{s:b, s:[{}]}]}]", "samples", "accepted", 1, "slices");
    tlc_curves_add(arms);
    assert_null(curve_of(arms));
    json_decref(arms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_is_counted_and_priced),
        cmocka_unit_test(a_share_that_stays_away_is_not_back),
        cmocka_unit_test(nothing_lost_is_never_gone),
        cmocka_unit_test(without_an_event_there_is_only_the_curve),
        cmocka_unit_test(few_instances_have_no_interval_and_refused_samples_no_part),
        cmocka_unit_test(arms_without_buckets_have_no_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
