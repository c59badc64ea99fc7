#include "campaign/unverified.h"

#include <math.h>

#include "stats/stats.h"

enum { MOST_SAMPLES = 1024 };

// Over the accepted samples of an arm.
struct sums {
    double started, missed, handshakes, bytes_in, bytes_out, given_up, window_s;
    double client_us[MOST_SAMPLES], cpu_ratio[MOST_SAMPLES], capacity[MOST_SAMPLES];
    size_t samples, capacities;
    json_t *answers;
    const json_t *half_open;
};

static double number_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) ? json_number_value(value) : 0;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval(const double *values, size_t count)
{
    struct tlc_interval found = tlc_signed_rank_interval(values, count, 0.95);
    if (!found.n)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "estimate", number(found.estimate), "low",
                     number(found.low), "high", number(found.high));
}

static void add_answers(json_t *sum, const json_t *answers)
{
    const char *answer;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)answers, answer, count)
    {
        json_int_t all = json_integer_value(json_object_get(sum, answer));
        json_object_set_new(sum, answer, json_integer(all + json_integer_value(count)));
    }
}

static void add_windows(struct sums *sums, const json_t *slices)
{
    for (size_t i = 0; i < json_array_size(slices); i++)
        sums->window_s += number_of(json_array_get(slices, i), "window_s");
}

static void add_sample(struct sums *sums, const json_t *sample)
{
    const json_t *counters = json_object_get(sample, "counters");
    const json_t *stay = json_object_get(sample, "stay");
    const json_t *errors = json_object_get(counters, "errors");
    double client_us = number_of(sample, "client_us");
    sums->started += number_of(counters, "started");
    sums->missed += number_of(counters, "missed");
    sums->handshakes += number_of(sample, "handshakes");
    sums->bytes_in += number_of(counters, "bytes_sent");
    sums->bytes_out += number_of(counters, "bytes_received");
    sums->given_up += number_of(errors, "timeout") + number_of(errors, "connect-timeout");
    add_windows(sums, json_object_get(sample, "slices"));
    add_answers(sums->answers, json_object_get(json_object_get(counters, "negotiated"), "answer"));
    if (json_is_object(json_object_get(stay, "half_open")))
        sums->half_open = json_object_get(stay, "half_open");
    if (number_of(stay, "capacity") > 0 && sums->capacities < MOST_SAMPLES)
        sums->capacity[sums->capacities++] = number_of(stay, "capacity");
    if (client_us <= 0 || sums->samples == MOST_SAMPLES)
        return;
    sums->client_us[sums->samples] = client_us;
    sums->cpu_ratio[sums->samples++] = number_of(sample, "cost_us") / client_us;
}

static json_t *unfinished_json(const struct tlc_arm *arm, const struct sums *sums)
{
    // What the client left unread when it went is in the bytes of those that were held.
    double bytes_in = sums->bytes_in / sums->handshakes;
    double bytes_out = sums->bytes_out / sums->handshakes;
    return json_pack("{s:s, s:O, s:o, s:o, s:o, s:o, s:o, s:O?}", "stop", arm->stop, "answers",
                     sums->answers, "bytes_in", number(bytes_in), "bytes_out", number(bytes_out),
                     "bytes_ratio", number(bytes_out / bytes_in), "client_us",
                     interval(sums->client_us, sums->samples), "cpu_ratio",
                     interval(sums->cpu_ratio, sums->samples), "half_open", sums->half_open);
}

static json_t *overload_json(const struct tlc_arm *arm, const struct sums *sums)
{
    double due = sums->started + sums->missed;
    return json_pack("{s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "offered", arm->offered, "capacity",
                     interval(sums->capacity, sums->capacities), "offered_rate",
                     number(due / sums->window_s), "verified_rate",
                     number(sums->handshakes / sums->window_s), "verified",
                     number(sums->handshakes / due), "given_up", number(sums->given_up / due),
                     "missed", number(sums->missed / due));
}

static void add_to(const struct tlc_arm *arm, json_t *json)
{
    const json_t *samples = json_object_get(json, "samples");
    struct sums sums = {.answers = json_object()};
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        if (json_is_true(json_object_get(sample, "accepted")))
            add_sample(&sums, sample);
    }
    if (sums.handshakes > 0 && tlc_arm_is_unfinished(arm))
        json_object_set_new(json, "unfinished", unfinished_json(arm, &sums));
    if (sums.handshakes > 0 && arm->offered > 0)
        json_object_set_new(json, "overload", overload_json(arm, &sums));
    json_decref(sums.answers);
}

void tlc_unverified_add(const struct tlc_plan *plan, json_t *arms)
{
    for (size_t i = 0; i < json_array_size(arms) && i < plan->arm_count; i++)
        if (tlc_arm_is_unfinished(&plan->arms[i]) || plan->arms[i].offered > 0)
            add_to(&plan->arms[i], json_array_get(arms, i));
}
