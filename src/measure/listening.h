// Who may reach a port of this machine: sockets that listen on other addresses than loopback.
#ifndef TLC_MEASURE_LISTENING_H
#define TLC_MEASURE_LISTENING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

// Whether a table of the kernel (/proc/net/tcp or tcp6 as text) has a listening socket with the
// port on an address other than 127.0.0.0/8, the same mapped into IPv6, and ::1.
bool tlc_listening_in(const char *table, uint16_t port);
// The same of this machine's tables.
enum tlc_status tlc_listening_beyond(uint16_t port, bool *beyond,
                                     struct tlc_error *error) TLC_CHECKED;

#endif
