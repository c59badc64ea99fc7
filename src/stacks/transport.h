// Private to the room.
// What libraries with I/O callbacks read from and write to: a socket or memory, with the evidence
// that the bytes give on their way (watch.h).
#ifndef TLC_STACKS_TRANSPORT_H
#define TLC_STACKS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "stacks/watch.h"

struct tlc_queue {
    uint8_t *bytes;
    size_t at, end, capacity; // what waits is bytes[at, end)
};

struct tlc_transport {
    int fd; // -1: on memory
    bool client;
    bool gone;                // the peer took no more bytes
    bool starved;             // receive had nothing since this was last cleared
    struct tlc_queue in, out; // from the peer (on a socket what fill brought), to the peer
    struct tlc_watch watch;
};

enum { TLC_WOULD_BLOCK = -1, TLC_BROKEN = -2 };

void tlc_transport_open(struct tlc_transport *transport, int fd, bool client);
void tlc_transport_close(struct tlc_transport *transport);
// Bytes moved; TLC_WOULD_BLOCK, TLC_BROKEN, and for receive 0 at the peer's end.
ssize_t tlc_transport_receive(struct tlc_transport *transport, void *bytes, size_t count);
ssize_t tlc_transport_send(struct tlc_transport *transport, const void *bytes, size_t count);
// All pieces at once, as writev(2) does.
ssize_t tlc_transport_send_pieces(struct tlc_transport *transport, const struct iovec *pieces,
                                  size_t count);
// Reads what is there without taking it: fill adds bytes (with the results of receive), peek shows
// what waits until the next call.
ssize_t tlc_transport_fill(struct tlc_transport *transport);
const uint8_t *tlc_transport_peek(const struct tlc_transport *transport, size_t *count);
bool tlc_transport_feed(struct tlc_transport *transport, const uint8_t *bytes, size_t count);
size_t tlc_transport_take(struct tlc_transport *transport, uint8_t *bytes, size_t capacity);

#endif
