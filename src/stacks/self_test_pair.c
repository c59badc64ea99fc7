// A client and a server of one plug-in, joined in one thread.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stacks/self_test.h"

// More steps than any handshake or echo needs; a library that still waits then will wait for ever.
#define STEPS_MAX 2000

bool tlc_because(struct tlc_reason *reason, const char *format, ...)
{
    if (!reason->text[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reason->text, sizeof reason->text, format, arguments);
        va_end(arguments);
    }
    return false;
}

bool tlc_pair_open(struct tlc_pair *pair, const struct tlc_stack *stack, bool sockets,
                   struct tlc_stack_context *client, struct tlc_stack_context *server,
                   const struct tlc_stack_connection_options *options, struct tlc_reason *reason)
{
    struct tlc_stack_error error = {""};
    *pair = (struct tlc_pair){.stack = stack, .fds = {-1, -1}};
    if (sockets || !stack->connection_on_memory) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair->fds))
            return tlc_because(reason, "socketpair failed");
        pair->client = stack->connection_on_socket(client, pair->fds[0], options, &error);
        if (pair->client)
            pair->server = stack->connection_on_socket(server, pair->fds[1], NULL, &error);
    } else {
        pair->client = stack->connection_on_memory(client, options, &error);
        if (pair->client)
            pair->server = stack->connection_on_memory(server, NULL, &error);
    }
    if (pair->client && pair->server)
        return true;
    tlc_because(reason, "no connection: %s", error.text);
    tlc_pair_free(pair);
    return false;
}

void tlc_pair_free(struct tlc_pair *pair)
{
    if (pair->client)
        pair->stack->connection_free(pair->client);
    if (pair->server)
        pair->stack->connection_free(pair->server);
    for (int i = 0; i < 2; i++)
        if (pair->fds[i] >= 0)
            close(pair->fds[i]);
    *pair = (struct tlc_pair){.stack = pair->stack, .fds = {-1, -1}};
}

static bool carry_one_way(const struct tlc_stack *stack, struct tlc_stack_connection *from,
                          struct tlc_stack_connection *to)
{
    uint8_t bytes[4096];
    for (size_t count; (count = stack->memory_take(from, bytes, sizeof bytes)) > 0;)
        if (!stack->memory_feed(to, bytes, count))
            return false;
    return true;
}

static bool carry(struct tlc_pair *pair, struct tlc_reason *reason)
{
    if (pair->fds[0] >= 0) // the kernel carries
        return true;
    return (carry_one_way(pair->stack, pair->client, pair->server) &&
            carry_one_way(pair->stack, pair->server, pair->client)) ||
           tlc_because(reason, "memory transport took no more bytes");
}

bool tlc_pair_handshake(struct tlc_pair *pair, struct tlc_reason *reason)
{
    enum tlc_stack_step client = TLC_STEP_WANT_READ, server = TLC_STEP_WANT_READ;
    struct tlc_stack_error error = {""};
    for (int i = 0; i < STEPS_MAX; i++) {
        if (client != TLC_STEP_DONE)
            client = pair->stack->handshake(pair->client, &error);
        if (client == TLC_STEP_FAILED)
            return tlc_because(reason, "client: %s", error.text);
        if (!carry(pair, reason))
            return false;
        if (server != TLC_STEP_DONE)
            server = pair->stack->handshake(pair->server, &error);
        if (server == TLC_STEP_FAILED)
            return tlc_because(reason, "server: %s", error.text);
        if (!carry(pair, reason))
            return false;
        if (client == TLC_STEP_DONE && server == TLC_STEP_DONE)
            return true;
    }
    return tlc_because(reason, "the handshake does not end");
}

bool tlc_pair_take_tickets(struct tlc_pair *pair, struct tlc_reason *reason)
{
    struct tlc_stack_error error = {""};
    uint8_t byte;
    size_t done = 0;
    enum tlc_stack_step step = pair->stack->read(pair->client, &byte, 1, &done, &error);
    return step == TLC_STEP_WANT_READ ||
           tlc_because(reason, "read of tickets: %s",
                       step == TLC_STEP_FAILED ? error.text : "data nobody sent, or the end");
}

static bool send_text(struct tlc_pair *pair, struct tlc_stack_connection *from,
                      struct tlc_stack_connection *to, struct tlc_reason *reason)
{
    uint8_t text[20000], seen[sizeof text]; // more than one record (RFC 8446, 5.1: at most 2^14)
    size_t written = 0, got = 0;
    struct tlc_stack_error error = {""};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 31 + i / 251);
    for (int i = 0; i < STEPS_MAX && got < sizeof seen; i++) {
        size_t moved = 0;
        enum tlc_stack_step step = TLC_STEP_DONE;
        if (written < sizeof text)
            step = pair->stack->write(from, text + written, sizeof text - written, &moved, &error);
        if (step == TLC_STEP_FAILED)
            return tlc_because(reason, "write: %s", error.text);
        if (step == TLC_STEP_DONE)
            written += moved;
        if (!carry(pair, reason))
            return false;
        moved = 0;
        step = pair->stack->read(to, seen + got, sizeof seen - got, &moved, &error);
        if (step == TLC_STEP_FAILED || step == TLC_STEP_CLOSED)
            return tlc_because(reason, "read: %s",
                               step == TLC_STEP_CLOSED ? "closed too early" : error.text);
        if (step == TLC_STEP_DONE)
            got += moved;
    }
    if (got != sizeof seen || memcmp(text, seen, sizeof text) != 0)
        return tlc_because(reason, "application data: %zu of %zu bytes came, or not the same", got,
                           sizeof text);
    return true;
}

bool tlc_pair_echo(struct tlc_pair *pair, struct tlc_reason *reason)
{
    return send_text(pair, pair->client, pair->server, reason) &&
           send_text(pair, pair->server, pair->client, reason);
}

bool tlc_pair_shut(struct tlc_pair *pair, struct tlc_reason *reason)
{
    struct tlc_stack_error error = {""};
    if (pair->stack->close(pair->client, &error) != TLC_STEP_DONE)
        return tlc_because(reason, "close: %s", error.text);
    if (!carry(pair, reason))
        return false;
    uint8_t byte;
    size_t done = 0;
    enum tlc_stack_step step = pair->stack->read(pair->server, &byte, 1, &done, &error);
    return step == TLC_STEP_CLOSED || tlc_because(reason, "close_notify was not read as the end");
}
