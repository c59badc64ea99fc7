// Arms that cannot run are refused by what their stack supports, before anything is started.
#include "attribute/sampler.h"
#include "stacks/loader.h"
#include "workload/arm_mask.h"
#include "workload/arm_support.h"
#include "workload/external.h"
#include "workload/kinds.h"

static enum tlc_status check_arm(const struct tlc_arm *arm, struct tlc_error *error)
{
    const struct tlc_stack_plugin *plugin;
    enum tlc_status status = tlc_stack_load(arm->stack, &plugin, error);
    if (status == TLC_OK)
        status = tlc_arm_supported(arm, plugin, error);
    if (status == TLC_OK && !arm->server)
        status = tlc_arm_mask_supported(arm, plugin->id, plugin->stack->build(), error);
    if (status == TLC_OK && arm->attribute)
        status = tlc_sampler_check(error);
    return status == TLC_OK && arm->server ? tlc_external_check(arm, error) : status;
}

enum tlc_status tlc_network_check(const struct tlc_workload_setup *setup, struct tlc_error *error)
{
    for (size_t i = 0; i < setup->plan->arm_count; i++) {
        if (!tlc_is_of_kind(setup, i, &tlc_workload_network))
            continue;
        enum tlc_status status = check_arm(&setup->plan->arms[i], error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}
