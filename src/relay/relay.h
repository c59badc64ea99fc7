// The delay relay: takes connections on loopback, opens one to the server for each, and hands the
// bytes on when the model of the path (path.h) says that they arrive. A thread of its own.
#ifndef TLC_RELAY_RELAY_H
#define TLC_RELAY_RELAY_H

#include "base/error.h"
#include "relay/path.h"

// The byte a relay sends to a client once the handshake of TCP would be over (see tlc_relay_route).
enum { TLC_RELAY_ESTABLISHED = 0x06 };

struct tlc_relay;

enum tlc_status tlc_relay_new(uint64_t seed, struct tlc_relay **relay,
                              struct tlc_error *error) TLC_CHECKED;
// A new listening address for `server` ("127.0.0.1:PORT"; loopback only) over a path, before the
// start. The kernel accepts at once, so the client's bytes are held back by the time that TCP's own
// handshake takes on the path. With `announce` the client is told of that moment by one byte
// (TLC_RELAY_ESTABLISHED) before the server's first: it can then wait as it would have to.
enum tlc_status tlc_relay_route(struct tlc_relay *relay, const char *server,
                                const struct tlc_path *path, bool announce, char *address,
                                size_t capacity, struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_relay_start(struct tlc_relay *relay, struct tlc_error *error) TLC_CHECKED;

// How late the relay's own deliveries were against the model's times, in microseconds; read after
// the stop. Deliveries beyond the first million are not kept.
struct tlc_relay_lateness {
    const uint32_t *us; // in no order
    size_t count;
    uint64_t connections, refused; // refused: the server took no connection, or memory ran out
};
void tlc_relay_stop(struct tlc_relay *relay);
struct tlc_relay_lateness tlc_relay_lateness(const struct tlc_relay *relay);
void tlc_relay_free(struct tlc_relay *relay); // stops it as well; NULL is allowed

#endif
