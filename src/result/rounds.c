#include "result/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static json_int_t integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

// Logarithm of a slice's cost per handshake; NaN when it has none.
static double log_cost(const json_t *slice)
{
    double cost = tlc_json_number(slice, "cost_us") / tlc_json_number(slice, "handshakes");
    return cost > 0 && isfinite(cost) ? log(cost) : NAN;
}

const json_t *tlc_sample_of_block(const json_t *samples, json_int_t block)
{
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        if (integer_of(sample, "block") == block &&
            json_is_true(json_object_get(sample, "accepted")))
            return sample;
    }
    return NULL;
}

bool tlc_slices_pair(const json_t *slice, const json_t *other)
{
    if (integer_of(slice, "round") != integer_of(other, "round"))
        return false;
    return !json_is_true(json_object_get(slice, "duet")) ||
           integer_of(slice, "position") == integer_of(other, "position");
}

const json_t *tlc_slice_partner(const json_t *slice, const json_t *sample)
{
    const json_t *slices = json_object_get(sample, "slices");
    for (size_t i = 0; i < json_array_size(slices); i++)
        if (tlc_slices_pair(slice, json_array_get(slices, i)))
            return json_array_get(slices, i);
    return NULL;
}

bool tlc_rounds_add(struct tlc_rounds *rounds, double value)
{
    if (rounds->count == rounds->capacity) {
        size_t capacity = rounds->capacity ? 2 * rounds->capacity : 256;
        double *values = realloc(rounds->log_value, capacity * sizeof *values);
        if (values)
            rounds->log_value = values;
        unsigned *instances = realloc(rounds->instance, capacity * sizeof *instances);
        if (instances)
            rounds->instance = instances;
        if (!values || !instances)
            return false;
        rounds->capacity = capacity;
    }
    rounds->log_value[rounds->count] = value;
    rounds->instance[rounds->count++] = rounds->instances;
    return true;
}

static bool add_sample(struct tlc_rounds *rounds, const json_t *sample, const json_t *reference)
{
    const json_t *slices = json_object_get(sample, "slices");
    size_t before = rounds->count;
    for (size_t i = 0; i < json_array_size(slices); i++) {
        const json_t *slice = json_array_get(slices, i);
        double value = log_cost(slice);
        if (reference)
            value -= log_cost(tlc_slice_partner(slice, reference));
        if (isfinite(value) && !tlc_rounds_add(rounds, value))
            return false;
    }
    if (rounds->count > before)
        rounds->block[rounds->instances++] = integer_of(sample, "block");
    return true;
}

bool tlc_rounds_read(const json_t *samples, const json_t *reference, struct tlc_rounds *rounds)
{
    *rounds = (struct tlc_rounds){0};
    rounds->block = calloc(json_array_size(samples) + 1, sizeof *rounds->block);
    bool whole = rounds->block != NULL;
    for (size_t i = 0; whole && i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        const json_t *other =
            reference ? tlc_sample_of_block(reference, integer_of(sample, "block")) : NULL;
        if (json_is_true(json_object_get(sample, "accepted")) && (!reference || other))
            whole = add_sample(rounds, sample, other);
    }
    return whole;
}

void tlc_rounds_free(struct tlc_rounds *rounds)
{
    free(rounds->log_value);
    free(rounds->instance);
    free(rounds->block);
    *rounds = (struct tlc_rounds){0};
}

const json_t *tlc_result_arm(const json_t *result, const char *name)
{
    const json_t *arms = json_object_get(result, "arms");
    for (size_t i = 0; i < json_array_size(arms); i++) {
        const char *found = json_string_value(json_object_get(json_array_get(arms, i), "name"));
        if (found && !strcmp(found, name))
            return json_array_get(arms, i);
    }
    return NULL;
}
