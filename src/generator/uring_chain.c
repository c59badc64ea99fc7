// Requests of the io_uring loop and the chains they make.
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "generator/loop_uring.h"

enum { CHAIN = 5 }; // requests of the longest chain

static uint64_t tag_of(const struct tlc_loop *loop, unsigned index,
                       enum tlc_uring_operation operation)
{
    return (uint64_t)loop->slots[index]->generation << 32 | (uint64_t)index << 3 |
           (uint64_t)operation;
}

// A request of a chain; `more` links the next one to it and keeps its success silent.
static void finish_request(struct tlc_loop *loop, struct io_uring_sqe *sqe, unsigned index,
                           enum tlc_uring_operation operation, unsigned flags)
{
    if (!loop->sockets.fresh)
        flags |= IOSQE_FIXED_FILE;
    sqe->flags = (uint8_t)(sqe->flags | flags);
    io_uring_sqe_set_data64(sqe, tag_of(loop, index, operation));
}

static int file_of(const struct tlc_loop *loop, unsigned index)
{
    return loop->sockets.fresh ? loop->slots[index]->fd : (int)index;
}

// Room for a whole chain: one that is cut by a submission would lose its links.
static void make_room(struct tlc_loop *loop)
{
    while (io_uring_sq_space_left(&loop->ring) < CHAIN) {
        int code = io_uring_submit(&loop->ring);
        if (code < 0 && code != -EAGAIN && code != -EINTR && code != -EBUSY)
            abort(); // only a request that this file made wrong is refused for good
    }
}

void tlc_uring_begin_chain(struct tlc_loop *loop, unsigned index)
{
    make_room(loop);
    loop->slots[index]->generation++;
}

void tlc_uring_put_end(struct tlc_loop *loop, unsigned index, unsigned flags)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_connect(sqe, file_of(loop, index), &loop->none, sizeof loop->none);
    finish_request(loop, sqe, index, TLC_URING_END, flags);
}

void tlc_uring_put_connect(struct tlc_loop *loop, unsigned index)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_connect(sqe, file_of(loop, index),
                          (const struct sockaddr *)&loop->sockets.to->storage,
                          loop->sockets.to->length);
    // Without batching the time of the connect is seen, so it is asked for.
    bool silent = loop->lane->batch > 1;
    finish_request(loop, sqe, index, TLC_URING_CONNECT,
                   silent ? TLC_URING_SILENT_LINK : IOSQE_IO_LINK);
    loop->slots[index]->used = true;
}

void tlc_uring_put_send(struct tlc_loop *loop, unsigned index, enum tlc_uring_operation operation,
                        const uint8_t *bytes, size_t count, unsigned flags)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_send(sqe, file_of(loop, index), bytes, count, MSG_NOSIGNAL | MSG_WAITALL);
    finish_request(loop, sqe, index, operation, flags);
}

void tlc_uring_put_receive(struct tlc_loop *loop, unsigned index)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_recv(sqe, file_of(loop, index), NULL, TLC_URING_BUFFER_BYTES, 0);
    // The answer cannot be there yet: wait first instead of trying.
    sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    sqe->buf_group = TLC_URING_BUFFER_GROUP;
    finish_request(loop, sqe, index, TLC_URING_RECEIVE, IOSQE_BUFFER_SELECT);
}

// Sends what is pending. Where an answer must follow, it is awaited in the same chain, and its
// arrival tells that the bytes were sent.
void tlc_uring_put_output(struct tlc_loop *loop, unsigned index)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    size_t count;
    const uint8_t *bytes = tlc_load_connection_output(connection, &count);
    if (!loop->chains || !tlc_load_connection_waits_after_output(connection)) {
        tlc_uring_put_send(loop, index, TLC_URING_SEND, bytes, count, 0);
        return;
    }
    loop->slots[index]->sending = count;
    tlc_uring_put_send(loop, index, TLC_URING_SEND, bytes, count, TLC_URING_SILENT_LINK);
    tlc_uring_put_receive(loop, index);
}

// Every request in flight on the socket fails. Its own outcome does not matter: no chain has
// generation 0.
void tlc_uring_put_shutdown(struct tlc_loop *loop, unsigned index)
{
    make_room(loop);
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_shutdown(sqe, file_of(loop, index), SHUT_RDWR);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, (uint64_t)index << 3);
}

// What has already come, without waiting for more.
void tlc_uring_put_receive_now(struct tlc_loop *loop, unsigned index)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&loop->ring);
    io_uring_prep_recv(sqe, file_of(loop, index), NULL, TLC_URING_BUFFER_BYTES, MSG_DONTWAIT);
    sqe->buf_group = TLC_URING_BUFFER_GROUP;
    finish_request(loop, sqe, index, TLC_URING_RECEIVE, IOSQE_BUFFER_SELECT);
}
