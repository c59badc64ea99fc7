// Runs a plan of the workload `connect` for `run` and `connect-time`.
#ifndef TLC_CLI_CONNECT_RUN_H
#define TLC_CLI_CONNECT_RUN_H

#include <jansson.h>
#include <stdbool.h>

#include "connect/connect.h"

bool tlc_is_connect_plan(const struct tlc_plan *plan);
// `options` needs plan, network, seed and server_cpus; folders are made here, logs kept on request.
enum tlc_status tlc_connect_measure(struct tlc_connect_options *options, bool quiet, bool keep_logs,
                                    json_t **result, struct tlc_error *error) TLC_CHECKED;

#endif
