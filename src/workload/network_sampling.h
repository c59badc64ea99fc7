// Arms that are attributed: their server is sampled in slices of its own, beside those that give
// its cost; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_SAMPLING_H
#define TLC_WORKLOAD_NETWORK_SAMPLING_H

#include <jansson.h>
#include <sys/types.h>

#include "attribute/components.h"
#include "attribute/sampler.h"
#include "base/error.h"
#include "plan/plan.h"
#include "plan/server.h"

struct tlc_sampling {
    struct tlc_sampler *sampler; // NULL: the arm is not sampled, or no more
    unsigned turn;               // whether the sampled slice or the other one comes first
    uint64_t handshakes;         // of the sampled slices
    double cost_us;              // server CPU in them, sampling included
    unsigned frequency_hz;
    bool tagged; // by the tracing provider
};

struct tlc_sampling_start {
    const struct tlc_plan *plan;
    const struct tlc_server *server; // that is not ours; NULL: ours
    pid_t root;
    const char *directory; // for the samples; made
    bool tagged;           // the tracing provider names the cryptography
};

enum tlc_status tlc_sampling_start(const struct tlc_sampling_start *start,
                                   struct tlc_sampling *sampling,
                                   struct tlc_error *error) TLC_CHECKED;
// Ends it; *told (the caller's) is what was found, as docs/attribute.md explains it.
enum tlc_status tlc_sampling_end(struct tlc_sampling *sampling,
                                 const struct tlc_components *components, json_t **told,
                                 struct tlc_error *error) TLC_CHECKED;
void tlc_sampling_drop(struct tlc_sampling *sampling);

#endif
