// Arms whose server is traced (docs/trace.md): the file it shares, the configuration that loads the
// tracing provider, the figures; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_TRACE_H
#define TLC_WORKLOAD_NETWORK_TRACE_H

#include "workload/network_state.h"
#include "workload/workload.h"

// The component in which the arm burns; TLC_NO_COMPONENT: its server does, between handshakes'
// steps.
unsigned tlc_network_burn_component(const struct tlc_arm *arm);
// Makes the file of the instance of arm `host`, when that is traced, and the sums of its arms.
enum tlc_status tlc_network_trace_open(struct tlc_workload *workload, size_t host, char file[600],
                                       struct tlc_error *error) TLC_CHECKED;
// Writes a configuration of OpenSSL that loads the tracing provider.
enum tlc_status tlc_trace_configuration(const struct tlc_arm *arm, const char *trace_file,
                                        const char *path, struct tlc_error *error) TLC_CHECKED;
void tlc_network_trace_stay(const struct network_arm *state, struct tlc_stay *stay);

#endif
