#include "campaign/calibrate_figures.h"

#include <math.h>
#include <stdlib.h>

#include "result/rounds.h"

static const json_t *accepted_sample(const json_t *arms, size_t arm, unsigned block)
{
    return tlc_sample_of_block(json_object_get(json_array_get(arms, arm), "samples"), block);
}

static double number_of(const json_t *slice, const char *key)
{
    return json_number_value(json_object_get(slice, key));
}

static double cost_of(const json_t *slice)
{
    double cost = number_of(slice, "cost_us") / number_of(slice, "handshakes");
    return cost > 0 && isfinite(cost) ? cost : NAN;
}

// The slice's cost less the mean of those it is paired with: with bookends and no duets, one
// before it and one after.
static double difference(const json_t *slice, const json_t *baseline)
{
    double sum = 0, count = 0;
    size_t index;
    json_t *other;
    json_array_foreach(json_object_get(baseline, "slices"), index, other)
    {
        if (!tlc_slices_pair(slice, other))
            continue;
        sum += cost_of(other);
        count++;
    }
    return cost_of(slice) - sum / count;
}

static double block_difference(const json_t *sample, const json_t *baseline, double *room)
{
    const json_t *slices = json_object_get(sample, "slices");
    size_t count = json_array_size(slices);
    for (size_t i = 0; i < count; i++)
        room[i] = difference(json_array_get(slices, i), baseline);
    return tlc_signed_rank_interval(room, count, 0.95).estimate;
}

bool tlc_extra_costs(const json_t *arms, size_t arm, unsigned block_count, double *blocks)
{
    for (unsigned block = 0; block < block_count; block++) {
        const json_t *mine = accepted_sample(arms, arm, block);
        const json_t *baseline = accepted_sample(arms, 0, block);
        blocks[block] = NAN;
        if (!mine || !baseline)
            continue;
        double *room = calloc(json_array_size(json_object_get(mine, "slices")) + 1, sizeof *room);
        if (!room)
            return false;
        blocks[block] = block_difference(mine, baseline, room);
        free(room);
    }
    return true;
}

// What a handshake burnt, at what the same work costs the same server by itself where that is
// known.
static double burnt_of(const json_t *sample, bool charged)
{
    double burnt_us = 0, handshakes = 0;
    size_t index;
    json_t *slice;
    json_array_foreach(json_object_get(sample, "slices"), index, slice)
    {
        double charge = charged ? number_of(slice, "burnt_charge") : 0;
        burnt_us += number_of(slice, "burnt_us") * (charge > 0 ? charge : 1);
        handshakes += number_of(slice, "handshakes");
    }
    return handshakes > 0 ? burnt_us / handshakes : NAN;
}

double tlc_extra_burn(const json_t *arms, size_t arm, unsigned block, bool charged)
{
    return burnt_of(accepted_sample(arms, arm, block), charged) -
           burnt_of(accepted_sample(arms, 0, block), charged);
}

// Slices are kept in the order they were run: log(last of a round / first of the next) of each
// change of round; returns how many.
static size_t turns_of(const json_t *baseline, double *logs)
{
    const json_t *slices = json_object_get(baseline, "slices");
    size_t count = 0;
    for (size_t i = 1; i < json_array_size(slices); i++) {
        const json_t *before = json_array_get(slices, i - 1), *after = json_array_get(slices, i);
        json_int_t round = json_integer_value(json_object_get(before, "round"));
        if (json_integer_value(json_object_get(after, "round")) == round + 1)
            logs[count++] = log(cost_of(before) / cost_of(after));
    }
    return count;
}

struct tlc_interval tlc_position_ratio(const json_t *arms, unsigned block_count, double confidence)
{
    struct tlc_interval ratio = {NAN, -INFINITY, INFINITY, 0};
    size_t most = 1, count = 0;
    for (unsigned block = 0; block < block_count; block++)
        most += json_array_size(json_object_get(accepted_sample(arms, 0, block), "slices"));
    double *logs = malloc(most * sizeof *logs);
    unsigned *instance = malloc(most * sizeof *instance);
    for (unsigned block = 0; logs && instance && block < block_count; block++) {
        size_t turns = turns_of(accepted_sample(arms, 0, block), logs + count);
        while (turns--)
            instance[count++] = block;
    }
    if (logs && instance)
        ratio = tlc_ratio_over_instances(logs, instance, count, block_count, confidence);
    free(instance);
    free(logs);
    return ratio;
}

size_t tlc_accepted_samples(const json_t *arms)
{
    size_t accepted = 0;
    for (size_t i = 0; i < json_array_size(arms); i++) {
        const json_t *samples = json_object_get(json_array_get(arms, i), "samples");
        for (size_t k = 0; k < json_array_size(samples); k++)
            accepted += json_is_true(json_object_get(json_array_get(samples, k), "accepted"));
    }
    return accepted;
}

static bool is_among(const json_t *names, const json_t *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_equal(json_array_get(names, i), name))
            return true;
    return false;
}

json_t *tlc_refusing_checks(const json_t *arms)
{
    json_t *names = json_array();
    for (size_t i = 0; i < json_array_size(arms); i++) {
        const json_t *refused = json_object_get(json_array_get(arms, i), "refused");
        for (size_t k = 0; k < json_array_size(refused); k++) {
            json_t *name = json_object_get(json_array_get(refused, k), "check");
            if (name && !is_among(names, name))
                json_array_append(names, name);
        }
    }
    return names;
}
