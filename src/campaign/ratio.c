#include "campaign/ratio.h"

#include <math.h>

#include "base/json.h"
#include "result/rounds.h"

static const double CONFIDENCE = 0.95;

static double slice_value(const json_t *slice, enum tlc_quantity quantity)
{
    double handshakes = tlc_json_number(slice, "handshakes");
    return quantity == TLC_COST ? tlc_json_number(slice, "cost_us") / handshakes
                                : handshakes / tlc_json_number(slice, "span_s");
}

// Pairs the slices of two samples of the same block: those of a round, or in duets of a visit.
static bool pair_rounds(const json_t *mine, const json_t *base, enum tlc_quantity quantity,
                        struct tlc_rounds *pairs)
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
            if (isfinite(ratio) && !tlc_rounds_add(pairs, ratio))
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
    struct tlc_rounds pairs = {0};
    struct tlc_ratio ratio = {{NAN, NAN, NAN, 0}, {NAN, NAN, NAN, 0}};
    bool whole = true;
    for (size_t i = 0; whole && i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        const json_t *base =
            tlc_sample_of_block(divisors, json_integer_value(json_object_get(sample, "block")));
        if (base && json_is_true(json_object_get(sample, "accepted")))
            whole = pair_rounds(sample, base, quantity, &pairs);
    }
    if (whole && pairs.count) {
        ratio.at_95 = tlc_ratio_over_instances(pairs.log_value, pairs.instance, pairs.count,
                                               pairs.instances, CONFIDENCE);
        ratio.at_90 = tlc_ratio_over_instances(pairs.log_value, pairs.instance, pairs.count,
                                               pairs.instances, 0.9);
    }
    tlc_rounds_free(&pairs);
    return ratio;
}
