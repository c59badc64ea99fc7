#include "attribute/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/timed.h"
#include "base/json.h"

const double tlc_budget_closed = 0.03, tlc_budget_known = 0.06;

static double mean_of(const double *values, size_t count)
{
    return tlc_parts_mean(values, count).estimate;
}

struct tlc_budget_sums tlc_budget_sums(const struct tlc_parts *parts)
{
    struct tlc_budget_sums sums = {
        .total_us = mean_of(parts->cost_us, parts->blocks),
        .sampled_us = mean_of(parts->sampled_us, parts->blocks),
        .counted_us = mean_of(parts->time_us, parts->blocks),
    };
    sums.gap = sums.counted_us / sums.sampled_us - 1;
    sums.unknown = mean_of(parts->of[TLC_PART_UNKNOWN], parts->blocks) / sums.total_us;
    sums.closed = !(fabs(sums.gap) > tlc_budget_closed);
    sums.known = !(sums.unknown > tlc_budget_known);
    return sums;
}

// ---- the same work in two arms

// The server, how far its handshakes go and how it is looked at: whatever else differs, such as the
// group's other half, leaves the common part what it is.
static bool have_the_same_server(const struct tlc_parts *arm, const struct tlc_parts *other)
{
    static const char *const keys[] = {"stack",       "server",   "serve_options", "provider",
                                       "trace",       "cpu_mask", "version",       "stop",
                                       "hello_retry", "workers",  "client_auth",   NULL};
    return tlc_json_alike(arm->settings, other->settings, keys);
}

static bool is(const struct tlc_parts *parts, const char *key, const char *word)
{
    const char *setting = tlc_parts_setting(parts, key);
    return setting && !strcmp(setting, word);
}

// Every handshake does its whole work, and burns nothing within it.
static bool is_whole(const struct tlc_parts *parts, enum tlc_part component)
{
    double burn_us = json_number_value(json_object_get(parts->settings, "burn_us"));
    bool burns = (component == TLC_PART_SIGNATURE && is(parts, "burn_in", "signature")) ||
                 (component == TLC_PART_GENERATION && is(parts, "burn_in", "key-generation"));
    return is(parts, "resumption", "none") && !is(parts, "share", "unreduced") &&
           !is(parts, "share", "low-order") && !(burns && burn_us > 0);
}

static bool fits(const char *named, const json_t *evidence, const struct tlc_parts *parts,
                 const char *key)
{
    const char *found = json_string_value(evidence);
    found = found ? found : tlc_parts_setting(parts, key);
    return !named || (found && !strcmp(found, named));
}

bool tlc_parts_do(const struct tlc_parts *parts, const struct tlc_part_operation *operation)
{
    return fits(operation->group, json_object_get(parts->evidence, "group"), parts, "groups") &&
           fits(operation->certificate, NULL, parts, "certificate");
}

// The raw operation that is this component in both arms, whatever their groups; NULL: none. A
// client's key is read whole, so a part of it is not the component.
static const struct tlc_part_operation *common_operation(const struct tlc_parts *arm,
                                                         const struct tlc_parts *other,
                                                         enum tlc_part component)
{
    const struct tlc_part_operation *left, *right;
    for (size_t i = 0; (left = tlc_part_operation_at(i)); i++) {
        if (left->component != component || component == TLC_PART_PEER_KEY ||
            !tlc_parts_do(arm, left))
            continue;
        for (size_t k = 0; (right = tlc_part_operation_at(k)); k++)
            if (!strcmp(left->name, right->name) && tlc_parts_do(other, right))
                return left;
    }
    return NULL;
}

static bool same(const struct tlc_parts *arm, const struct tlc_parts *other,
                 enum tlc_part component)
{
    return is_whole(arm, component) && is_whole(other, component) &&
           have_the_same_server(arm, other) && common_operation(arm, other, component);
}

static struct tlc_same_work compare(const struct tlc_parts *arm, const struct tlc_parts *other,
                                    enum tlc_part component)
{
    struct tlc_same_work work = {
        .arm = arm,
        .other = other,
        .component = component,
        .us = tlc_parts_mean(arm->of[component], arm->blocks),
        .other_us = tlc_parts_mean(other->of[component], other->blocks),
        .difference = tlc_parts_difference(arm, arm->of[component], other, other->of[component]),
    };
    work.apart = work.us.low > work.other_us.high || work.us.high < work.other_us.low;
    return work;
}

bool tlc_same_work(const struct tlc_parts *parts, size_t count, struct tlc_same_work **list,
                   size_t *list_count)
{
    *list_count = 0;
    *list = calloc(count * TLC_PART_COUNT + 1, sizeof **list);
    for (size_t i = 0; *list && i < count; i++)
        for (int component = 0; component < TLC_PART_COUNT; component++)
            for (size_t k = 0; k < i; k++)
                if (same(&parts[i], &parts[k], (enum tlc_part)component)) {
                    (*list)[(*list_count)++] =
                        compare(&parts[i], &parts[k], (enum tlc_part)component);
                    break;
                }
    return *list != NULL;
}

// ---- for machines

static json_t *interval_json(struct tlc_interval interval)
{
    return json_pack("{s:o, s:o, s:o}", "estimate", tlc_json_real(interval.estimate), "low",
                     tlc_json_real(interval.low), "high", tlc_json_real(interval.high));
}

static json_t *arm_json(const struct tlc_parts *parts)
{
    struct tlc_budget_sums sums = tlc_budget_sums(parts);
    json_t *components = json_object();
    for (int i = 0; i < TLC_PART_COUNT; i++)
        json_object_set_new(components, tlc_part_name((enum tlc_part)i),
                            interval_json(tlc_parts_mean(parts->of[i], parts->blocks)));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:b}", "arm", parts->name,
                     "total_us", interval_json(tlc_parts_mean(parts->cost_us, parts->blocks)),
                     "components", components, "allocation_us",
                     interval_json(tlc_parts_mean(parts->allocation, parts->blocks)), "sampled_us",
                     tlc_json_real(sums.sampled_us), "gap", tlc_json_real(sums.gap), "closed",
                     sums.closed, "unknown", tlc_json_real(sums.unknown), "known", sums.known);
}

static json_t *same_json(const struct tlc_same_work *work)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:b}", "component",
                     tlc_part_name(work->component), "arm", work->arm->name, "other",
                     work->other->name, "us", interval_json(work->us), "other_us",
                     interval_json(work->other_us), "difference_us",
                     interval_json(work->difference), "agrees", !work->apart);
}

static json_t *timed_json(const struct tlc_timed_part *part)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:b}", "component", tlc_part_name(part->component),
                     "arm", part->parts->name, "timed", part->arm, "us", interval_json(part->us),
                     "timed_us", interval_json(part->timed_us), "agrees", !part->apart);
}

static json_t *all_json(const json_t *result, const struct tlc_parts *parts, size_t count)
{
    struct tlc_same_work *same = NULL;
    struct tlc_timed_part *timed = NULL;
    size_t same_count, timed_count;
    json_t *told = NULL;
    if (tlc_same_work(parts, count, &same, &same_count) &&
        tlc_timed_parts(result, parts, count, &timed, &timed_count)) {
        json_t *arms = json_array(), *works = json_array(), *times = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(arms, arm_json(&parts[i]));
        for (size_t i = 0; i < same_count; i++)
            json_array_append_new(works, same_json(&same[i]));
        for (size_t i = 0; i < timed_count; i++)
            json_array_append_new(times, timed_json(&timed[i]));
        told = json_pack("{s:o, s:o, s:o}", "arms", arms, "same_work", works, "timed", times);
    }
    free(same);
    free(timed);
    return told;
}

json_t *tlc_budget_json(const json_t *result)
{
    struct tlc_parts *parts;
    size_t count;
    json_t *told = NULL;
    if (tlc_parts_read(result, &parts, &count) && count)
        told = all_json(result, parts, count);
    tlc_parts_free(parts, count);
    return told;
}
