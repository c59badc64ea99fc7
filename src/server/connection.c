#include "server/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/burn.h"
#include "server/http.h"

// After so many reads and writes in a row a connection lets the others have their turn.
enum { TURN_STEPS = 16, CHUNK = 64 };

struct chunk {
    struct chunk *next;
    struct tlc_connection connections[CHUNK];
};

struct buffer {
    struct buffer *next; // while it lies in the pool
};

static void unlink_from(struct tlc_link *link)
{
    link->before->after = link->after;
    link->after->before = link->before;
}

static void append(struct tlc_link *list, struct tlc_link *link)
{
    link->before = list->before;
    link->after = list;
    list->before->after = link;
    list->before = link;
}

static struct tlc_connection *take_connection(struct tlc_worker *worker)
{
    if (!worker->free_list) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = worker->chunks;
        worker->chunks = chunk;
        for (size_t i = 0; i < CHUNK; i++) {
            chunk->connections[i].next = worker->free_list;
            worker->free_list = &chunk->connections[i];
        }
    }
    struct tlc_connection *connection = worker->free_list;
    worker->free_list = connection->next;
    return connection;
}

static bool lend_buffer(struct tlc_worker *worker, struct tlc_connection *connection)
{
    if (connection->buffer)
        return true;
    struct buffer *buffer = worker->buffers;
    if (buffer)
        worker->buffers = buffer->next;
    else
        buffer = malloc(TLC_BUFFER_BYTES);
    connection->buffer = (uint8_t *)buffer;
    return buffer != NULL;
}

static void return_buffer(struct tlc_worker *worker, struct tlc_connection *connection)
{
    struct buffer *buffer = (struct buffer *)(void *)connection->buffer;
    if (!buffer)
        return;
    buffer->next = worker->buffers;
    worker->buffers = buffer;
    connection->buffer = NULL;
}

void tlc_connection_pools_free(struct tlc_worker *worker)
{
    for (struct chunk *chunk = worker->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (struct buffer *buffer = worker->buffers, *next; buffer; buffer = next) {
        next = buffer->next;
        free(buffer);
    }
    worker->chunks = worker->buffers = NULL;
    worker->free_list = NULL;
}

static void end(struct tlc_worker *worker, struct tlc_connection *connection)
{
    unlink_from(&connection->link);
    worker->host->stack->connection_free(connection->tls);
    return_buffer(worker, connection);
    close(connection->fd);
    connection->next = worker->free_list;
    worker->free_list = connection;
    worker->open--;
    tlc_count(&worker->counters.closed, 1);
}

static void fail(struct tlc_worker *worker, struct tlc_connection *connection, const char *reason)
{
    tlc_count_failure(&worker->counters, reason);
    end(worker, connection);
}

// What the socket says where the library gave no words.
static const char *socket_words(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0)
        return "peer closed";
    if (got < 0 && errno == ECONNRESET)
        return "peer reset";
    return got < 0 && errno != EAGAIN ? strerrordesc_np(errno) : "";
}

static bool peer_is_gone(int fd)
{
    return socket_words(fd)[0];
}

// Edge-triggered, so one registration serves the whole life; EPOLLOUT joins when a write blocked.
static bool watch(struct tlc_worker *worker, struct tlc_connection *connection, uint32_t events)
{
    if ((connection->watched & events) == events)
        return true;
    struct epoll_event event = {.events = connection->watched | events | EPOLLET,
                                .data.ptr = connection};
    int operation = connection->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(worker->epoll, operation, connection->fd, &event))
        return false;
    connection->watched = event.events;
    return true;
}

// Ends an established connection in order.
static void finish(struct tlc_worker *worker, struct tlc_connection *connection)
{
    struct tlc_stack_error error;
    worker->host->stack->close(connection->tls, &error);
    end(worker, connection);
}

// Ends an established connection whose read or write failed.
static void break_off(struct tlc_worker *worker, struct tlc_connection *connection)
{
    if (!peer_is_gone(connection->fd))
        tlc_count(&worker->counters.broken, 1);
    end(worker, connection);
}

enum outcome { GO_ON, WAIT, ENDED };

// What to do about a step that was not DONE.
static enum outcome settle_step(struct tlc_worker *worker, struct tlc_connection *connection,
                                enum tlc_stack_step step)
{
    if (step == TLC_STEP_WANT_READ)
        return WAIT;
    if (step == TLC_STEP_WANT_WRITE && watch(worker, connection, EPOLLIN | EPOLLOUT))
        return WAIT;
    if (step == TLC_STEP_CLOSED)
        finish(worker, connection);
    else
        break_off(worker, connection);
    return ENDED;
}

static enum outcome write_out(struct tlc_worker *worker, struct tlc_connection *connection)
{
    struct tlc_stack_error error;
    size_t done = 0;
    enum tlc_stack_step step =
        worker->host->stack->write(connection->tls, connection->out,
                                   (size_t)(connection->out_end - connection->out), &done, &error);
    if (step != TLC_STEP_DONE)
        return settle_step(worker, connection, step);
    connection->out += done;
    tlc_count(&worker->counters.bytes_written, done);
    if (connection->out == connection->out_end && connection->last_answer) {
        finish(worker, connection);
        return ENDED;
    }
    return GO_ON;
}

// Turns the request at the start of the buffer, if it is whole, into an answer to be written.
static bool answer_http(struct tlc_connection *connection)
{
    struct tlc_http_answer answer;
    size_t taken = tlc_http_request(connection->buffer, connection->used,
                                    connection->used == TLC_BUFFER_BYTES, &answer);
    if (!taken)
        return false;
    connection->used -= taken;
    memmove(connection->buffer, connection->buffer + taken, connection->used);
    connection->out = answer.bytes;
    connection->out_end = answer.bytes + answer.count;
    connection->last_answer = answer.close;
    return true;
}

static enum outcome read_in(struct tlc_worker *worker, struct tlc_connection *connection)
{
    if (connection->http && connection->used && answer_http(connection))
        return GO_ON;
    struct tlc_stack_error error;
    size_t done = 0;
    if (!lend_buffer(worker, connection)) {
        break_off(worker, connection);
        return ENDED;
    }
    enum tlc_stack_step step =
        worker->host->stack->read(connection->tls, connection->buffer + connection->used,
                                  TLC_BUFFER_BYTES - connection->used, &done, &error);
    if (step != TLC_STEP_DONE) {
        if (!connection->used)
            return_buffer(worker, connection);
        return settle_step(worker, connection, step);
    }
    tlc_count(&worker->counters.bytes_read, done);
    if (connection->http) {
        connection->used += done;
    } else {
        connection->out = connection->buffer;
        connection->out_end = connection->buffer + done;
    }
    return GO_ON;
}

// Echoes until the transport has no more bytes, takes no more, or the turn is over. What was read
// is written before more is read, so a peer that does not read stops being read from.
static void drive(struct tlc_worker *worker, struct tlc_connection *connection)
{
    for (int step = 0; step < TURN_STEPS; step++) {
        enum outcome outcome = connection->out != connection->out_end
                                   ? write_out(worker, connection)
                                   : read_in(worker, connection);
        if (outcome == ENDED)
            return;
        if (outcome == WAIT) {
            if (!watch(worker, connection, EPOLLIN))
                break_off(worker, connection);
            return;
        }
    }
    connection->queued = true;
    connection->next = worker->again;
    worker->again = connection;
}

static void count_handshake(struct tlc_worker *worker, struct tlc_connection *connection)
{
    struct tlc_host *host = worker->host;
    struct tlc_stack_evidence *evidence = &worker->evidence;
    if (host->stack->evidence(connection->tls, evidence)) {
        if (evidence->resumed)
            tlc_count(&worker->counters.resumed, 1);
        if (evidence->hello_retry_request)
            tlc_count(&worker->counters.hello_retry_requests, 1);
        if (evidence->chain_count && evidence->verified == 1)
            tlc_count(&worker->counters.client_certificates, 1);
        connection->http = host->http || !strcmp(evidence->alpn, "http/1.1");
    }
    tlc_count(&worker->counters.handshakes, 1);
    unlink_from(&connection->link);
    append(&worker->established, &connection->link);
    connection->established = true;
    if (host->faults)
        tlc_fault_of_handshake(host->faults);
}

// `events` are those epoll reported, 0 right after accept.
static void step_handshake(struct tlc_worker *worker, struct tlc_connection *connection,
                           uint32_t events)
{
    struct tlc_stack_error error;
    error.text[0] = '\0';
    enum tlc_stack_step step = worker->host->stack->handshake(connection->tls, &error);
    if (step == TLC_STEP_DONE) {
        count_handshake(worker, connection);
        // The client's Finished came together with its reset: nothing is left to read.
        if (events & EPOLLERR)
            end(worker, connection);
        else
            drive(worker, connection);
    } else if (step == TLC_STEP_WANT_READ || step == TLC_STEP_WANT_WRITE) {
        uint32_t wanted = step == TLC_STEP_WANT_READ ? EPOLLIN : EPOLLIN | EPOLLOUT;
        if (!watch(worker, connection, wanted))
            fail(worker, connection, "epoll takes no more sockets");
    } else {
        error.text[sizeof error.text - 1] = '\0';
        const char *words = error.text;
        if (!words[0])
            words = events & EPOLLERR ? "peer reset" : socket_words(connection->fd);
        fail(worker, connection, words);
    }
}

// Applies the fault asked for; true when the connection was dealt with.
static bool misbehave(struct tlc_worker *worker, struct tlc_connection *connection)
{
    switch (tlc_fault_of_connection(worker->host->faults)) {
    case TLC_FAULT_RESET:
        tlc_fault_reset(connection->fd);
        fail(worker, connection, "reset on purpose");
        return true;
    case TLC_FAULT_STALL:
        connection->stalled = true;
        if (!watch(worker, connection, EPOLLIN))
            fail(worker, connection, "epoll takes no more sockets");
        return true;
    case TLC_FAULT_NONE:
        break;
    }
    return false;
}

static void refuse(struct tlc_worker *worker, int fd, const char *reason)
{
    tlc_count_failure(&worker->counters, reason);
    close(fd);
    tlc_count(&worker->counters.closed, 1);
}

void tlc_connection_begin(struct tlc_worker *worker, int fd)
{
    struct tlc_host *host = worker->host;
    struct tlc_connection *connection = take_connection(worker);
    struct tlc_stack_error error = {.text = ""};
    tlc_count(&worker->counters.accepted, 1);
    if (!connection) {
        refuse(worker, fd, "out of memory");
        return;
    }
    *connection = (struct tlc_connection){
        .fd = fd,
        .deadline_ms = worker->now_ms + host->handshake_timeout_ms,
    };
    connection->tls = host->stack->connection_on_socket(
        worker->context, fd, &(struct tlc_stack_connection_options){.server_name = NULL}, &error);
    if (!connection->tls) {
        connection->next = worker->free_list;
        worker->free_list = connection;
        refuse(worker, fd, error.text);
        return;
    }
    worker->open++;
    append(&worker->handshaking, &connection->link);
    if (host->faults && misbehave(worker, connection))
        return;
    unsigned burn_us = atomic_load_explicit(&host->burn_us, memory_order_relaxed);
    if (burn_us)
        tlc_count(&worker->counters.burnt_ns, tlc_burn(burn_us));
    // The ClientHello is often here already.
    step_handshake(worker, connection, 0);
}

void tlc_connection_event(struct tlc_worker *worker, struct tlc_connection *connection,
                          uint32_t events)
{
    if (connection->stalled) {
        if (events & (EPOLLERR | EPOLLHUP))
            fail(worker, connection, "peer left a stalled handshake");
    } else if (!connection->established) {
        step_handshake(worker, connection, events);
    } else if (events & EPOLLERR) {
        // A reset: the usual end of a load generator's connection, and nothing left to say.
        if (!connection->queued)
            end(worker, connection);
    } else if (!connection->queued) {
        drive(worker, connection);
    }
}

void tlc_connection_run_again(struct tlc_worker *worker)
{
    struct tlc_connection *connection = worker->again, *next;
    worker->again = NULL;
    for (; connection; connection = next) {
        next = connection->next;
        connection->queued = false;
        drive(worker, connection);
    }
}

void tlc_connection_expire(struct tlc_worker *worker)
{
    while (worker->handshaking.after != &worker->handshaking) {
        struct tlc_connection *oldest = (struct tlc_connection *)worker->handshaking.after;
        if (oldest->deadline_ms > worker->now_ms)
            return;
        fail(worker, oldest, "handshake timeout");
    }
}

void tlc_connection_end_all(struct tlc_worker *worker)
{
    worker->again = NULL;
    while (worker->handshaking.after != &worker->handshaking)
        fail(worker, (struct tlc_connection *)worker->handshaking.after, "server stopped");
    while (worker->established.after != &worker->established)
        finish(worker, (struct tlc_connection *)worker->established.after);
}
