// Parts of a comparison that a history needs too (private to the room).
#ifndef TLC_REPORT_COMPARE_PARTS_H
#define TLC_REPORT_COMPARE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "stats/stats.h"

// One value for each server instance of an arm: log cost, or log of its ratio to the reference of
// the same block.
struct tlc_units {
    double *value;
    size_t count;
};

// `reference` NULL: absolute. False when memory runs out.
bool tlc_units_read(const json_t *arm, const json_t *reference, struct tlc_units *units);
void tlc_units_free(struct tlc_units *units);

// {estimate, low, high, n} of a log interval, exponentiated; null when there is no estimate.
json_t *tlc_ratio_json(struct tlc_interval of_logs);
struct tlc_interval tlc_exp_interval(struct tlc_interval of_logs);

// Arrays of {what, base, new}: settings of the plan by arm, schedule and check; and what differs in
// machine, set-up and stacks. What changes from minute to minute (load) is left out.
json_t *tlc_plan_differences(const json_t *base, const json_t *new);
json_t *tlc_environment_differences(const json_t *base, const json_t *new);
// Whether the settings of an arm differ between the two plans.
bool tlc_arm_differs(const json_t *base, const json_t *new, const char *arm);
// The settings of an arm in the plan of a result; NULL when the plan does not have it.
const json_t *tlc_plan_arm(const json_t *result, const char *arm);

// The name of the arm that both are divided by, NULL for none with the reason in `why`. An arm that
// was named and cannot serve gives NULL and an empty `why` is never left.
const char *tlc_reference_of(const json_t *base, const json_t *new, const char *named, char *why,
                             size_t bytes);

#endif
