// Figures of a trace: functions put together to operations, times by what is nested in what.
#include <string.h>

#include "measure/trace_parts.h"

enum { DEEPEST = 8 };

// Preemption makes single calls very long, so the shortest and the longest ones are left out.
static const double trimmed_share = 0.05;

static uint64_t count_of(const struct tlc_trace_times *times)
{
    uint64_t count = 0;
    for (size_t i = 0; i < TLC_TRACE_BUCKETS; i++)
        count += times->counts[i];
    return count;
}

static uint64_t ticks_of(const struct tlc_trace_times *times)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < TLC_TRACE_BUCKETS; i++)
        ticks += times->sums[i];
    return ticks;
}

// The mean of what lies between two shares of the calls, in ticks; a bucket is taken in part.
static double mean_between(const struct tlc_trace_times *times, double low, double high)
{
    double seen = 0, taken = 0, ticks = 0, count = (double)count_of(times);
    for (size_t i = 0; i < TLC_TRACE_BUCKETS; i++) {
        double here = (double)times->counts[i];
        double from = seen > low * count ? seen : low * count;
        double to = seen + here < high * count ? seen + here : high * count;
        seen += here;
        if (here > 0 && to > from) {
            taken += to - from;
            ticks += (to - from) * (double)times->sums[i] / here;
        }
    }
    return taken > 0 ? ticks / taken : 0;
}

struct figures {
    double calls, ticks, own, trimmed, median; // `trimmed` is of own times
};

static void add_function(const struct tlc_trace_sum *sum, struct figures *figures)
{
    double count = (double)count_of(&sum->all);
    figures->ticks += (double)ticks_of(&sum->all);
    figures->own += (double)ticks_of(&sum->own);
    figures->trimmed += count * mean_between(&sum->own, trimmed_share, 1 - trimmed_share);
    if (!sum->whole || count <= 0)
        return;
    // One bucket holds the middle: its mean.
    double middle = mean_between(&sum->all, 0.5 - 0.5 / (count + 1), 0.5 + 0.5 / (count + 1));
    figures->median = figures->calls > 0 ? (figures->median * figures->calls + middle * count) /
                                               (figures->calls + count)
                                         : middle;
    figures->calls += count;
}

// Which sums belong to one operation: of the parents' nodes, those of this component and algorithm.
struct reading {
    const struct tlc_trace_sums *sums;
    double us; // of a tick, divided by the handshakes
    double us_of_tick;
    double own_us[TLC_COMPONENT_COUNT + 1], trimmed_us[TLC_COMPONENT_COUNT + 1];
};

struct set {
    bool of[TLC_TRACE_NODES + 1]; // the last one: none
};

static json_t *operations_in(struct reading *reading, const struct set *parents, unsigned depth,
                             double *trimmed);

static json_t *operation_json(struct reading *reading, const struct set *members,
                              const struct tlc_trace_sum *named, unsigned depth, double *trimmed)
{
    struct figures figures = {0};
    for (uint32_t i = 0; i < reading->sums->node_count; i++)
        if (members->of[i])
            add_function(&reading->sums->nodes[i], &figures);
    double nested = 0;
    json_t *inside = operations_in(reading, members, depth + 1, &nested);
    double us = reading->us, own = figures.own * us, own_trimmed = figures.trimmed * us;
    reading->own_us[named->component] += own;
    reading->trimmed_us[named->component] += own_trimmed;
    *trimmed += own_trimmed + nested;
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:o}", "component",
                     tlc_component_name(named->component), "algorithm", named->algorithm, "calls",
                     figures.calls * us / reading->us_of_tick, "us", figures.ticks * us, "own_us",
                     own, "trimmed_us", own_trimmed + nested, "median_us",
                     figures.median * reading->us_of_tick, "nested", inside);
}

static bool belongs(const struct tlc_trace_sum *sum, const struct set *parents)
{
    return parents->of[sum->parent <= TLC_TRACE_NODES ? sum->parent : TLC_TRACE_NODES] &&
           count_of(&sum->all);
}

static bool alike(const struct tlc_trace_sum *left, const struct tlc_trace_sum *right)
{
    return left->component == right->component && !strcmp(left->algorithm, right->algorithm);
}

static json_t *operations_in(struct reading *reading, const struct set *parents, unsigned depth,
                             double *trimmed)
{
    const struct tlc_trace_sums *sums = reading->sums;
    struct set told = {{false}};
    json_t *list = json_array();
    for (uint32_t i = 0; depth < DEEPEST && i < sums->node_count; i++) {
        if (told.of[i] || !belongs(&sums->nodes[i], parents))
            continue;
        struct set members = {{false}};
        for (uint32_t k = i; k < sums->node_count; k++)
            if (alike(&sums->nodes[i], &sums->nodes[k]) && belongs(&sums->nodes[k], parents))
                members.of[k] = told.of[k] = true;
        json_array_append_new(list,
                              operation_json(reading, &members, &sums->nodes[i], depth, trimmed));
    }
    return list;
}

static json_t *counts_json(const uint64_t counts[TLC_COMPONENT_COUNT], uint64_t handshakes)
{
    json_t *json = json_object();
    for (unsigned i = 0; i < TLC_COMPONENT_COUNT; i++)
        if (counts[i])
            json_object_set_new(json, tlc_component_name(i),
                                json_real((double)counts[i] / (double)handshakes));
    return json;
}

json_t *tlc_trace_sums_json(const struct tlc_trace_sums *sums, uint64_t handshakes)
{
    if (!handshakes)
        return NULL;
    double us_of_tick = sums->ticks ? (double)sums->ns / 1000 / (double)sums->ticks : 0, whole = 0;
    struct reading reading = {
        .sums = sums, .us = us_of_tick / (double)handshakes, .us_of_tick = us_of_tick};
    struct set roots = {{false}};
    roots.of[TLC_TRACE_NODES] = true;
    json_t *components = json_object();
    json_t *operations = operations_in(&reading, &roots, 0, &whole);
    for (unsigned i = 0; i < TLC_COMPONENT_COUNT; i++)
        if (reading.own_us[i] > 0)
            json_object_set_new(components, tlc_component_name(i),
                                json_pack("{s:f, s:f}", "own_us", reading.own_us[i], "trimmed_us",
                                          reading.trimmed_us[i]));
    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "handshakes", (json_int_t)handshakes, "done",
                     counts_json(sums->done, handshakes), "burns",
                     counts_json(sums->burns, handshakes), "components", components, "operations",
                     operations);
}
