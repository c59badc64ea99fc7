// The worker of the memory workload: a process of its own that makes handshakes between a client
// and a server inside itself, as the orchestrator asks over its control socket (docs/pair.md).
#ifndef TLC_WORKLOAD_MEMORY_H
#define TLC_WORKLOAD_MEMORY_H

#include "base/error.h"

// Serves messages on `control` until "stop" or the peer's end.
enum tlc_status tlc_memory_serve(int control, struct tlc_error *error) TLC_CHECKED;

#endif
