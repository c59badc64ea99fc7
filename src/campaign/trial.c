// One arm tried alone: can it run, and does its first handshake do what it asks for?
#include <stdio.h>
#include <string.h>

#include "campaign/campaign.h"
#include "campaign/sample.h"
#include "campaign/setup.h"
#include "workload/workload.h"

// Starts the arm, takes its evidence and ends it.
static enum tlc_status shake_hands(const struct tlc_workload_kind *kind,
                                   const struct tlc_workload_setup *setup, json_t **evidence,
                                   struct tlc_error *error)
{
    struct tlc_workload *workload;
    enum tlc_status status = kind->open(setup, &workload, error);
    if (status != TLC_OK)
        return status;
    status = kind->prepare(workload, 0, evidence, error);
    if (status == TLC_OK)
        kind->release(workload, 0);
    kind->close(workload);
    return status;
}

enum tlc_status tlc_campaign_try(const struct tlc_campaign_options *options, size_t arm,
                                 json_t **evidence, struct tlc_error *error)
{
    struct tlc_plan one = *options->plan;
    one.arms = &options->plan->arms[arm];
    one.arm_count = 1;
    one.control = one.fair_client = -1;
    struct tlc_workload_setup setup = tlc_campaign_setup(options);
    setup.plan = &one;
    const struct tlc_workload_kind *kind = tlc_workload_kind(one.arms[0].workload);
    char difference[256];
    *evidence = NULL;
    if (!kind)
        return tlc_fail(error, TLC_USAGE, "workload '%s': not in this build", one.arms[0].workload);
    enum tlc_status status = kind->check(&setup, error);
    if (status == TLC_OK)
        status = shake_hands(kind, &setup, evidence, error);
    if (status == TLC_OK &&
        !tlc_sample_evidence_fits(&one, 0, *evidence, difference, sizeof difference))
        status = tlc_fail(error, TLC_REFUSED, "%s", difference);
    return status;
}
