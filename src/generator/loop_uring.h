// What the two halves of the io_uring loop share: the ring with its sockets (uring_ring.c) and the
// chains that run on it (loop_uring.c).
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
    int fd;
    uint32_t generation; // of the chain in flight; completions of an earlier one are stale
    bool used;           // the socket carries, or may carry, a connection
    bool expired;
    bool keeps; // `kept` counts when the chain in flight has sent the Finished
    struct tlc_kept_handshake kept;
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

#endif
