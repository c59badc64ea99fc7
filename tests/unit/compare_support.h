// Results of made-up campaigns for the tests of comparisons and histories.
#ifndef COMPARE_SUPPORT_H
#define COMPARE_SUPPORT_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "result/result.h"

enum { MADE_ROUNDS = 4 };

struct made {
    unsigned blocks;
    double speed;        // factor on all costs: the machine at that time
    double arm_ratio;    // cost of "ed25519" over the control's
    bool control;        // whether the plan has one
    unsigned seed;       // small luck of instances
    const char *started; // NULL: a fixed time
};

static inline double made_luck(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return 1 + 0.002 * ((double)(*seed >> 8) / (double)(1u << 24) - 0.5);
}

static inline json_t *made_sample(unsigned block, double cost, unsigned *seed)
{
    json_t *slices = json_array();
    double luck = made_luck(seed);
    for (int round = 0; round < MADE_ROUNDS; round++) {
        double drift = 1 + 0.3 * sin(block * 1.7 + round * 0.9);
        json_array_append_new(slices, json_pack("{s:i, s:i, s:i, s:f}", "round", round, "position",
                                                0, "handshakes", 100, "cost_us",
                                                100 * cost * drift * luck * made_luck(seed)));
    }
    return json_pack("{s:i, s:b, s:[], s:[], s:i, s:f, s:f, s:n, s:n, s:o}", "block", (int)block,
                     "accepted", 1, "refused", "reasons", "handshakes", 400, "cost_us", cost * luck,
                     "rate", 1e6 / cost, "evidence", "counters", "slices", slices);
}

static inline json_t *made_arm(const char *name, double cost, const struct made *made,
                               unsigned *seed)
{
    json_t *samples = json_array();
    for (unsigned block = 0; block < made->blocks; block++)
        json_array_append_new(samples, made_sample(block, cost, seed));
    return json_pack("{s:s, s:n, s:s, s:b, s:[], s:{s:f,s:n,s:n}, s:{s:f,s:n,s:n}, s:n, s:s, s:i, "
                     "s:o}",
                     "name", name, "lever", "role", "arm", "accepted", 1, "refused", "cost_us",
                     "estimate", cost, "low", "high", "rate", "estimate", 1e6 / cost, "low", "high",
                     "ratio", "verdict", "no-claim", "instances", (int)made->blocks, "samples",
                     samples);
}

static inline json_t *made_result(const struct made *made)
{
    unsigned seed = made->seed;
    json_t *arms = json_array();
    json_array_append_new(arms, made_arm("baseline", 200 * made->speed, made, &seed));
    json_array_append_new(arms, made_arm("control", 200 * made->speed, made, &seed));
    json_array_append_new(arms,
                          made_arm("ed25519", 200 * made->speed * made->arm_ratio, made, &seed));
    json_t *plan = json_pack(
        "{s:s, s:s, s:i, s:[{s:s,s:s,s:s},{s:s,s:s,s:s},{s:s,s:s,s:s}], s:{s:i}, s:{s:f}}", "name",
        "made", "question", "?", "control", made->control ? 1 : -1, "arms", "name", "baseline",
        "stack", "openssl", "certificate", "ecdsa-p256", "name", "control", "stack", "openssl",
        "certificate", "ecdsa-p256", "name", "ed25519", "stack", "openssl", "certificate",
        "ed25519", "schedule", "blocks", (int)made->blocks, "limits", "margin", 0.02);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:s,s:f}, s:o, s:{s:s,s:s,s:b}, s:[{s:s,s:s,s:s}], s:o, s:[], "
        "s:i, s:{s:b,s:[]}}",
        "schema", TLC_RESULT_SCHEMA, "command", "run", "started",
        made->started ? made->started : "2026-01-01T00:00:00Z", "finished", "2026-01-01T00:01:00Z",
        "environment", "cpu_model", "Test CPU", "load_average", made->speed, "plan", plan, "setup",
        "server_cpus", "1", "generator_cpus", "0", "interrupted", 0, "stacks", "id", "openssl",
        "version", "OpenSSL 3.5.9", "sha256", "aa", "arms", arms, "checks", "refused_samples", 0,
        "campaign", "accepted", 1, "reasons");
}

#endif
