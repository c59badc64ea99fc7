// Optional arms that this machine cannot run.
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/interrupt.h"
#include "campaign/campaign.h"
#include "workload/workload.h"

// Has the arm checked alone, as a plan of its own.
static enum tlc_status check_alone(const struct tlc_plan *plan, size_t arm, struct tlc_error *why)
{
    const struct tlc_workload_kind *kind = tlc_workload_kind(plan->arms[arm].workload);
    struct tlc_plan one = *plan;
    one.arms = &plan->arms[arm];
    one.arm_count = 1;
    one.control = one.fair_client = -1;
    const struct tlc_workload_setup setup = {.plan = &one};
    if (!kind)
        return tlc_fail(why, TLC_USAGE, "workload '%s': not in this build",
                        plan->arms[arm].workload);
    return kind->check(&setup, why);
}

// The reason without the arm's name, which is told beside it.
static const char *bare(const char *text, const char *arm)
{
    char prefix[160];
    snprintf(prefix, sizeof prefix, "arm '%.100s': ", arm);
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) ? text : text + length;
}

// An arm whose divisor was left out cannot be told; its index is told by the plan as its own.
static enum tlc_status follow(struct tlc_plan *plan, bool *again, struct tlc_error *error)
{
    for (size_t i = plan->arm_count; i-- > 1;) {
        char reason[256];
        if (tlc_plan_against(plan, i) != i)
            continue;
        snprintf(reason, sizeof reason, "the arm that it is divided by (%.150s) was left out",
                 plan->arms[i].against);
        if (!plan->arms[i].optional)
            return tlc_fail(error, TLC_USAGE, "arm '%s': %s; write optional: true here too",
                            plan->arms[i].name, reason);
        enum tlc_status status = tlc_plan_leave_out(plan, i, reason, error);
        if (status != TLC_OK)
            return status;
        *again = true;
    }
    return TLC_OK;
}

// Whether the arm's server comes up and makes a handshake. What it negotiates is for the checks.
static enum tlc_status try_out(const struct tlc_plan *plan, size_t arm,
                               const struct tlc_campaign_options *options, struct tlc_error *why)
{
    struct tlc_campaign_options alone = *options;
    json_t *evidence = NULL;
    alone.plan = plan;
    enum tlc_status status = tlc_campaign_try(&alone, arm, &evidence, why);
    json_decref(evidence);
    return status == TLC_REFUSED ? TLC_OK : status;
}

// Whether the arm's server can be had and runs, and its provider; `brought` keeps what was tried,
// with why it cannot run, empty where it can.
static enum tlc_status bring(const struct tlc_plan *plan, size_t index,
                             const struct tlc_campaign_options *options, json_t *brought,
                             struct tlc_error *why)
{
    char log[600], what[2048];
    const struct tlc_arm *arm = &plan->arms[index];
    const struct tlc_workload_kind *kind = tlc_workload_kind(arm->workload);
    bool external = arm->server && kind->bring;
    if (!external && (!arm->provider || !strcmp(arm->workload, "primitive")))
        return TLC_OK;
    snprintf(what, sizeof what, "%s, %s, %s", external ? arm->server : "none",
             external ? "" : arm->stack, arm->provider ? arm->provider : "none");
    const char *known = json_string_value(json_object_get(brought, what));
    if (known)
        return *known ? tlc_fail(why, TLC_ENVIRONMENT, "%s", known) : TLC_OK;
    snprintf(log, sizeof log, "%s/build.log", options->work_directory);
    enum tlc_status status = external ? kind->bring(arm, log, why) : TLC_OK;
    if (status == TLC_OK)
        status = try_out(plan, index, options, why);
    json_object_set_new(brought, what,
                        json_string(status == TLC_OK ? "" : bare(why->text, arm->name)));
    return status;
}

static enum tlc_status leave_out(struct tlc_plan *plan, const struct tlc_campaign_options *options,
                                 json_t *brought, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 1; status == TLC_OK && i < plan->arm_count;) {
        const struct tlc_arm *arm = &plan->arms[i];
        struct tlc_error why = {0};
        bool can = !arm->optional || (check_alone(plan, i, &why) == TLC_OK &&
                                      bring(plan, i, options, brought, &why) == TLC_OK);
        if (tlc_interrupted())
            return tlc_fail(error, TLC_INTERRUPTED, "interrupted before anything was measured");
        if (can)
            i++;
        else
            status = tlc_plan_leave_out(plan, i, bare(why.text, arm->name), error);
    }
    return status;
}

enum tlc_status tlc_campaign_leave_out(struct tlc_plan *plan,
                                       const struct tlc_campaign_options *options,
                                       struct tlc_error *error)
{
    json_t *brought = json_object();
    enum tlc_status status = leave_out(plan, options, brought, error);
    json_decref(brought);
    for (bool again = true; status == TLC_OK && again;) {
        again = false;
        status = follow(plan, &again, error);
    }
    return status;
}
