#include "relay/stream.h"

#include <stdlib.h>
#include <string.h>

void tlc_stream_init(struct tlc_stream *stream, const struct tlc_path *path, uint64_t seed,
                     uint64_t open_ns)
{
    *stream = (struct tlc_stream){.open_ns = open_ns};
    tlc_flow_init(&stream->flow, path, seed);
}

void tlc_stream_free(struct tlc_stream *stream)
{
    tlc_flow_free(&stream->flow);
    free(stream->bytes);
    free(stream->due);
    stream->bytes = NULL;
    stream->due = NULL;
}

// Makes room for `count` elements more behind `to`, moving what is left to the front.
static void *make_room(void *store, size_t size, size_t *from, size_t *to, size_t *capacity,
                       size_t count)
{
    char *moved = store;
    if (*from) {
        memmove(moved, moved + *from * size, (*to - *from) * size);
        *to -= *from;
        *from = 0;
    }
    if (*capacity - *to >= count)
        return store;
    size_t wanted = 2 * (*to + count);
    char *grown = realloc(store, wanted * size);
    if (grown)
        *capacity = wanted;
    return grown;
}

static bool room_for_bytes(struct tlc_stream *stream, size_t count)
{
    if (stream->capacity - stream->to >= count)
        return true;
    void *room = make_room(stream->bytes, 1, &stream->from, &stream->to, &stream->capacity, count);
    if (room)
        stream->bytes = room;
    stream->broken = stream->broken || !room;
    return room;
}

static void add_due(void *user, struct tlc_delivery delivery)
{
    struct tlc_stream *stream = user;
    if (stream->due_capacity == stream->due_to) {
        void *room = make_room(stream->due, sizeof *stream->due, &stream->due_from, &stream->due_to,
                               &stream->due_capacity, 1);
        stream->broken = stream->broken || !room;
        if (!room)
            return;
        stream->due = room;
    }
    stream->due[stream->due_to++] = delivery;
}

static uint64_t not_before(uint64_t time_ns, uint64_t least_ns)
{
    return time_ns > least_ns ? time_ns : least_ns;
}

void tlc_stream_send(struct tlc_stream *stream, uint64_t now_ns, const uint8_t *bytes, size_t count)
{
    if (!room_for_bytes(stream, count))
        return;
    memcpy(stream->bytes + stream->to, bytes, count);
    stream->to += count;
    uint64_t sent_ns = not_before(now_ns, stream->open_ns);
    if (!tlc_flow_send(&stream->flow, sent_ns, count, add_due, stream))
        stream->broken = true;
}

void tlc_stream_announce(struct tlc_stream *stream, uint64_t at_ns, uint8_t byte)
{
    if (!room_for_bytes(stream, 1))
        return;
    stream->bytes[stream->to++] = byte;
    add_due(stream, (struct tlc_delivery){.bytes = 1, .at_ns = at_ns});
}

void tlc_stream_end(struct tlc_stream *stream, uint64_t now_ns)
{
    uint64_t arrival = not_before(now_ns, stream->open_ns) + stream->flow.path->one_way_ns;
    stream->ended = true;
    stream->end_ns = not_before(arrival, stream->flow.delivered_ns);
}

const uint8_t *tlc_stream_next(const struct tlc_stream *stream, struct tlc_delivery *next)
{
    if (stream->due_from == stream->due_to)
        return NULL;
    *next = stream->due[stream->due_from];
    return stream->bytes + stream->from;
}

void tlc_stream_taken(struct tlc_stream *stream, size_t count)
{
    struct tlc_delivery *oldest = &stream->due[stream->due_from];
    stream->from += count;
    oldest->bytes -= count;
    if (!oldest->bytes)
        stream->due_from++;
}

bool tlc_stream_full(const struct tlc_stream *stream)
{
    return stream->to - stream->from >= TLC_STREAM_MOST;
}
