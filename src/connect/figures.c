#include "connect/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "connect/arithmetic.h"
#include "stats/quantile.h"
#include "stats/rank_sum.h"

enum { MOST_COMPARED = 1000 }; // all pairs of two samples are looked at

static const char *const phase_names[TLC_PHASES] = {"tcp", "server_hello", "finished",
                                                    "first_byte"};

// A tenth of a microsecond is finer than the clock's own use.
static json_t *number(double value)
{
    return isfinite(value) ? json_real(round(10 * value) / 10) : json_null();
}

static json_t *interval(struct tlc_interval interval)
{
    return json_pack("{s:o, s:o, s:o}", "estimate", number(interval.estimate), "low",
                     number(interval.low), "high", number(interval.high));
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static json_t *quantiles(const double *values, size_t count)
{
    static const struct {
        const char *name;
        double p;
    } wanted[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
    double *sorted = malloc((count + 1) * sizeof *sorted);
    json_t *json = json_object();
    if (!sorted)
        return json;
    if (count)
        memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        json_object_set_new(json, wanted[i].name,
                            interval(tlc_quantile_interval(sorted, count, wanted[i].p, 0.95)));
    json_object_set_new(json, "max", number(count ? sorted[count - 1] : NAN));
    free(sorted);
    return json;
}

static json_t *times(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number(values[i]));
    return list;
}

// Jitter, losses and a rate are chance or add to it, so arithmetic alone cannot tell.
static bool is_plain(const struct tlc_path *path)
{
    return !path->jitter_ns && !path->rate_bits && !(path->loss > 0);
}

static void put_phases(const struct tlc_connect_spot *spot, json_t *at)
{
    json_t *phases = json_object(), *all = json_object();
    unsigned trips[TLC_PHASES];
    tlc_connect_round_trips(&spot->arm->wire, &spot->path, spot->target.upgrade, trips);
    for (int phase = 0; phase < TLC_PHASES; phase++) {
        json_t *json = quantiles(spot->us[phase], spot->count);
        double expected = (double)trips[phase] * (double)spot->rtt_us;
        json_object_set_new(json, "round_trips", json_integer(trips[phase]));
        json_object_set_new(json, "expected_us", number(is_plain(&spot->path) ? expected : NAN));
        json_object_set_new(phases, phase_names[phase], json);
        json_object_set_new(all, phase_names[phase], times(spot->us[phase], spot->count));
    }
    json_object_set_new(at, "phases", phases);
    json_object_set_new(at, "times_us", all);
}

static const struct tlc_connect_spot *spot_of(const struct tlc_connect *connect, size_t arm,
                                              uint64_t rtt_us)
{
    for (size_t i = 0; i < connect->spot_count; i++)
        if (connect->spots[i].arm == &connect->arms[arm] && connect->spots[i].rtt_us == rtt_us)
            return &connect->spots[i];
    return NULL;
}

static size_t compared(const struct tlc_connect_spot *spot)
{
    return spot->count < MOST_COMPARED ? spot->count : MOST_COMPARED;
}

// What the user waits more than in the baseline, until the first byte.
static json_t *difference(const struct tlc_connect *connect, const struct tlc_connect_spot *spot)
{
    const struct tlc_connect_spot *baseline = spot_of(connect, 0, spot->rtt_us);
    if (!baseline || spot == baseline || !spot->count || !baseline->count)
        return json_null();
    return interval(tlc_rank_sum_interval(baseline->us[TLC_PHASE_FIRST_BYTE], compared(baseline),
                                          spot->us[TLC_PHASE_FIRST_BYTE], compared(spot), 0.95));
}

static json_t *spot_json(const struct tlc_connect *connect, const struct tlc_connect_spot *spot)
{
    json_t *at = json_pack("{s:I, s:i, s:I, s:i, s:O}", "rtt_us", (json_int_t)spot->rtt_us, "begun",
                           (int)spot->begun, "connections", (json_int_t)spot->count, "failed",
                           (int)spot->failed, "errors", spot->errors);
    put_phases(spot, at);
    json_object_set_new(at, "difference_us", difference(connect, spot));
    return at;
}

static const char *role_of(const struct tlc_plan *plan, size_t arm)
{
    return arm == 0 ? "baseline" : (int)arm == plan->control ? "control" : "arm";
}

static json_t *arm_json(const struct tlc_connect *connect, size_t index)
{
    const struct tlc_plan *plan = connect->options->plan;
    const struct tlc_connect_arm *state = &connect->arms[index];
    uint64_t failed = 0;
    bool some_missing = false;
    json_t *at = json_array(), *refused = json_array();
    for (size_t i = 0; i < connect->spot_count; i++) {
        const struct tlc_connect_spot *spot = &connect->spots[i];
        if (spot->arm != state)
            continue;
        failed += spot->failed;
        some_missing = some_missing || !spot->count;
        json_array_append_new(at, spot_json(connect, spot));
    }
    if (failed > plan->limits.errors)
        json_array_append_new(
            refused, json_pack("{s:s, s:I}", "check", "errors", "count", (json_int_t)failed));
    if (some_missing)
        json_array_append_new(refused, json_pack("{s:s, s:i}", "check", "handshakes", "count", 1));
    return json_pack("{s:s, s:s?, s:s, s:b, s:o, s:O?, s:o}", "name", state->arm->name, "lever",
                     state->arm->lever, "role", role_of(plan, index), "accepted",
                     !json_array_size(refused), "refused", refused, "evidence", state->evidence,
                     "at", at);
}

static json_t *relay_lateness(const struct tlc_connect *connect)
{
    if (!connect->relay)
        return json_null();
    struct tlc_relay_lateness late = tlc_relay_lateness(connect->relay);
    double *values = malloc((late.count + 1) * sizeof *values);
    for (size_t i = 0; values && i < late.count; i++)
        values[i] = late.us[i];
    json_t *json = quantiles(values, values ? late.count : 0);
    free(values);
    return json;
}

bool tlc_connect_figures(const struct tlc_connect *connect, json_t *result)
{
    const struct tlc_plan *plan = connect->options->plan;
    bool refused = false;
    json_t *arms = json_array();
    for (size_t i = 0; i < plan->arm_count; i++) {
        json_t *arm = arm_json(connect, i);
        refused = refused || !json_is_true(json_object_get(arm, "accepted"));
        json_array_append_new(arms, arm);
    }
    json_object_set_new(result, "figure",
                        json_string("time from the moment a connection was due, microseconds"));
    json_object_set_new(result, "network",
                        json_pack("{s:s, s:o, s:I}", "kind", connect->relay ? "relay" : "netem",
                                  "why", *connect->why ? json_string(connect->why) : json_null(),
                                  "seed", (json_int_t)connect->options->seed));
    json_object_set_new(result, "arms", arms);
    json_object_set_new(result, "accepted", json_boolean(!refused));
    json_object_set_new(result, "late_us",
                        json_pack("{s:o, s:o}", "client",
                                  quantiles(connect->late_us, connect->late_count), "relay",
                                  relay_lateness(connect)));
    return refused;
}
