// Rules on an arm's settings, in two tables; private to the room.
#ifndef TLC_PLAN_RULES_H
#define TLC_PLAN_RULES_H

#include <string.h>

#include "plan/plan.h"

struct tlc_rule {
    bool (*broken)(const struct tlc_arm *arm);
    const char *key; // whose line is named
    const char *text;
};

extern const struct tlc_rule tlc_hello_rules[]; // of clients that leave early, and of their pace
extern const size_t tlc_hello_rule_count;

// The first group that is among `codes`; 0 when none is.
uint16_t tlc_group_among(const struct tlc_arm *arm, const uint16_t *codes, size_t count);

static inline bool is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

static inline bool of(const struct tlc_arm *arm, const char *workload)
{
    return is(arm->workload, workload);
}

static inline bool lean(const struct tlc_arm *arm)
{
    return is(arm->engine, "lean") && of(arm, "network");
}

static inline bool resumes(const struct tlc_arm *arm)
{
    return !is(arm->resumption, "none");
}

#endif
