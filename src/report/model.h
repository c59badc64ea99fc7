// A `run` result as structs, ready to be told (private to the room). Strings are borrowed from the
// document, which must outlive the model.
#ifndef TLC_REPORT_MODEL_H
#define TLC_REPORT_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tlc_figure { // NaN where the result has null
    double estimate, low, high;
};

struct tlc_refusal {
    const char *check;
    const char *reason; // of the first sample that it refused; NULL: none told
    const char *remedy; // NULL: the check is unknown to this version
    size_t count;
};

struct tlc_report_arm {
    const char *name, *verdict;
    const json_t *settings; // the arm in the plan
    bool accepted, baseline, control;
    int lever; // index into levers; -1: none
    size_t instances, samples, refused_samples, refusal_count;
    struct tlc_refusal *refusals;
    struct tlc_figure cost_us, rate, ratio;
    struct tlc_figure settling;                  // cost late in a block over the whole
    struct tlc_figure server_us, client_us;      // of arms whose two sides share a process
    const char *against;                         // the arm it is divided by; "": the baseline
    const json_t *sample_list;                   // its samples, one a block
    double detectable, holm_p;                   // NaN: not told
    const json_t *claim_holm, *outliers, *curve; // curve NULL: not cut into buckets
    const char *workload;                        // "network", "memory", "primitive"
    const json_t *variation;                     // as the result tells it; NULL: it does not
};

struct tlc_report_lever {
    const char *name;
    const char *key;   // the arm's setting that it changes; NULL: several
    const char *pulls; // NULL: not told
};

struct tlc_report_model {
    const json_t *result, *plan, *setup, *checks, *stacks, *reasons;
    json_t *environment;
    const char *name, *question, *started, *finished;
    struct tlc_report_lever *levers;
    size_t lever_count;
    struct tlc_report_arm *arms;
    size_t arm_count, samples, refused_samples, refused_arms;
    const struct tlc_report_arm *baseline; // NULL: the result has none
    double margin;                         // equivalence margin, NaN: not told
    bool accepted, interrupted, few;       // few: an accepted arm has no interval
    bool mixed;                            // the arms' workloads differ
};

enum tlc_status tlc_report_model_new(const json_t *result, struct tlc_report_model **model,
                                     struct tlc_error *error) TLC_CHECKED;
void tlc_report_model_free(struct tlc_report_model *model);
// The arm that `arm` is divided by; NULL for the baseline, or when it is not there.
const struct tlc_report_arm *tlc_report_divisor(const struct tlc_report_model *model,
                                                const struct tlc_report_arm *arm);
// An arm's setting as text ("rsa-2048"); NULL when it is not a text.
const char *tlc_report_setting(const struct tlc_report_arm *arm, const char *key);
// What an arm is called where only names stand: a baseline that runs one operation by that, unless
// another arm is called so.
const char *tlc_report_arm_name(const struct tlc_report_model *model,
                                const struct tlc_report_arm *arm);

#endif
