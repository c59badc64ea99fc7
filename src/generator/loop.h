// The small interface behind which event loops live. A loop owns the sockets of a lane's
// connections and carries their bytes; what the bytes mean is connection.c's affair.
#ifndef TLC_GENERATOR_LOOP_H
#define TLC_GENERATOR_LOOP_H

#include <stdbool.h>

#include "base/error.h"

struct tlc_lane;
struct tlc_loop; // state of one kind

struct tlc_loop_kind {
    const char *name;
    bool ring_holds_sockets; // those used again after a reset need no descriptor (socket.h)
    // *loop is set only when the loop is there.
    enum tlc_status (*open)(struct tlc_lane *lane, struct tlc_loop **loop, struct tlc_error *error);
    // Sockets for the lane's `concurrency` connections.
    enum tlc_status (*prepare)(struct tlc_loop *loop, struct tlc_error *error);
    // Until no start is due any more and every connection is idle.
    enum tlc_status (*run)(struct tlc_loop *loop, struct tlc_error *error);
    void (*close)(struct tlc_loop *loop);
};

extern const struct tlc_loop_kind tlc_loop_epoll, tlc_loop_uring; // io_uring: TLC_HAVE_URING

#endif
