#include "campaign/settling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "result/rounds.h"

enum { FEWEST_SLICES = 4 };
static const double CONFIDENCE = 0.95;

// Cost and handshakes of the slices of a block.
struct whole {
    double cost, handshakes;
};

static double per_handshake(const struct whole *whole)
{
    return whole->cost / whole->handshakes;
}

// Adds a slice; returns its own cost per handshake, NaN where it has none and is not added.
static double add(struct whole *whole, const json_t *slice)
{
    double cost = tlc_json_number(slice, "cost_us"),
           handshakes = tlc_json_number(slice, "handshakes");
    if (!(cost > 0) || !(handshakes > 0))
        return NAN;
    whole->cost += cost;
    whole->handshakes += handshakes;
    return cost / handshakes;
}

// Log ratio of the median slice of the second half to the whole, of one block; `values` has room
// for all slices. NaN for too few. `base` NULL: no partners.
static double late_over_whole(const json_t *sample, const json_t *base, double *values)
{
    const json_t *slices = json_object_get(sample, "slices");
    struct whole mine = {0, 0}, theirs = {0, 0};
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(slices); i++) {
        const json_t *slice = json_array_get(slices, i);
        struct whole before = theirs;
        double divisor = base ? add(&theirs, tlc_slice_partner(slice, base)) : 1;
        double cost = isfinite(divisor) ? add(&mine, slice) : NAN;
        if (isfinite(cost))
            values[count++] = log(cost / divisor);
        else
            theirs = before;
    }
    if (count < FEWEST_SLICES)
        return NAN;
    double whole = per_handshake(&mine) / (base ? per_handshake(&theirs) : 1);
    return tlc_median(values + count - count / 2, count / 2) - log(whole);
}

static size_t most_slices(const json_t *samples)
{
    size_t most = 0;
    for (size_t i = 0; i < json_array_size(samples); i++) {
        size_t count = json_array_size(json_object_get(json_array_get(samples, i), "slices"));
        most = count > most ? count : most;
    }
    return most;
}

struct tlc_interval tlc_settling(const json_t *samples, const json_t *baseline)
{
    struct tlc_interval interval = {NAN, NAN, NAN, 0};
    double *effects = calloc(json_array_size(samples) + 1, sizeof *effects);
    double *values = calloc(most_slices(samples) + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; effects && values && i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        json_int_t block = json_integer_value(json_object_get(sample, "block"));
        const json_t *base = baseline ? tlc_sample_of_block(baseline, block) : NULL;
        if (!json_is_true(json_object_get(sample, "accepted")) || (baseline && !base))
            continue;
        double effect = late_over_whole(sample, base, values);
        if (isfinite(effect))
            effects[count++] = effect;
    }
    if (count)
        interval = tlc_signed_rank_interval(effects, count, CONFIDENCE);
    interval.estimate = exp(interval.estimate);
    interval.low = exp(interval.low);
    interval.high = exp(interval.high);
    free(effects);
    free(values);
    return interval;
}

bool tlc_settling_exceeds(struct tlc_interval settling, double limit)
{
    bool apart = settling.low > 1 || settling.high < 1;
    return apart && isfinite(settling.low) && isfinite(settling.high) &&
           fabs(settling.estimate - 1) > limit;
}

const char *tlc_settling_words(struct tlc_interval settling, char words[TLC_SETTLING_WORDS])
{
    snprintf(words, TLC_SETTLING_WORDS,
             "it cost %.0f %% %s late in a block than in the whole (95 %%: %.3f to %.3f of it)",
             100 * fabs(1 - settling.estimate), settling.estimate < 1 ? "less" : "more",
             settling.low, settling.high);
    return words;
}
