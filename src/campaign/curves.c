#include "campaign/curves.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "plan/plan.h"
#include "stats/stats.h"

enum { MOST_BUCKETS = 600, MOST_INSTANCES = 200 };

// A share is back where it was when no more than this is missing.
static const double BACK = 0.01;

struct sums {
    double handshakes[MOST_BUCKETS], resumed[MOST_BUCKETS], cost_us[MOST_BUCKETS];
    size_t count;
    bool has_event;
    size_t event;
    double extra_us[MOST_INSTANCES], extra_full; // of each instance; over all slices
    size_t instances, slices;
};

static double at(const json_t *buckets, const char *what, size_t index)
{
    return json_number_value(json_array_get(json_object_get(buckets, what), index));
}

// What one slice costs behind its event beyond the price before it.
static double extra_of(const json_t *buckets, size_t event, size_t count, double *extra_full)
{
    double before[3] = {0}, behind[3] = {0}; // handshakes, full ones, CPU time
    for (size_t i = 0; i < count; i++) {
        double *sum = i < event ? before : behind;
        sum[0] += at(buckets, "handshakes", i);
        sum[1] += at(buckets, "handshakes", i) - at(buckets, "resumed", i);
        sum[2] += at(buckets, "cost_us", i);
    }
    if (before[0] <= 0)
        return NAN;
    *extra_full += behind[1] - behind[0] * before[1] / before[0];
    return behind[2] - behind[0] * before[2] / before[0];
}

static void add_slice(struct sums *sums, const json_t *buckets, double *extra_us)
{
    const json_t *event = json_object_get(buckets, "event_bucket");
    size_t count = json_array_size(json_object_get(buckets, "handshakes"));
    if (count > MOST_BUCKETS)
        count = MOST_BUCKETS;
    for (size_t i = 0; i < count; i++) {
        sums->handshakes[i] += at(buckets, "handshakes", i);
        sums->resumed[i] += at(buckets, "resumed", i);
        sums->cost_us[i] += at(buckets, "cost_us", i);
    }
    sums->count = count > sums->count ? count : sums->count;
    sums->slices++;
    if (!json_is_integer(event))
        return;
    sums->has_event = true;
    sums->event = (size_t)json_integer_value(event);
    *extra_us += extra_of(buckets, sums->event, count, &sums->extra_full);
}

static void add_sample(struct sums *sums, const json_t *sample)
{
    const json_t *slices = json_object_get(sample, "slices");
    double extra_us = 0;
    size_t cut = 0;
    for (size_t i = 0; i < json_array_size(slices); i++) {
        const json_t *buckets = json_object_get(json_array_get(slices, i), "buckets");
        if (!buckets)
            continue;
        add_slice(sums, buckets, &extra_us);
        cut++;
    }
    if (cut && sums->instances < MOST_INSTANCES)
        sums->extra_us[sums->instances++] = extra_us / (double)cut;
}

static double share_of(const struct sums *sums, size_t from, size_t to)
{
    double resumed = 0, handshakes = 0;
    for (size_t i = from; i < to && i < sums->count; i++) {
        resumed += sums->resumed[i];
        handshakes += sums->handshakes[i];
    }
    return handshakes > 0 ? resumed / handshakes : NAN;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval_json(struct tlc_interval interval)
{
    return json_pack("{s:o, s:o, s:o}", "estimate", number(interval.estimate), "low",
                     number(interval.low), "high", number(interval.high));
}

// The worst share behind the event, and when it was back.
static void add_fall(const struct sums *sums, json_t *curve)
{
    double before = share_of(sums, 0, sums->event), least = INFINITY;
    double recovered_ms = 0;
    for (size_t i = sums->event; i < sums->count; i++) {
        double share = share_of(sums, i, i + 1);
        if (share < least)
            least = share;
        if (share < before - BACK)
            recovered_ms = (double)(i + 1 - sums->event) * TLC_BUCKET_US / 1000;
    }
    bool back = recovered_ms < (double)(sums->count - sums->event) * TLC_BUCKET_US / 1000;
    double scale = 1e-6;
    struct tlc_interval extra = tlc_signed_rank_interval(sums->extra_us, sums->instances, 0.95);
    extra.estimate *= scale;
    extra.low *= scale;
    extra.high *= scale;
    json_object_set_new(curve, "resumed_least", number(least));
    json_object_set_new(curve, "recovered_ms", back ? json_real(recovered_ms) : json_null());
    json_object_set_new(curve, "extra_full", number(sums->extra_full / (double)sums->slices));
    json_object_set_new(curve, "extra_cpu_s", interval_json(extra));
}

static json_t *curve_json(const struct sums *sums)
{
    json_t *handshakes = json_array(), *resumed = json_array(), *cost = json_array();
    for (size_t i = 0; i < sums->count; i++) {
        json_array_append_new(handshakes, json_real(sums->handshakes[i]));
        json_array_append_new(resumed, number(share_of(sums, i, i + 1)));
        json_array_append_new(cost, number(sums->cost_us[i] / sums->handshakes[i]));
    }
    json_t *curve = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:n, s:n, s:n, s:n}", "bucket_ms", TLC_BUCKET_US / 1000,
        "event_bucket", sums->has_event ? json_integer((json_int_t)sums->event) : json_null(),
        "handshakes", handshakes, "resumed", resumed, "cost_us", cost, "resumed_before",
        number(share_of(sums, 0, sums->has_event ? sums->event : sums->count)), "resumed_least",
        "recovered_ms", "extra_full", "extra_cpu_s");
    if (sums->has_event)
        add_fall(sums, curve);
    return curve;
}

void tlc_curves_add(json_t *arms)
{
    for (size_t i = 0; i < json_array_size(arms); i++) {
        json_t *arm = json_array_get(arms, i);
        const json_t *samples = json_object_get(arm, "samples");
        struct sums sums = {.count = 0};
        for (size_t k = 0; k < json_array_size(samples); k++) {
            const json_t *sample = json_array_get(samples, k);
            if (json_is_true(json_object_get(sample, "accepted")))
                add_sample(&sums, sample);
        }
        if (sums.slices)
            json_object_set_new(arm, "curve", curve_json(&sums));
    }
}
