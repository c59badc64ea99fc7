#include "campaign/ratio.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "result/rounds.h"

static const double CONFIDENCE = 0.95;

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_accepted(const json_t *sample)
{
    return json_is_true(json_object_get(sample, "accepted"));
}

static const json_t *sample_of_block(const json_t *samples, json_int_t block)
{
    size_t index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)samples, index,
                       sample) if (json_integer_value(json_object_get(sample, "block")) == block &&
                                   is_accepted(sample)) return sample;
    return NULL;
}

static double slice_value(const json_t *slice, enum tlc_quantity quantity)
{
    double handshakes = number_of(slice, "handshakes");
    return quantity == TLC_COST ? number_of(slice, "cost_us") / handshakes
                                : handshakes / number_of(slice, "span_s");
}

struct pairs {
    double *log_ratio;
    unsigned *instance;
    size_t count, capacity;
    unsigned instances;
};

static bool add_pair(struct pairs *pairs, double log_ratio, unsigned instance)
{
    if (pairs->count == pairs->capacity) {
        size_t capacity = pairs->capacity ? 2 * pairs->capacity : 256;
        double *ratios = realloc(pairs->log_ratio, capacity * sizeof *ratios);
        if (ratios)
            pairs->log_ratio = ratios;
        unsigned *instances = realloc(pairs->instance, capacity * sizeof *instances);
        if (instances)
            pairs->instance = instances;
        if (!ratios || !instances)
            return false;
        pairs->capacity = capacity;
    }
    pairs->log_ratio[pairs->count] = log_ratio;
    pairs->instance[pairs->count++] = instance;
    return true;
}

// Pairs the slices of two samples of the same block: those of a round, or in duets of a visit.
static bool pair_rounds(const json_t *mine, const json_t *base, enum tlc_quantity quantity,
                        struct pairs *pairs)
{
    size_t before = pairs->count, i, k;
    json_t *slice, *other;
    json_array_foreach(json_object_get(mine, "slices"), i, slice)
    {
        json_array_foreach(json_object_get(base, "slices"), k, other)
        {
            if (!tlc_slices_pair(slice, other))
                continue;
            double ratio = log(slice_value(slice, quantity) / slice_value(other, quantity));
            if (isfinite(ratio) && !add_pair(pairs, ratio, pairs->instances))
                return false;
        }
    }
    if (pairs->count > before)
        pairs->instances++;
    return true;
}

struct tlc_ratio tlc_ratio_of(const json_t *samples, const json_t *divisors,
                              enum tlc_quantity quantity)
{
    struct pairs pairs = {0};
    struct tlc_ratio ratio = {{NAN, NAN, NAN, 0}, {NAN, NAN, NAN, 0}};
    bool whole = true;
    size_t index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)samples, index, sample)
    {
        const json_t *base =
            sample_of_block(divisors, json_integer_value(json_object_get(sample, "block")));
        if (whole && base && is_accepted(sample))
            whole = pair_rounds(sample, base, quantity, &pairs);
    }
    if (whole && pairs.count) {
        ratio.at_95 = tlc_ratio_over_instances(pairs.log_ratio, pairs.instance, pairs.count,
                                               pairs.instances, CONFIDENCE);
        ratio.at_90 = tlc_ratio_over_instances(pairs.log_ratio, pairs.instance, pairs.count,
                                               pairs.instances, 0.9);
    }
    free(pairs.log_ratio);
    free(pairs.instance);
    return ratio;
}
