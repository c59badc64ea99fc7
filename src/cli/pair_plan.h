// The plan that `tlscost pair` runs, from its options.
#ifndef TLC_CLI_PAIR_PLAN_H
#define TLC_CLI_PAIR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"

// Lists are parted by commas; each combination of their values is an arm.
struct tlc_pair_options {
    const char *versions, *groups, *certificates, *resumption, *client_auth, *intermediates;
    const char *stacks, *client_stacks;
    const char *side, *provider;
    uint64_t blocks, iterations, count, slice_us, warm_up_us;
    bool busy_machine; // no refusal because others use the CPUs
    bool replay;       // beside each arm the server's first flight alone
};

// A word of --resumption as a plan spells it: "full" is "none", "resumed" the version's usual way.
const char *tlc_pair_resumption(const char *word, const char *version);
// *left_out gets how many combinations cannot exist, such as ML-DSA in TLS 1.2.
enum tlc_status tlc_pair_plan(const struct tlc_pair_options *options, struct tlc_plan **plan,
                              unsigned *left_out, struct tlc_error *error) TLC_CHECKED;

#endif
