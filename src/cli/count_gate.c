// A count beside a stored one.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "cli/count.h"

const char *const tlc_count_sides[2] = {"server", "client"};

const json_t *tlc_count_side(const json_t *document, const char *side)
{
    return json_object_get(json_object_get(document, "sides"), side);
}

// Documents from before there were other methods have no other member.
static double each_of(const json_t *side)
{
    double instructions = tlc_json_number(side, "instructions_per_handshake");
    return isfinite(instructions) ? instructions : tlc_json_number(side, "per_handshake");
}

static const char *word_of(const json_t *document, const char *member, const char *absent)
{
    const char *word = json_string_value(json_object_get(document, member));
    return word ? word : absent;
}

enum tlc_status tlc_count_check_stored(const json_t *document, const json_t *stored,
                                       const char *path, struct tlc_error *error)
{
    const char *command = json_string_value(json_object_get(stored, "command"));
    if (!command || strcmp(command, "count"))
        return tlc_fail(error, TLC_USAGE, "count: --against %s: not a result of 'count'", path);
    const char *method = word_of(stored, "method", "callgrind");
    const char *event = word_of(stored, "event", "instructions");
    if (strcmp(method, word_of(document, "method", "")) ||
        strcmp(event, word_of(document, "event", "")))
        return tlc_fail(error, TLC_USAGE,
                        "count: --against %s: it counted %s by %s; only the same event and method "
                        "can be compared",
                        path, event, method);
    if (!json_equal(json_object_get(document, "configuration"),
                    json_object_get(stored, "configuration")))
        return tlc_fail(error, TLC_USAGE,
                        "count: --against %s: it counted another configuration; give the same "
                        "options",
                        path);
    for (int i = 0; i < 2; i++)
        if (!(each_of(tlc_count_side(stored, tlc_count_sides[i])) > 0))
            return tlc_fail(error, TLC_USAGE, "count: --against %s: sides.%s: no count", path,
                            tlc_count_sides[i]);
    return TLC_OK;
}

enum tlc_status tlc_count_check_space(const json_t *document, const json_t *stored,
                                      const char *path, struct tlc_error *error)
{
    const char *now = word_of(document, "space", "user"), *then = word_of(stored, "space", "user");
    if (!strcmp(now, then))
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "count: --against %s: it counted the space of '%s', here it is '%s'; set "
                    "kernel.perf_event_paranoid as it was there",
                    path, then, now);
}

// The ratio of each side to the stored one. A gate is crossed when the ratio lies above it by more
// than both spreads.
void tlc_count_compare(json_t *document, const json_t *stored, const char *path, double fail_above)
{
    json_t *against = json_object();
    for (int i = 0; i < 2; i++) {
        const json_t *now = tlc_count_side(document, tlc_count_sides[i]);
        const json_t *then = tlc_count_side(stored, tlc_count_sides[i]);
        double ratio = each_of(now) / each_of(then);
        double slack = tlc_json_number(now, "spread") + tlc_json_number(then, "spread");
        slack = isfinite(slack) ? slack : 0;
        bool crossed = isfinite(fail_above) && ratio * (1 - slack) > 1 + fail_above;
        json_object_set_new(against, tlc_count_sides[i],
                            json_pack("{s:f, s:f, s:f, s:b}", "estimate", ratio, "low",
                                      ratio * (1 - slack), "high", ratio * (1 + slack),
                                      "crosses_gate", crossed));
    }
    json_object_set_new(against, "file", json_string(path));
    json_object_set_new(document, "against", against);
}

enum tlc_status tlc_count_gate(const json_t *document, const char *path, double fail_above,
                               struct tlc_error *error)
{
    const json_t *against = json_object_get(document, "against");
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(against, tlc_count_sides[i]);
        if (json_is_true(json_object_get(side, "crosses_gate")))
            return tlc_fail(error, TLC_GATE,
                            "count: the %s takes %.2f %% more %s than in %s; the limit "
                            "is %g %%",
                            tlc_count_sides[i], 100 * (tlc_json_number(side, "estimate") - 1),
                            tlc_count_unit(document), path, 100 * fail_above);
    }
    return TLC_OK;
}
