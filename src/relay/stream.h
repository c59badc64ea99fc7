// Bytes on their way in one direction of a relayed connection, each with its time; private to the
// room.
#ifndef TLC_RELAY_STREAM_H
#define TLC_RELAY_STREAM_H

#include "relay/path.h"

enum { TLC_STREAM_MOST = 1 << 20 }; // bytes on their way beyond which no more are read

struct tlc_stream {
    struct tlc_flow flow;
    uint8_t *bytes;
    size_t from, to, capacity;
    struct tlc_delivery *due; // oldest at `due_from`
    size_t due_from, due_to, due_capacity;
    uint64_t open_ns; // nothing is sent before
    bool ended;       // the sender has no more
    uint64_t end_ns;  // when its FIN arrives
    bool broken;      // memory ran out
};

void tlc_stream_init(struct tlc_stream *stream, const struct tlc_path *path, uint64_t seed,
                     uint64_t open_ns);
void tlc_stream_free(struct tlc_stream *stream);
// Bytes that the sender's TCP takes now.
void tlc_stream_send(struct tlc_stream *stream, uint64_t now_ns, const uint8_t *bytes,
                     size_t count);
// A byte of the relay's own that is due at `at_ns`, before anything was sent.
void tlc_stream_announce(struct tlc_stream *stream, uint64_t at_ns, uint8_t byte);
void tlc_stream_end(struct tlc_stream *stream, uint64_t now_ns);
// The oldest segment that has not arrived: its bytes, how many and when; NULL: none is on its way.
const uint8_t *tlc_stream_next(const struct tlc_stream *stream, struct tlc_delivery *next);
// So many of its bytes were handed on.
void tlc_stream_taken(struct tlc_stream *stream, size_t count);
bool tlc_stream_full(const struct tlc_stream *stream);

#endif
