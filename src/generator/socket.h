// Sockets of the load: made, connected, ended.
#ifndef TLC_GENERATOR_SOCKET_H
#define TLC_GENERATOR_SOCKET_H

#include <stdbool.h>

#include "generator/address.h"

struct tlc_lane;

struct tlc_socket_options {
    const struct tlc_target_address *to;
    unsigned spread; // source addresses to take turns with; 1: the kernel chooses
    unsigned first;  // of this lane
    bool fresh;      // a new socket for every connection
};

void tlc_socket_options_of(const struct tlc_lane *lane, struct tlc_socket_options *options);
// A non-blocking socket for the `index`-th connection, bound when source addresses are spread.
enum tlc_status tlc_socket_open(const struct tlc_socket_options *options, unsigned index, int *fd,
                                struct tlc_error *error) TLC_CHECKED;
// Starts to connect; 0 or the errno of what went wrong.
int tlc_socket_connect(const struct tlc_socket_options *options, int fd);
// Ends the connection, by reset unless it ended in order. False: the socket must be closed, which
// then ends it the same way; true: it can be connected again.
bool tlc_socket_end(const struct tlc_socket_options *options, int fd, bool orderly);
// Whether the lane's sockets have descriptors: those that a ring holds and ends by reset have none.
bool tlc_socket_needs_file(const struct tlc_lane *lane);
// Raises the limit of open files to hold `wanted` more sockets.
enum tlc_status tlc_socket_limit_raise(unsigned wanted, struct tlc_error *error) TLC_CHECKED;

#endif
