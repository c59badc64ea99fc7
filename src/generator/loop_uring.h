// What the parts of the io_uring loop share: the ring with its sockets (uring_ring.c), the requests
// and chains that run on it (uring_chain.c), and what is made of their outcome (loop_uring.c).
// Private to the room.
#ifndef TLC_GENERATOR_LOOP_URING_H
#define TLC_GENERATOR_LOOP_URING_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "generator/lane.h"
#include "generator/socket.h"

enum { TLC_URING_BUFFER_BYTES = 8192, TLC_URING_BUFFER_GROUP = 0, TLC_URING_FINISH_BYTES = 256 };

// One connection as the ring knows it.
struct tlc_uring_slot {
    int fd;              // -1: none, or the ring alone has the socket
    uint32_t generation; // of the chain in flight; completions of an earlier one are stale
    bool used;           // the socket carries, or may carry, a connection
    bool expired;
    bool keeps; // `kept` counts when the chain in flight has sent the Finished
    struct tlc_kept_handshake kept;
    int send_error;        // of a SEND that failed, while what came before it is read
    size_t sending;        // bytes of a SEND in flight that succeeds silently
    uint64_t connected_ns; // 0: not seen
    uint8_t finish[TLC_URING_FINISH_BYTES];
};

struct tlc_loop {
    struct tlc_lane *lane;
    struct tlc_socket_options sockets;
    struct io_uring ring;
    pid_t thread; // that the ring belongs to; 0: there is no ring
    struct io_uring_buf_ring *buffer_ring;
    uint8_t *buffers;
    struct tlc_uring_slot **slots;
    unsigned slot_count, registered;
    bool ring_only;       // the sockets have no descriptors
    struct sockaddr none; // AF_UNSPEC: ends a connection
    bool chains;          // an answer may be awaited in the chain that sends what it answers
};

// Makes the ring, in the calling thread, which alone may use it.
enum tlc_status tlc_uring_open(struct tlc_lane *lane, struct tlc_loop **loop,
                               struct tlc_error *error) TLC_CHECKED;
// Sockets for the lane's connections; a new ring when the thread is another one.
enum tlc_status tlc_uring_prepare(struct tlc_loop *loop, struct tlc_error *error) TLC_CHECKED;
void tlc_uring_close(struct tlc_loop *loop);
// Gives a buffer that was received into back to the kernel.
void tlc_uring_give_buffer(struct tlc_loop *loop, unsigned id);
// Ends the connection on a slot's socket now, outside of the ring.
void tlc_uring_end_socket(struct tlc_loop *loop, unsigned index);

// The requests of a chain; more than one when each but the last is linked to the next.
enum tlc_uring_operation {
    TLC_URING_FINISH,
    TLC_URING_END,
    TLC_URING_CONNECT,
    TLC_URING_SEND,
    TLC_URING_RECEIVE
};

// Links the next request to this one and keeps its success silent.
enum { TLC_URING_SILENT_LINK = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS };

// Before the first request of a chain.
void tlc_uring_begin_chain(struct tlc_loop *loop, unsigned index);
void tlc_uring_put_end(struct tlc_loop *loop, unsigned index, unsigned flags);
void tlc_uring_put_connect(struct tlc_loop *loop, unsigned index);
void tlc_uring_put_send(struct tlc_loop *loop, unsigned index, enum tlc_uring_operation operation,
                        const uint8_t *bytes, size_t count, unsigned flags);
void tlc_uring_put_receive(struct tlc_loop *loop, unsigned index);
void tlc_uring_put_receive_now(struct tlc_loop *loop, unsigned index);
// Sends what is pending. Where an answer must follow, it is awaited in the same chain, and its
// arrival tells that the bytes were sent.
void tlc_uring_put_output(struct tlc_loop *loop, unsigned index);
// Outside of any chain.
void tlc_uring_put_shutdown(struct tlc_loop *loop, unsigned index);

#endif
