#include "stacks/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void tlc_transport_open(struct tlc_transport *transport, int fd, bool client)
{
    *transport = (struct tlc_transport){.fd = fd, .client = client};
}

void tlc_transport_close(struct tlc_transport *transport)
{
    free(transport->in.bytes);
    free(transport->out.bytes);
    transport->in = transport->out = (struct tlc_queue){.bytes = NULL};
}

static bool reserve(struct tlc_queue *queue, size_t count)
{
    if (queue->at) {
        memmove(queue->bytes, queue->bytes + queue->at, queue->end - queue->at);
        queue->end -= queue->at;
        queue->at = 0;
    }
    if (queue->capacity - queue->end >= count)
        return true;
    size_t capacity = queue->capacity ? queue->capacity : 4096;
    while (capacity - queue->end < count) {
        if (capacity > SIZE_MAX / 2)
            return false;
        capacity *= 2;
    }
    uint8_t *grown = realloc(queue->bytes, capacity);
    if (!grown)
        return false;
    queue->bytes = grown;
    queue->capacity = capacity;
    return true;
}

static bool put(struct tlc_queue *queue, const void *bytes, size_t count)
{
    if (!count)
        return true;
    if (queue->capacity - queue->end < count && !reserve(queue, count))
        return false;
    memcpy(queue->bytes + queue->end, bytes, count);
    queue->end += count;
    return true;
}

static size_t get(struct tlc_queue *queue, void *bytes, size_t capacity)
{
    size_t waiting = queue->end - queue->at, taken = waiting < capacity ? waiting : capacity;
    if (!taken)
        return 0;
    memcpy(bytes, queue->bytes + queue->at, taken);
    queue->at += taken;
    if (queue->at == queue->end)
        queue->at = queue->end = 0;
    return taken;
}

static ssize_t trouble(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? TLC_WOULD_BLOCK : TLC_BROKEN;
}

static ssize_t receive(struct tlc_transport *transport, void *bytes, size_t count)
{
    ssize_t got = (ssize_t)get(&transport->in, bytes, count);
    if (got)
        return got;
    if (transport->fd < 0)
        return TLC_WOULD_BLOCK;
    got = recv(transport->fd, bytes, count, 0);
    return got < 0 ? trouble() : got;
}

ssize_t tlc_transport_receive(struct tlc_transport *transport, void *bytes, size_t count)
{
    ssize_t got = receive(transport, bytes, count);
    transport->starved |= got == TLC_WOULD_BLOCK;
    if (got > 0 && transport->client && !transport->watch.hello.done)
        tlc_watch_bytes(&transport->watch, bytes, (size_t)got);
    return got;
}

ssize_t tlc_transport_fill(struct tlc_transport *transport)
{
    uint8_t bytes[4096];
    if (transport->fd < 0)
        return TLC_WOULD_BLOCK; // all that was fed is there
    ssize_t got = recv(transport->fd, bytes, sizeof bytes, 0);
    if (got < 0)
        return trouble();
    return put(&transport->in, bytes, (size_t)got) ? got : TLC_BROKEN;
}

const uint8_t *tlc_transport_peek(const struct tlc_transport *transport, size_t *count)
{
    *count = transport->in.end - transport->in.at;
    return *count ? transport->in.bytes + transport->in.at : NULL;
}

static void watch_sent(struct tlc_transport *transport, const struct iovec *pieces, size_t sent)
{
    for (; sent && !transport->watch.hello.done; pieces++) {
        size_t taken = pieces->iov_len < sent ? pieces->iov_len : sent;
        tlc_watch_bytes(&transport->watch, pieces->iov_base, taken);
        sent -= taken;
    }
}

static ssize_t after_send(struct tlc_transport *transport, const struct iovec *pieces, ssize_t sent)
{
    if (sent < 0) {
        ssize_t why = trouble();
        transport->gone = why == TLC_BROKEN;
        return why;
    }
    if (!transport->client)
        watch_sent(transport, pieces, (size_t)sent);
    return sent;
}

static ssize_t send_to_memory(struct tlc_transport *transport, const struct iovec *pieces,
                              size_t count)
{
    ssize_t sent = 0;
    for (size_t i = 0; i < count; i++) {
        if (!put(&transport->out, pieces[i].iov_base, pieces[i].iov_len)) {
            errno = ENOMEM;
            return TLC_BROKEN;
        }
        sent += (ssize_t)pieces[i].iov_len;
    }
    return after_send(transport, pieces, sent);
}

ssize_t tlc_transport_send_pieces(struct tlc_transport *transport, const struct iovec *pieces,
                                  size_t count)
{
    if (transport->fd < 0)
        return send_to_memory(transport, pieces, count);
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces,
                                   .msg_iovlen = count};
    return after_send(transport, pieces, sendmsg(transport->fd, &message, MSG_NOSIGNAL));
}

ssize_t tlc_transport_send(struct tlc_transport *transport, const void *bytes, size_t count)
{
    const struct iovec piece = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
    if (transport->fd < 0)
        return send_to_memory(transport, &piece, 1);
    return after_send(transport, &piece, send(transport->fd, bytes, count, MSG_NOSIGNAL));
}

bool tlc_transport_feed(struct tlc_transport *transport, const uint8_t *bytes, size_t count)
{
    return put(&transport->in, bytes, count);
}

size_t tlc_transport_take(struct tlc_transport *transport, uint8_t *bytes, size_t capacity)
{
    return get(&transport->out, bytes, capacity);
}
