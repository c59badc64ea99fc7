// The io_uring loop's ring: its buffers, and its sockets as fixed files.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generator/loop_uring.h"

enum {
    ENTRIES = 2048,
    COMPLETIONS = 16384,
    BUFFERS = 256,
    GIVEN_AT_ONCE = 16 // sockets given to the ring; so many descriptors are used meanwhile
};

static enum tlc_status refused(int code, const char *what, struct tlc_error *error)
{
    errno = code < 0 ? -code : code;
    return tlc_fail_errno(error,
                          "io_uring loop: %s: the kernel refuses (kernel.io_uring_disabled, a "
                          "seccomp filter, or Linux older than 6.1); use --loop epoll",
                          what);
}

void tlc_uring_give_buffer(struct tlc_loop *loop, unsigned id)
{
    io_uring_buf_ring_add(loop->buffer_ring, loop->buffers + (size_t)id * TLC_URING_BUFFER_BYTES,
                          TLC_URING_BUFFER_BYTES, (unsigned short)id,
                          io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(loop->buffer_ring, 1);
}

static enum tlc_status buffers_open(struct tlc_loop *loop, struct tlc_error *error)
{
    size_t ring_bytes = BUFFERS * sizeof(struct io_uring_buf);
    void *ring = NULL, *bytes = NULL;
    if (posix_memalign(&ring, 4096, ring_bytes) ||
        posix_memalign(&bytes, 4096, (size_t)BUFFERS * TLC_URING_BUFFER_BYTES)) {
        free(ring);
        return tlc_fail(error, TLC_ENVIRONMENT, "io_uring loop: out of memory");
    }
    memset(ring, 0, ring_bytes);
    loop->buffer_ring = ring;
    loop->buffers = bytes;
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)ring, .ring_entries = BUFFERS, .bgid = TLC_URING_BUFFER_GROUP};
    int code = io_uring_register_buf_ring(&loop->ring, &registration, 0);
    if (code)
        return refused(code, "register buffers", error);
    io_uring_buf_ring_init(loop->buffer_ring);
    for (unsigned id = 0; id < BUFFERS; id++)
        tlc_uring_give_buffer(loop, id);
    return TLC_OK;
}

static void ring_close(struct tlc_loop *loop)
{
    if (loop->thread)
        io_uring_queue_exit(&loop->ring);
    free(loop->buffer_ring);
    free(loop->buffers);
    loop->thread = 0;
    loop->registered = 0;
    loop->buffer_ring = NULL;
    loop->buffers = NULL;
}

static enum tlc_status ring_open(struct tlc_loop *loop, struct tlc_error *error)
{
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER |
                                              IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
                                     .cq_entries = COMPLETIONS};
    int code = io_uring_queue_init_params(ENTRIES, &loop->ring, &params);
    if (code)
        return refused(code, "make a ring", error);
    loop->thread = gettid();
    if (!(params.features & IORING_FEAT_EXT_ARG) || !(params.features & IORING_FEAT_CQE_SKIP))
        return refused(ENOSYS, "features of the ring", error);
    return buffers_open(loop, error);
}

void tlc_uring_close(struct tlc_loop *loop)
{
    ring_close(loop);
    for (unsigned i = 0; i < loop->slot_count; i++) {
        if (loop->slots[i]->fd >= 0)
            close(loop->slots[i]->fd);
        free(loop->slots[i]);
    }
    free(loop->slots);
    free(loop);
}

enum tlc_status tlc_uring_open(struct tlc_lane *lane, struct tlc_loop **loop,
                               struct tlc_error *error)
{
    struct tlc_loop *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "io_uring loop: out of memory");
    made->lane = lane;
    made->none.sa_family = AF_UNSPEC;
    enum tlc_status status = ring_open(made, error);
    if (status != TLC_OK) {
        tlc_uring_close(made);
        return status;
    }
    *loop = made;
    return TLC_OK;
}

static bool grow_slots(struct tlc_loop *loop, unsigned wanted)
{
    struct tlc_uring_slot **slots = realloc(loop->slots, wanted * sizeof(struct tlc_uring_slot *));
    if (!slots)
        return false;
    loop->slots = slots;
    for (; loop->slot_count < wanted; loop->slot_count++) {
        slots[loop->slot_count] = calloc(1, sizeof(struct tlc_uring_slot));
        if (!slots[loop->slot_count])
            return false;
        slots[loop->slot_count]->fd = -1;
    }
    return true;
}

// All sockets are new from here on.
static void drop_sockets(struct tlc_loop *loop)
{
    if (loop->registered)
        io_uring_unregister_files(&loop->ring);
    loop->registered = 0;
    for (unsigned i = 0; i < loop->slot_count; i++) {
        struct tlc_uring_slot *slot = loop->slots[i];
        if (slot->fd >= 0)
            close(slot->fd);
        slot->fd = -1;
        slot->used = false;
    }
}

// Puts new sockets in the places of the ring's table from `first` on.
static enum tlc_status give_sockets(struct tlc_loop *loop, unsigned first, unsigned count,
                                    struct tlc_error *error)
{
    int files[GIVEN_AT_ONCE];
    unsigned made = 0;
    enum tlc_status status = TLC_OK;
    while (made < count && status == TLC_OK) {
        status = tlc_socket_open(&loop->sockets, first + made, &files[made], error);
        made += status == TLC_OK;
    }
    if (status == TLC_OK) {
        int code = io_uring_register_files_update(&loop->ring, first, files, count);
        if (code != (int)count)
            status = refused(code < 0 ? code : ENFILE, "give it sockets", error);
    }
    for (unsigned i = 0; i < made; i++)
        close(files[i]);
    return status;
}

// Sockets that only the ring knows, so that no descriptor is spent on them.
static enum tlc_status open_in_ring(struct tlc_loop *loop, struct tlc_error *error)
{
    unsigned count = loop->lane->concurrency;
    if (loop->registered >= count)
        return TLC_OK;
    drop_sockets(loop);
    int code = io_uring_register_files_sparse(&loop->ring, count);
    if (code)
        return refused(code, "make room for sockets", error);
    loop->registered = count;
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < count && status == TLC_OK; i += GIVEN_AT_ONCE)
        status =
            give_sockets(loop, i, count - i < GIVEN_AT_ONCE ? count - i : GIVEN_AT_ONCE, error);
    if (status != TLC_OK)
        drop_sockets(loop);
    return status;
}

static enum tlc_status register_files(struct tlc_loop *loop, struct tlc_error *error)
{
    unsigned count = loop->lane->concurrency;
    if (loop->sockets.fresh || loop->registered >= count)
        return TLC_OK;
    int *files = malloc(count * sizeof *files);
    if (!files)
        return tlc_fail(error, TLC_ENVIRONMENT, "io_uring loop: out of memory");
    for (unsigned i = 0; i < count; i++)
        files[i] = loop->slots[i]->fd;
    if (loop->registered)
        io_uring_unregister_files(&loop->ring);
    int code = io_uring_register_files(&loop->ring, files, count);
    free(files);
    loop->registered = code ? 0 : count;
    return code ? refused(code, "register sockets", error) : TLC_OK;
}

static enum tlc_status open_with_descriptors(struct tlc_loop *loop, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < loop->lane->concurrency && status == TLC_OK; i++)
        if (loop->slots[i]->fd < 0)
            status = tlc_socket_open(&loop->sockets, i, &loop->slots[i]->fd, error);
    return status == TLC_OK ? register_files(loop, error) : status;
}

enum tlc_status tlc_uring_prepare(struct tlc_loop *loop, struct tlc_error *error)
{
    struct tlc_lane *lane = loop->lane;
    bool ring_only = !tlc_socket_needs_file(lane);
    // A ring serves only the thread that made it (IORING_SETUP_SINGLE_ISSUER).
    if (loop->thread != gettid()) {
        if (loop->ring_only)
            drop_sockets(loop);
        ring_close(loop);
        enum tlc_status status = ring_open(loop, error);
        if (status != TLC_OK)
            return status;
    }
    tlc_socket_options_of(lane, &loop->sockets);
    loop->chains =
        lane->context->kind->output_stays && !lane->life.split_at && !lane->life.split_every;
    if (lane->concurrency > loop->slot_count && !grow_slots(loop, lane->concurrency))
        return tlc_fail(error, TLC_ENVIRONMENT, "io_uring loop: out of memory");
    if (ring_only != loop->ring_only)
        drop_sockets(loop);
    loop->ring_only = ring_only;
    return ring_only ? open_in_ring(loop, error) : open_with_descriptors(loop, error);
}

void tlc_uring_end_socket(struct tlc_loop *loop, unsigned index)
{
    struct tlc_uring_slot *slot = loop->slots[index];
    slot->used = false;
    if (loop->sockets.fresh) {
        close(slot->fd);
        slot->fd = -1;
        return;
    }
    connect(slot->fd, &loop->none, sizeof loop->none);
}
