// What workloads that make handshakes ask of a stack and of the test certificates for an arm.
#ifndef TLC_WORKLOAD_ARM_SUPPORT_H
#define TLC_WORKLOAD_ARM_SUPPORT_H

#include "base/error.h"
#include "plan/plan.h"
#include "stacks/loader.h"

// Whether the stack can be the server, or the client, of the arm's handshakes; the error names what
// it lacks.
enum tlc_status tlc_arm_supported(const struct tlc_arm *arm, const struct tlc_stack_plugin *plugin,
                                  struct tlc_error *error) TLC_CHECKED;
// Makes the arm's certificates in a folder below `base`, which *folder then names.
enum tlc_status tlc_arm_certificates(const struct tlc_arm *arm, const char *base, char *folder,
                                     size_t capacity, struct tlc_error *error) TLC_CHECKED;

#endif
