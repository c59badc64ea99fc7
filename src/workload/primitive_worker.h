// The worker process of a primitive arm: one operation, driven over the control socket
// (docs/control-speed.md).
#ifndef TLC_WORKLOAD_PRIMITIVE_WORKER_H
#define TLC_WORKLOAD_PRIMITIVE_WORKER_H

#include "base/error.h"

struct tlc_primitive_options {
    const char *stack, *operation;
    const char *provider; // NULL: the library's own
};

// Prepares the operation, says so on the control socket and serves commands until "stop" or until
// the other end is closed.
enum tlc_status tlc_primitive_serve(const struct tlc_primitive_options *options,
                                    struct tlc_error *error) TLC_CHECKED;

#endif
