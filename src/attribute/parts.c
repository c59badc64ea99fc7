// From the samples of a result to each component's figures.
#include "attribute/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "stats/student.h"

static const json_t *attribution_of(const json_t *sample)
{
    const json_t *parts = json_object_get(json_object_get(sample, "stay"), "attribution");
    return json_is_true(json_object_get(sample, "accepted")) &&
                   tlc_json_number(parts, "samples") > 0
               ? parts
               : NULL;
}

static size_t count_blocks(const json_t *arm)
{
    size_t index, blocks = 0;
    json_t *sample;
    json_array_foreach(json_object_get(arm, "samples"), index, sample) blocks +=
        attribution_of(sample) != NULL;
    return blocks;
}

static const char *name_of(const json_t *arm)
{
    const char *name = json_string_value(json_object_get(arm, "name"));
    return name ? name : "";
}

const json_t *tlc_parts_settings(const json_t *result, const json_t *arm)
{
    size_t index;
    json_t *settings;
    json_array_foreach(json_object_get(json_object_get(result, "plan"), "arms"), index, settings)
    {
        if (!strcmp(name_of(settings), name_of(arm)))
            return settings;
    }
    return NULL;
}

static void add_block(struct tlc_parts *parts, const json_t *sample, const json_t *told)
{
    size_t at = parts->blocks++;
    double samples = tlc_json_number(told, "samples"), cost_us = tlc_json_number(sample, "cost_us");
    double handshakes = tlc_json_number(told, "sampled_handshakes"), allocation = 0;
    const json_t *components = json_object_get(told, "components");
    parts->block[at] = tlc_json_number(sample, "block");
    parts->cost_us[at] = cost_us;
    parts->frequency_hz = tlc_json_number(told, "frequency_hz");
    parts->sampled_us[at] = tlc_json_number(told, "sampled_us") / handshakes;
    parts->time_us[at] = samples * 1e6 / parts->frequency_hz / handshakes;
    for (int i = 0; i < TLC_PART_COUNT; i++) {
        const json_t *one = json_object_get(components, tlc_part_name((enum tlc_part)i));
        double of = tlc_json_number(one, "samples"), within = tlc_json_number(one, "allocation");
        parts->of[i][at] = isfinite(of) ? cost_us * of / samples : 0;
        allocation += isfinite(within) ? within : 0;
    }
    parts->allocation[at] = cost_us * allocation / samples;
    parts->samples += samples;
    parts->cut += tlc_json_number(told, "cut");
    parts->garbled += tlc_json_number(told, "garbled_lines");
}

static bool read_arm(struct tlc_parts *parts, const json_t *arm, size_t blocks)
{
    enum { OTHERS = 6 };
    double *room = calloc(blocks * (TLC_PART_COUNT + OTHERS), sizeof *room);
    *parts = (struct tlc_parts){.name = name_of(arm), .block = room};
    if (!room)
        return false;
    parts->cost_us = room + blocks;
    parts->sampled_us = room + 2 * blocks;
    parts->time_us = room + 3 * blocks;
    parts->allocation = room + 4 * blocks;
    parts->speed = room + 5 * blocks;
    for (size_t i = 0; i < TLC_PART_COUNT; i++)
        parts->of[i] = room + (OTHERS + i) * blocks;
    size_t index;
    json_t *sample;
    json_array_foreach(json_object_get(arm, "samples"), index, sample)
    {
        const json_t *told = attribution_of(sample);
        if (told)
            add_block(parts, sample, told);
        if (told && !parts->evidence)
            parts->evidence = json_object_get(sample, "evidence");
    }
    return true;
}

// A machine's speed drifts from block to block, for all arms alike: every block's figures are told
// at the speed that the first arm had on average.
double tlc_parts_speed(const struct tlc_parts *first, double block)
{
    for (size_t i = 0; i < first->blocks; i++)
        if (first->block[i] == block)
            return first->speed[i];
    return 1;
}

static void scale_block(struct tlc_parts *parts, size_t at, double by)
{
    double *const figures[] = {parts->cost_us, parts->sampled_us, parts->time_us,
                               parts->allocation};
    parts->speed[at] = by;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures[i][at] *= by;
    for (size_t i = 0; i < TLC_PART_COUNT; i++)
        parts->of[i][at] *= by;
}

static void scale(struct tlc_parts *parts, size_t count)
{
    double mean_us = count ? tlc_parts_mean(parts->cost_us, parts->blocks).estimate : 0;
    for (size_t at = 0; count && at < parts->blocks; at++)
        scale_block(parts, at, parts->cost_us[at] > 0 ? mean_us / parts->cost_us[at] : 1);
    for (size_t i = 1; i < count; i++)
        for (size_t at = 0; at < parts[i].blocks; at++)
            scale_block(&parts[i], at, tlc_parts_speed(parts, parts[i].block[at]));
}

bool tlc_parts_read(const json_t *result, struct tlc_parts **parts, size_t *count)
{
    const json_t *arms = json_object_get(result, "arms");
    struct tlc_parts *read = calloc(json_array_size(arms) + 1, sizeof *read);
    bool whole = read != NULL;
    size_t index;
    json_t *arm;
    *count = 0;
    *parts = read;
    json_array_foreach(arms, index, arm)
    {
        bool accepted = json_is_true(json_object_get(arm, "accepted"));
        size_t blocks = whole && accepted ? count_blocks(arm) : 0;
        if (!blocks)
            continue;
        if (!(whole = read_arm(&read[*count], arm, blocks)))
            break;
        read[*count].arm = index;
        read[*count].settings = tlc_parts_settings(result, arm);
        ++*count;
    }
    scale(read, *count);
    return whole;
}

void tlc_parts_free(struct tlc_parts *parts, size_t count)
{
    for (size_t i = 0; parts && i < count; i++)
        free(parts[i].block);
    free(parts);
}

const char *tlc_parts_setting(const struct tlc_parts *parts, const char *key)
{
    return json_string_value(json_object_get(parts->settings, key));
}

struct tlc_interval tlc_parts_mean(const double *values, size_t blocks)
{
    return tlc_student_interval(values, blocks, 0.95);
}

struct tlc_interval tlc_parts_difference(const struct tlc_parts *arm, const double *values,
                                         const struct tlc_parts *other, const double *others)
{
    double *differences = calloc(arm->blocks + 1, sizeof *differences);
    size_t count = 0;
    for (size_t i = 0; differences && i < arm->blocks; i++)
        for (size_t k = 0; k < other->blocks; k++)
            if (arm->block[i] == other->block[k])
                differences[count++] = values[i] - others[k];
    struct tlc_interval mean = tlc_parts_mean(differences, count);
    free(differences);
    return mean;
}
