// From an arm of the plan to what the generator is told of it; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_TARGET_H
#define TLC_WORKLOAD_NETWORK_TARGET_H

#include <jansson.h>

#include "base/error.h"
#include "certs/certs.h"
#include "generator/generator.h"
#include "plan/plan.h"
#include "stacks/loader.h"

enum { TLC_ARM_GROUPS = 16 };

// The codes of the arm's groups (room for TLC_ARM_GROUPS) and cipher (0: the library's choice).
enum tlc_status tlc_arm_codes(const struct tlc_arm *arm, uint16_t *groups, size_t *group_count,
                              uint16_t *cipher, struct tlc_error *error) TLC_CHECKED;
// What a target is made of beside the arm; all is borrowed.
struct tlc_arm_peer {
    const struct tlc_stack_plugin *plugin;
    const char *address;
    const char *certificates; // the arm's folder
    const json_t *evidence;   // of the probe
};
// What a target borrows; clear it once the target was told to the generator.
struct tlc_arm_loan {
    const char *alpn[2];
    struct tlc_certs_pair client; // empty: the client has no certificate
};
// Fills the generator's target. It borrows from the arm, the peer and `loan`; what it expects of
// every handshake is what the arm asked for and the certificate that the probe saw.
enum tlc_status tlc_arm_target(const struct tlc_arm *arm, const struct tlc_arm_peer *peer,
                               struct tlc_arm_loan *loan, struct tlc_target_options *target,
                               struct tlc_error *error) TLC_CHECKED;
// The arm's client certificate from its folder; an empty pair when it asks for none.
enum tlc_status tlc_arm_client(const struct tlc_arm *arm, const char *certificates,
                               struct tlc_certs_pair *pair, struct tlc_error *error) TLC_CHECKED;

#endif
