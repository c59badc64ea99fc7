// Connects a stream socket with a deadline (private to the room). Errors leave it to the caller to
// name the address.
#ifndef TLC_EVIDENCE_CONNECT_H
#define TLC_EVIDENCE_CONNECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "evidence/probe.h"

// The host of "HOST:PORT" or "[ADDRESS]:PORT"; empty for "unix:/path".
enum tlc_status tlc_address_host(const char *address, char *host, size_t capacity,
                                 struct tlc_error *error) TLC_CHECKED;
// A connected, non-blocking socket; the caller closes it. `deadline_ns` is on tlc_now_ns's clock.
enum tlc_status tlc_connect(const char *address, const struct tlc_socket_maker *maker,
                            uint64_t deadline_ns, int *fd, struct tlc_error *error) TLC_CHECKED;
// Waits for `events` (poll(2)) until the deadline: 1 ready, 0 too late, -1 with errno.
int tlc_wait_fd(int fd, short events, uint64_t deadline_ns);

#endif
