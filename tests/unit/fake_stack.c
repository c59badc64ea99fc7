#include "fake_stack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/names.h"

struct fake_state fake;

struct tlc_stack_context {
    int unused;
};

struct tlc_stack_connection {
    int fd;
    enum { HELLO, WELCOME, FINISHED, DONE } phase;
    char line[128];
    size_t used, sent, welcome;
    bool resumed, retry, http;
};

static const char *words(void)
{
    return "fake 1";
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    if (kind != TLC_FEATURE_GROUP || code == TLC_GROUP_X25519)
        return true;
    if (why)
        snprintf(why->text, sizeof why->text, "fake 1 has no %s", tlc_name(TLC_NAME_GROUP, code));
    return false;
}

static struct tlc_stack_context *context_new(enum tlc_stack_role role,
                                             const struct tlc_stack_config *config,
                                             struct tlc_stack_error *error)
{
    (void)role;
    if (!config->certificate_count) {
        snprintf(error->text, sizeof error->text, "no certificate");
        return NULL;
    }
    fake.contexts++;
    fake.keys = (int)config->ticket_key_count;
    return calloc(1, sizeof(struct tlc_stack_context));
}

static void context_free(struct tlc_stack_context *context)
{
    fake.contexts -= context != NULL;
    free(context);
}

static struct tlc_stack_connection *
connection_on_socket(struct tlc_stack_context *context, int fd,
                     const struct tlc_stack_connection_options *options,
                     struct tlc_stack_error *error)
{
    (void)context, (void)options;
    if (fake.refuse) {
        snprintf(error->text, sizeof error->text, "no connection today");
        return NULL;
    }
    struct tlc_stack_connection *connection = calloc(1, sizeof *connection);
    connection->fd = fd;
    fake.connections++;
    return connection;
}

static void connection_free(struct tlc_stack_connection *connection)
{
    fake.connections -= connection != NULL;
    free(connection);
}

// Takes bytes until the end of a line, DONE when it is there.
static enum tlc_stack_step take_line(struct tlc_stack_connection *connection)
{
    for (;;) {
        char byte;
        ssize_t got = recv(connection->fd, &byte, 1, 0);
        if (got < 0 && errno == EAGAIN)
            return TLC_STEP_WANT_READ;
        if (got <= 0 || connection->used == sizeof connection->line - 1)
            return TLC_STEP_FAILED;
        connection->line[connection->used++] = byte;
        if (byte == '\n') {
            connection->line[connection->used - 1] = '\0';
            connection->used = 0;
            return TLC_STEP_DONE;
        }
    }
}

static enum tlc_stack_step take_hello(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error)
{
    enum tlc_stack_step step = take_line(connection);
    if (step != TLC_STEP_DONE)
        return step;
    if (strncmp(connection->line, "hello", 5)) {
        if (!strncmp(connection->line, "fail ", 5))
            snprintf(error->text, sizeof error->text, "%s", connection->line + 5);
        return TLC_STEP_FAILED;
    }
    connection->resumed = strstr(connection->line, "resumed");
    connection->retry = strstr(connection->line, "retry");
    connection->http = strstr(connection->line, "http");
    connection->welcome = strstr(connection->line, "big") ? FAKE_BIG : sizeof "welcome\n" - 1;
    return TLC_STEP_DONE;
}

static enum tlc_stack_step send_welcome(struct tlc_stack_connection *connection)
{
    static const char text[] = "welcome\n", filler[4096];
    bool small = connection->welcome < sizeof filler;
    while (connection->sent < connection->welcome) {
        size_t left = connection->welcome - connection->sent;
        const char *bytes = small ? text + connection->sent : filler;
        ssize_t done =
            send(connection->fd, bytes, left < sizeof filler ? left : sizeof filler, MSG_NOSIGNAL);
        if (done < 0)
            return errno == EAGAIN ? TLC_STEP_WANT_WRITE : TLC_STEP_FAILED;
        connection->sent += (size_t)done;
    }
    return TLC_STEP_DONE;
}

static enum tlc_stack_step take_finished(struct tlc_stack_connection *connection,
                                         struct tlc_stack_error *error)
{
    enum tlc_stack_step step = take_line(connection);
    if (step != TLC_STEP_DONE || !strcmp(connection->line, "finished"))
        return step;
    snprintf(error->text, sizeof error->text, "finished expected");
    return TLC_STEP_FAILED;
}

static enum tlc_stack_step handshake(struct tlc_stack_connection *connection,
                                     struct tlc_stack_error *error)
{
    enum tlc_stack_step step = TLC_STEP_DONE;
    while (connection->phase != DONE && step == TLC_STEP_DONE) {
        if (connection->phase == HELLO)
            step = take_hello(connection, error);
        else if (connection->phase == WELCOME)
            step = send_welcome(connection);
        else
            step = take_finished(connection, error);
        connection->phase += step == TLC_STEP_DONE;
    }
    return step;
}

static enum tlc_stack_step read_data(struct tlc_stack_connection *connection, uint8_t *bytes,
                                     size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    ssize_t got = recv(connection->fd, bytes, capacity, 0);
    if (got > 0 && bytes[0] != 1) {
        *done = (size_t)got;
        return TLC_STEP_DONE;
    }
    if (got == 0)
        return TLC_STEP_CLOSED;
    if (got < 0 && errno == EAGAIN)
        return TLC_STEP_WANT_READ;
    snprintf(error->text, sizeof error->text, "damaged");
    return TLC_STEP_FAILED;
}

static enum tlc_stack_step write_data(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                      size_t count, size_t *done, struct tlc_stack_error *error)
{
    ssize_t put = send(connection->fd, bytes, count, MSG_NOSIGNAL);
    if (put > 0) {
        *done = (size_t)put;
        return TLC_STEP_DONE;
    }
    if (errno == EAGAIN)
        return TLC_STEP_WANT_WRITE;
    snprintf(error->text, sizeof error->text, "gone");
    return TLC_STEP_FAILED;
}

static enum tlc_stack_step close_data(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error)
{
    const uint8_t byte = FAKE_CLOSE;
    size_t done;
    return write_data(connection, &byte, 1, &done, error);
}

static bool evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence)
{
    if (connection->phase != DONE)
        return false;
    memset(evidence, 0, sizeof *evidence);
    evidence->resumed = connection->resumed;
    evidence->hello_retry_request = connection->retry;
    if (connection->http)
        memcpy(evidence->alpn, "http/1.1", sizeof "http/1.1");
    return true;
}

static bool ticket_keys_replace(struct tlc_stack_context *context,
                                const struct tlc_ticket_key *keys, size_t count,
                                struct tlc_stack_error *error)
{
    (void)context;
    if (keys[0].name[0] == 0xff) {
        snprintf(error->text, sizeof error->text, "not this key");
        return false;
    }
    fake.keys = (int)count;
    fake.key_sets++;
    return true;
}

static const struct tlc_stack table = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "fake",
    .version = words,
    .build = words,
    .supports = supports,
    .context_new = context_new,
    .context_free = context_free,
    .connection_on_socket = connection_on_socket,
    .handshake = handshake,
    .read = read_data,
    .write = write_data,
    .close = close_data,
    .connection_free = connection_free,
    .evidence = evidence,
    .ticket_keys_replace = ticket_keys_replace,
};

static char id[] = "fake", path[] = "/proc/self/exe";
const struct tlc_stack_plugin fake_plugin = {.stack = &table, .id = id, .path = path};
