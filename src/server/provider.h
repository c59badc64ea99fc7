// What the counters say of the crypto provider in the server's library.
// It is private to the room.
#ifndef TLC_SERVER_PROVIDER_H
#define TLC_SERVER_PROVIDER_H

#include <jansson.h>

#include "tlscost/stack.h"

// {name, version, work, operations{} or handshakes}, summed over the contexts; NULL when no
// provider was asked for. `work` is how many handshakes it can have worked in at most.
json_t *tlc_server_provider(const struct tlc_stack *stack,
                            struct tlc_stack_context *const *contexts, size_t count);

#endif
