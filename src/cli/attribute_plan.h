// The plan that `tlscost attribute` runs, from its options.
#ifndef TLC_CLI_ATTRIBUTE_PLAN_H
#define TLC_CLI_ATTRIBUTE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"

// Lists are parted by commas; each combination of their values is an arm.
struct tlc_attribute_options {
    const char *groups, *certificates, *stack, *cipher;
    const char *server; // not ours; NULL: ours
    const char *burn;   // of a further arm that burns so long on purpose; NULL: none
    uint64_t seconds;   // that the plan measures at most, where two rounds fit
    uint64_t blocks, frequency_hz;
    bool operations;   // the library's raw operations beside
    bool timed;        // arms that the tracing provider times, beside; where the stack can load one
    bool busy_machine; // no refusal because others use the CPUs
};

enum tlc_status tlc_attribute_plan(const struct tlc_attribute_options *options,
                                   struct tlc_plan **plan, struct tlc_error *error) TLC_CHECKED;

#endif
