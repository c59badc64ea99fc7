#include "workload/arm_mask.h"

#include <stdio.h>

#include "base/cpu_mask.h"

enum { ACCOUNT_BYTES = 256 };

const char *const *tlc_arm_mask_environment(const struct tlc_arm *arm, struct tlc_arm_mask *mask)
{
    if (!arm->cpu_mask)
        return NULL;
    snprintf(mask->pair, sizeof mask->pair, TLC_CPU_MASK_VARIABLE "=%s", arm->cpu_mask);
    mask->environment[0] = mask->pair;
    mask->environment[1] = NULL;
    return mask->environment;
}

enum tlc_status tlc_arm_mask_supported(const struct tlc_arm *arm, const char *id, const char *build,
                                       struct tlc_error *error)
{
    char account[ACCOUNT_BYTES];
    if (!arm->cpu_mask || tlc_cpu_account(build, account, sizeof account))
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "arm '%s': stack %s: its library tells no " TLC_CPU_MASK_VARIABLE
                    ", so a cpu_mask cannot be checked; OpenSSL on x86-64 does; leave it out",
                    arm->name, id);
}

json_t *tlc_arm_processor(const char *build)
{
    char account[ACCOUNT_BYTES];
    return tlc_cpu_account(build, account, sizeof account) ? json_string(account) : NULL;
}
