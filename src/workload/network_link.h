// Links and addresses of the network namespace that the caller is in; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_LINK_H
#define TLC_WORKLOAD_NETWORK_LINK_H

#include "base/error.h"

// Makes a veth pair: `name` here, `peer` in the namespace of the descriptor `peer_namespace`.
enum tlc_status tlc_link_make_veth(const char *name, const char *peer, int peer_namespace,
                                   struct tlc_error *error) TLC_CHECKED;
// Gives a link an IPv4 address of a network of `prefix` bits (NULL: it has one) and sets it up.
enum tlc_status tlc_link_set_up(const char *name, const char *address, unsigned prefix,
                                struct tlc_error *error) TLC_CHECKED;

#endif
