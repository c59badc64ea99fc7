// What the counters say of the crypto provider in the server's library.
// It is private to the room.
#ifndef TLC_SERVER_PROVIDER_H
#define TLC_SERVER_PROVIDER_H

#include <jansson.h>

#include "server/worker.h"

// {name, version, work, operations{} or handshakes}; NULL when no provider was asked for. `work` is
// how many handshakes it can have worked in at most.
json_t *tlc_server_provider(const struct tlc_host *host);
// Adds "NAME=COUNT NAME=COUNT" to an object; returns the largest count.
json_int_t tlc_provider_operations(const char *text, json_t *operations);

#endif
