// The io_uring loop: a handshake is one linked chain of requests (end the last connection, connect,
// send the ClientHello, receive) whose links but the last are silent when they succeed. The loop
// sleeps until a batch of chains has something to tell, so that neither side is woken for each
// packet. Sockets are fixed files, used again for the next connection.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "generator/loop_uring.h"
#include "measure/clock.h"

enum { STARTS_PER_TURN = 64 };

// --- the life of a connection ---

static bool open_fresh(struct tlc_loop *loop, unsigned index)
{
    struct tlc_error error;
    struct tlc_uring_slot *slot = loop->slots[index];
    return !loop->sockets.fresh || slot->fd >= 0 ||
           tlc_socket_open(&loop->sockets, index, &slot->fd, &error) == TLC_OK;
}

// Ends the socket of a connection that is over and puts the connection on the idle stack: now, or
// when the ring tells.
static void end_connection(struct tlc_loop *loop, unsigned index)
{
    const struct tlc_uring_slot *slot = loop->slots[index];
    if (slot->used && slot->fd < 0) {
        tlc_uring_begin_chain(loop, index);
        tlc_uring_put_end(loop, index, 0);
        return;
    }
    if (slot->used)
        tlc_uring_end_socket(loop, index);
    tlc_lane_idle(loop->lane, index);
}

// Begins the connection that the lane has begun: ends the one before it on the same socket, if any,
// connects and sends the ClientHello.
static void put_beginning(struct tlc_loop *loop, unsigned index)
{
    if (loop->slots[index]->used)
        tlc_uring_put_end(loop, index, TLC_URING_SILENT_LINK);
    tlc_uring_put_connect(loop, index);
    tlc_uring_put_output(loop, index);
}

static void begin(struct tlc_loop *loop, unsigned index, enum tlc_ask ask)
{
    struct tlc_uring_slot *slot = loop->slots[index];
    struct tlc_load_connection *connection = loop->lane->connections[index];
    slot->expired = false;
    slot->connected_ns = 0;
    if (ask == TLC_ASK_SEND && slot->used && loop->sockets.fresh)
        tlc_uring_end_socket(loop, index);
    if (ask == TLC_ASK_SEND && !open_fresh(loop, index))
        ask = tlc_load_connection_broke(connection, errno);
    if (ask != TLC_ASK_SEND) {
        // It failed before it could begin. The next one waits for its turn in start_due: begun from
        // here, a lasting failure would nest without end.
        tlc_load_connection_closed(connection);
        end_connection(loop, index);
        return;
    }
    tlc_uring_begin_chain(loop, index);
    put_beginning(loop, index);
}

// The connection is over: the next one ends it on its way, or it is ended by itself.
static void close_connection(struct tlc_loop *loop, unsigned index)
{
    enum tlc_ask ask;
    tlc_load_connection_closed(loop->lane->connections[index]);
    if (tlc_lane_restart(loop->lane, index, tlc_now_ns(), &ask))
        begin(loop, index, ask);
    else
        end_connection(loop, index);
}

// Whether sending the pending output is the last that this connection does.
static bool ends_with_output(const struct tlc_loop *loop, unsigned index, size_t count)
{
    const struct tlc_load_connection *connection = loop->lane->connections[index];
    return loop->chains && !loop->sockets.fresh && count <= TLC_URING_FINISH_BYTES &&
           connection->phase == TLC_PHASE_FINISH && connection->life->close == TLC_CLOSE_RESET &&
           !tlc_load_connection_waits_after_output(connection);
}

// The client's Finished is all that is left: it goes out in one chain with the next connection's
// beginning, and the handshake counts when the chain tells that it was sent.
static void send_finish(struct tlc_loop *loop, unsigned index, const uint8_t *bytes, size_t count)
{
    struct tlc_lane *lane = loop->lane;
    struct tlc_uring_slot *slot = loop->slots[index];
    struct tlc_load_connection *connection = lane->connections[index];
    memcpy(slot->finish, bytes, count);
    tlc_load_connection_sent(connection, count, tlc_now_ns());
    slot->keeps = tlc_load_connection_keep(connection, &slot->kept);
    tlc_uring_begin_chain(loop, index);
    tlc_uring_put_send(loop, index, TLC_URING_FINISH, slot->finish, count, TLC_URING_SILENT_LINK);
    enum tlc_ask ask;
    if (!tlc_lane_restart(lane, index, tlc_now_ns(), &ask)) {
        tlc_uring_put_end(loop, index, 0);
        return;
    }
    slot->expired = false;
    slot->connected_ns = 0;
    if (ask == TLC_ASK_SEND) {
        put_beginning(loop, index);
        return;
    }
    // The next one failed before it could begin.
    tlc_uring_put_end(loop, index, 0);
    tlc_load_connection_closed(connection);
}

static void act(struct tlc_loop *loop, unsigned index, enum tlc_ask ask)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    size_t count;
    const uint8_t *bytes;
    switch (ask) {
    case TLC_ASK_SEND:
        bytes = tlc_load_connection_output(connection, &count);
        if (ends_with_output(loop, index, count)) {
            send_finish(loop, index, bytes, count);
            return;
        }
        tlc_uring_begin_chain(loop, index);
        tlc_uring_put_output(loop, index);
        return;
    case TLC_ASK_RECEIVE:
        tlc_uring_begin_chain(loop, index);
        tlc_uring_put_receive(loop, index);
        return;
    case TLC_ASK_SHUTDOWN:
        shutdown(loop->slots[index]->fd, SHUT_WR);
        act(loop, index, tlc_load_connection_shut(connection));
        return;
    case TLC_ASK_CLOSE:
        close_connection(loop, index);
        return;
    }
}

// --- completions ---

// The handshake whose Finished went ahead of this chain is settled by it.
static void settle_kept(struct tlc_loop *loop, unsigned index, enum tlc_uring_operation operation,
                        int result)
{
    struct tlc_uring_slot *slot = loop->slots[index];
    struct tlc_lane *lane = loop->lane;
    if (!slot->keeps)
        return;
    slot->keeps = false;
    if (operation != TLC_URING_FINISH)
        tlc_tally_handshake(&lane->tally, lane->life.expect, &slot->kept.facts, &slot->kept.times);
    else
        tlc_tally_error(&lane->tally,
                        result == -ECONNRESET || result == -EPIPE ? "reset" : "socket-error");
}

static void failed(struct tlc_loop *loop, unsigned index, int code)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    act(loop, index,
        loop->slots[index]->expired ? tlc_load_connection_expired(connection)
                                    : tlc_load_connection_broke(connection, code));
}

// The chain could not send the Finished: the next connection has not begun on the wire.
static void finish_failed(struct tlc_loop *loop, unsigned index)
{
    if (!tlc_load_connection_idle(loop->lane->connections[index])) {
        tlc_uring_begin_chain(loop, index);
        put_beginning(loop, index);
        return;
    }
    end_connection(loop, index);
}

static void ended(struct tlc_loop *loop, unsigned index, int result)
{
    if (!tlc_load_connection_idle(loop->lane->connections[index])) {
        failed(loop, index, -result); // in front of a connect, an end tells only its failure
        return;
    }
    loop->slots[index]->used = false;
    tlc_lane_idle(loop->lane, index);
}

static void sent(struct tlc_loop *loop, unsigned index, int result)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    struct tlc_uring_slot *slot = loop->slots[index];
    uint64_t now_ns = tlc_now_ns();
    slot->sending = 0;
    if (result >= 0) {
        act(loop, index, tlc_load_connection_sent(connection, (size_t)result, now_ns));
        return;
    }
    if (slot->expired) {
        failed(loop, index, -result);
        return;
    }
    // The reason for a reset, an alert, may be waiting in front of it.
    slot->send_error = -result;
    tlc_uring_begin_chain(loop, index);
    tlc_uring_put_receive_now(loop, index);
}

// What there was to read after a failed send.
static void explained(struct tlc_loop *loop, unsigned index, int result, const uint8_t *bytes)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    struct tlc_uring_slot *slot = loop->slots[index];
    int code = slot->send_error;
    slot->send_error = 0;
    if (result > 0 && connection->connected &&
        tlc_load_connection_input(connection, bytes, (size_t)result, tlc_now_ns()) == TLC_ASK_CLOSE)
        act(loop, index, TLC_ASK_CLOSE);
    else
        failed(loop, index, code);
}

static void received(struct tlc_loop *loop, unsigned index, int result, const uint8_t *bytes)
{
    struct tlc_load_connection *connection = loop->lane->connections[index];
    struct tlc_uring_slot *slot = loop->slots[index];
    uint64_t now_ns = tlc_now_ns();
    enum tlc_ask ask = TLC_ASK_RECEIVE;
    if (slot->send_error) {
        explained(loop, index, result, bytes);
        return;
    }
    if (slot->sending)
        ask = tlc_load_connection_sent(connection, slot->sending, slot->connected_ns);
    slot->sending = 0;
    if (ask == TLC_ASK_RECEIVE && result > 0)
        ask = tlc_load_connection_input(connection, bytes, (size_t)result, now_ns);
    else if (slot->expired)
        ask = tlc_load_connection_expired(connection);
    else if (ask == TLC_ASK_RECEIVE && result == 0)
        ask = tlc_load_connection_ended(connection);
    else if (ask == TLC_ASK_RECEIVE && result != -ENOBUFS)
        ask = tlc_load_connection_broke(connection, -result);
    act(loop, index, ask);
}

static void connected(struct tlc_loop *loop, unsigned index, int result)
{
    struct tlc_uring_slot *slot = loop->slots[index];
    slot->connected_ns = tlc_now_ns();
    if (result == 0)
        return; // the chain goes on
    slot->sending = 0;
    failed(loop, index, -result);
}

static void complete(struct tlc_loop *loop, const struct io_uring_cqe *cqe)
{
    uint64_t tag = io_uring_cqe_get_data64(cqe);
    unsigned index = (unsigned)(tag & UINT32_MAX) >> 3;
    enum tlc_uring_operation operation = (enum tlc_uring_operation)(tag & 7);
    bool has_buffer = cqe->flags & IORING_CQE_F_BUFFER;
    unsigned buffer = has_buffer ? cqe->flags >> IORING_CQE_BUFFER_SHIFT : 0;
    if (loop->slots[index]->generation == tag >> 32) {
        if (cqe->res < 0)
            loop->slots[index]->generation++; // the cancelled rest of the chain will be told, too
        if (operation != TLC_URING_CONNECT || cqe->res)
            settle_kept(loop, index, operation, cqe->res);
        switch (operation) {
        case TLC_URING_FINISH:
            finish_failed(loop, index);
            break;
        case TLC_URING_END:
            ended(loop, index, cqe->res);
            break;
        case TLC_URING_CONNECT:
            connected(loop, index, cqe->res);
            break;
        case TLC_URING_SEND:
            sent(loop, index, cqe->res);
            break;
        case TLC_URING_RECEIVE:
            received(loop, index, cqe->res,
                     loop->buffers + (size_t)buffer * TLC_URING_BUFFER_BYTES);
            break;
        }
    }
    if (has_buffer)
        tlc_uring_give_buffer(loop, buffer);
}

// --- the loop ---

static void start_due(struct tlc_loop *loop)
{
    unsigned index;
    enum tlc_ask ask;
    for (unsigned i = 0; i < STARTS_PER_TURN; i++) {
        if (!tlc_lane_start(loop->lane, tlc_now_ns(), &index, &ask))
            return;
        begin(loop, index, ask);
    }
}

// A request in flight on a connection past its deadline fails once the socket is shut down.
static void expire(struct tlc_loop *loop, uint64_t now_ns)
{
    struct tlc_lane *lane = loop->lane;
    for (unsigned i = 0; i < lane->concurrency; i++) {
        struct tlc_uring_slot *slot = loop->slots[i];
        const struct tlc_load_connection *connection = lane->connections[i];
        if (tlc_load_connection_idle(connection) || slot->expired ||
            now_ns < connection->deadline_ns)
            continue;
        slot->expired = true;
        if (slot->fd < 0)
            tlc_uring_put_shutdown(loop, i);
        else
            shutdown(slot->fd, SHUT_RDWR);
    }
}

static int wait_for_completions(struct tlc_loop *loop)
{
    struct tlc_lane *lane = loop->lane;
    unsigned open = tlc_lane_open(lane);
    unsigned batch = lane->batch < open ? lane->batch : open;
    uint64_t sleep_ns = tlc_lane_sleep_ns(lane, tlc_now_ns());
    if (lane->batch > 1 && sleep_ns > lane->batch_wait_ns)
        sleep_ns = lane->batch_wait_ns;
    struct __kernel_timespec timeout = {.tv_sec = (int64_t)(sleep_ns / 1000000000),
                                        .tv_nsec = (long long)(sleep_ns % 1000000000)};
    struct io_uring_cqe *first;
    return io_uring_submit_and_wait_timeout(&loop->ring, &first, batch ? batch : 1, &timeout, NULL);
}

static enum tlc_status uring_run(struct tlc_loop *loop, struct tlc_error *error)
{
    struct tlc_lane *lane = loop->lane;
    for (;;) {
        tlc_lane_heed_interrupt(lane);
        start_due(loop);
        uint64_t now_ns = tlc_now_ns();
        if (tlc_lane_over(lane, now_ns))
            return TLC_OK;
        if (tlc_lane_expiry_due(lane, now_ns))
            expire(loop, now_ns);
        int code = wait_for_completions(loop);
        if (code < 0 && code != -ETIME && code != -EINTR && code != -EBUSY && code != -EAGAIN) {
            errno = -code;
            return tlc_fail_errno(error, "io_uring loop: wait");
        }
        unsigned head, count = 0;
        struct io_uring_cqe *cqe;
        io_uring_for_each_cqe(&loop->ring, head, cqe)
        {
            complete(loop, cqe);
            count++;
        }
        io_uring_cq_advance(&loop->ring, count);
    }
}

const struct tlc_loop_kind tlc_loop_uring = {
    .name = "io_uring",
    .ring_holds_sockets = true,
    .open = tlc_uring_open,
    .prepare = tlc_uring_prepare,
    .run = uring_run,
    .close = tlc_uring_close,
};
