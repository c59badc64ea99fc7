// The processor that an arm's server sees: the environment that hides parts of it, whether its
// library knows that variable, and what it then says of the processor.
#ifndef TLC_WORKLOAD_ARM_MASK_H
#define TLC_WORKLOAD_ARM_MASK_H

#include <jansson.h>

#include "base/error.h"
#include "plan/plan.h"

struct tlc_arm_mask {
    char pair[256];
    const char *environment[2];
};

// What tlc_process_options.environment takes, kept in `mask`; NULL for an arm without a mask. A
// library reads the variable when it is loaded, so it must be there before that.
const char *const *tlc_arm_mask_environment(const struct tlc_arm *arm, struct tlc_arm_mask *mask);
// Refuses an arm with a mask whose library does not tell what it sees; `id` and `build` are the
// stack's.
enum tlc_status tlc_arm_mask_supported(const struct tlc_arm *arm, const char *id, const char *build,
                                       struct tlc_error *error) TLC_CHECKED;
// The library's account of the processor as a member of evidence: text, or NULL when there is none.
json_t *tlc_arm_processor(const char *build);

#endif
