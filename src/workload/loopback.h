// Keeps servers that are not ours on the loopback address: where they may listen, and whether they
// listen anywhere else; private to the room.
#ifndef TLC_WORKLOAD_LOOPBACK_H
#define TLC_WORKLOAD_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

// A port of 127.0.0.1 that is free now, and on no other address listened at. Another process could
// take it before the server does; the server then fails to listen and says so.
enum tlc_status tlc_loopback_free(char *address, size_t capacity,
                                  struct tlc_error *error) TLC_CHECKED;
// Whether a connection to "127.0.0.1:PORT" is accepted.
bool tlc_loopback_accepts(const char *address);
// Refuses a port of the address at which this machine listens on an address that others reach.
enum tlc_status tlc_loopback_only(const char *address, struct tlc_error *error) TLC_CHECKED;
// The environment's "LD_PRELOAD=..." for a server that listens on all addresses and has no option
// for one, which keeps it on loopback. `environment` ("NAME=value", NULL-terminated; NULL: none)
// may ask for another object, which is kept.
enum tlc_status tlc_loopback_preload(const char *const *environment, char *pair, size_t capacity,
                                     struct tlc_error *error) TLC_CHECKED;

#endif
