#include "server/worker.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure/allocations.h"
#include "server/connection.h"

enum {
    EVENTS = 128,
    ACCEPT_BATCH = 16,   // a wake-up takes so many connections, then lets the open ones have a turn
    DRAIN_BATCH = 4096,  // of those that wait in the accept queue when the server stops
    ACCEPT_PAUSE_MS = 10 // without descriptors or memory the listener is left alone for so long
};

static uint64_t coarse_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static int listen_for(struct tlc_worker *worker, bool exclusive)
{
    struct epoll_event event = {.events = EPOLLIN | (exclusive ? EPOLLEXCLUSIVE : 0u),
                                .data.ptr = &worker->listener};
    int result = epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->listener, &event);
    worker->listening = result == 0;
    return result;
}

static void stop_listening(struct tlc_worker *worker)
{
    if (worker->listening)
        epoll_ctl(worker->epoll, EPOLL_CTL_DEL, worker->listener, NULL);
    worker->listening = false;
    worker->listen_again_ms = worker->now_ms + ACCEPT_PAUSE_MS;
}

enum tlc_status tlc_worker_open(struct tlc_worker *worker, struct tlc_host *host,
                                struct tlc_stack_context *context, int listener, bool exclusive,
                                struct tlc_error *error)
{
    worker->host = host;
    worker->context = context;
    worker->listener = listener;
    worker->exclusive = exclusive;
    worker->handshaking = (struct tlc_link){&worker->handshaking, &worker->handshaking};
    worker->established = (struct tlc_link){&worker->established, &worker->established};
    worker->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    worker->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &worker->wake};
    if (worker->wake < 0 || worker->epoll < 0 ||
        epoll_ctl(worker->epoll, EPOLL_CTL_ADD, worker->wake, &event) ||
        listen_for(worker, exclusive)) {
        enum tlc_status status = tlc_fail_errno(error, "serve: worker: epoll");
        tlc_worker_close(worker);
        return status;
    }
    return TLC_OK;
}

void tlc_worker_close(struct tlc_worker *worker)
{
    tlc_connection_pools_free(worker);
    if (worker->wake >= 0)
        close(worker->wake);
    if (worker->epoll >= 0)
        close(worker->epoll);
    worker->wake = worker->epoll = -1;
}

void tlc_worker_wake(struct tlc_worker *worker)
{
    eventfd_write(worker->wake, 1);
}

static void accept_some(struct tlc_worker *worker, int batch)
{
    for (int i = 0; i < batch; i++) {
        int fd = accept4(worker->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            tlc_connection_begin(worker, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            // The queue keeps the connection; asking again at once would only burn CPU.
            stop_listening(worker);
            return;
        } else if (errno == EAGAIN || errno == EINVAL) {
            return; // nothing left, or another worker shut the listener down
        }
        // Anything else concerns the one connection, which is gone (accept(2)).
    }
}

// Milliseconds until something is due without an event; -1: nothing is.
static int time_left(const struct tlc_worker *worker)
{
    uint64_t due = UINT64_MAX;
    if (worker->again)
        return 0;
    if (worker->handshaking.after != &worker->handshaking)
        due = ((const struct tlc_connection *)worker->handshaking.after)->deadline_ms;
    if (worker->drain_until_ms && worker->drain_until_ms < due)
        due = worker->drain_until_ms;
    if (!worker->drain_until_ms && !worker->listening && worker->listen_again_ms < due)
        due = worker->listen_again_ms;
    if (due == UINT64_MAX)
        return -1;
    // The coarse clock lags by up to a tick: one millisecond more avoids a turn for nothing.
    uint64_t left = due > worker->now_ms ? due - worker->now_ms + 1 : 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

// Tells the control thread, if it asked, that this worker holds no connection.
static void show_idle(struct tlc_worker *worker)
{
    atomic_store(&worker->idle, true);
    if (atomic_load(&worker->host->waiting))
        eventfd_write(worker->host->wake_control, 1);
}

static int wait_for_events(struct tlc_worker *worker, struct epoll_event *events)
{
    bool idle = !worker->open && worker->listening;
    if (idle)
        show_idle(worker);
    int count = epoll_wait(worker->epoll, events, EVENTS, time_left(worker));
    // Before the next accept4, so that a connection that left the queue is never overlooked.
    if (idle)
        atomic_store(&worker->idle, false);
    worker->now_ms = coarse_ms();
    return count;
}

static void begin_to_stop(struct tlc_worker *worker)
{
    // What the kernel already completed for us gets its handshake.
    accept_some(worker, DRAIN_BATCH);
    stop_listening(worker);
    shutdown(worker->listener, SHUT_RDWR);
    worker->drain_until_ms = worker->now_ms + worker->host->drain_ms;
}

static void handle(struct tlc_worker *worker, const struct epoll_event *event)
{
    if (event->data.ptr == &worker->listener)
        accept_some(worker, ACCEPT_BATCH);
    else if (event->data.ptr == &worker->wake)
        eventfd_read(worker->wake, &(eventfd_t){0});
    else
        tlc_connection_event(worker, event->data.ptr, event->events);
}

static bool is_over(const struct tlc_worker *worker)
{
    return worker->drain_until_ms && (!worker->open || worker->now_ms >= worker->drain_until_ms);
}

static void *run(void *argument)
{
    struct tlc_worker *worker = argument;
    struct epoll_event events[EVENTS];
    worker->now_ms = coarse_ms();
    tlc_allocations_of_thread(true);
    while (!is_over(worker)) {
        int count = wait_for_events(worker, events);
        tlc_connection_run_again(worker);
        for (int i = 0; i < count; i++)
            handle(worker, &events[i]);
        tlc_connection_expire(worker);
        if (worker->drain_until_ms)
            continue;
        if (atomic_load_explicit(&worker->host->stopping, memory_order_acquire))
            begin_to_stop(worker);
        else if (!worker->listening && worker->now_ms >= worker->listen_again_ms)
            listen_for(worker, worker->exclusive);
    }
    tlc_connection_end_all(worker);
    tlc_allocations_of_thread(false);
    return NULL;
}

enum tlc_status tlc_worker_start(struct tlc_worker *worker, unsigned number,
                                 struct tlc_error *error)
{
    int code = pthread_create(&worker->thread, NULL, run, worker);
    if (code) {
        errno = code;
        return tlc_fail_errno(error, "serve: worker %u: start a thread", number);
    }
    char name[16];
    snprintf(name, sizeof name, "worker-%u", number);
    pthread_setname_np(worker->thread, name);
    return TLC_OK;
}
