// Listening sockets: addresses as text, and back.
// It is private to the room.
#ifndef TLC_SERVER_LISTENER_H
#define TLC_SERVER_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"

#define TLC_ADDRESS_BYTES 160

struct tlc_address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_un local;
    };
    socklen_t length;
    bool loopback; // reached from this machine only
};

// Parses "ADDR:PORT", "[IPv6]:PORT", "PORT", ":PORT" (loopback) and "unix:PATH". Names other than
// "localhost" are refused: what they resolve to is not what the user wrote.
enum tlc_status tlc_address_parse(const char *text, struct tlc_address *address,
                                  struct tlc_error *error) TLC_CHECKED;
// Binds and listens; with port 0 the port found is written back to `address`. A stale unix socket
// is replaced.
enum tlc_status tlc_listen(struct tlc_address *address, int backlog, bool reuse_port, int *fd,
                           struct tlc_error *error) TLC_CHECKED;
// The text form that tlc_address_parse reads.
void tlc_address_text(const struct tlc_address *address, char text[TLC_ADDRESS_BYTES]);

#endif
