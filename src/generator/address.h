// Where a target listens, how far away that is, and from which addresses connections come.
#ifndef TLC_GENERATOR_ADDRESS_H
#define TLC_GENERATOR_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum tlc_scope {
    TLC_SCOPE_LOCAL,   // Unix socket
    TLC_SCOPE_NEAR,    // loopback, private (RFC 1918, RFC 4193), link-local (RFC 3927, RFC 4291)
    TLC_SCOPE_ANYWHERE // everything else
};

struct tlc_target_address {
    struct sockaddr_storage storage;
    socklen_t length;
    enum tlc_scope scope;
};

// Parses "HOST:PORT", "[IPv6]:PORT" or "unix:/path"; a host name gives its first address.
enum tlc_status tlc_target_address_parse(const char *text, struct tlc_target_address *address,
                                         struct tlc_error *error) TLC_CHECKED;
enum tlc_scope tlc_target_address_scope(const struct sockaddr *address);
// The source of the `index`-th of `spread` addresses of 127.0.0.0/8, for a target there; false when
// the target lies elsewhere or one address is enough (spread 1): the kernel then chooses.
bool tlc_target_address_source(const struct tlc_target_address *target, unsigned index,
                               unsigned spread, struct tlc_target_address *source);

#endif
