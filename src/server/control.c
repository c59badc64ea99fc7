#include "server/control.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/message.h"
#include "measure/allocations.h"
#include "measure/burn.h"
#include "measure/clock.h"
#include "server/ticket_keys.h"

enum {
    MESSAGE_MS = 1000, // a frame that has begun must be whole by then
    SETTLE_MS = 10000, // when "settled" names no time-out
    SOURCES = 4        // what the thread waits for
};

// A "settled" command that has not been answered yet.
struct waiter {
    bool active;
    uint64_t handshakes; // completed or failed, at least; 0: any number
    uint64_t deadline_ms;
    json_t *request;
};

static uint64_t now_ms(void)
{
    return tlc_now_ns() / 1000000;
}

static void note(const struct tlc_server *server, const char *format, ...) TLC_PRINTF(2, 3);
static void note(const struct tlc_server *server, const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (server->options->note)
        server->options->note(text, server->options->user);
}

json_t *tlc_server_snapshot(const struct tlc_server *server)
{
    struct tlc_server_counters total = {.failed = json_object()};
    json_t *workers = json_array();
    for (unsigned i = 0; i < server->worker_count; i++) {
        struct tlc_server_counters one;
        tlc_counters_read(&server->workers[i].counters, &one);
        json_array_append_new(workers, tlc_server_counters_json(&one));
        tlc_server_counters_add(&total, &one);
    }
    struct tlc_allocations allocations;
    tlc_allocations_read(&allocations);
    return json_pack(
        "{s:o, s:o, s:o, s:o*, s:o*}", "workers", workers, "totals",
        tlc_server_counters_json(&total), "failed", total.failed, "provider",
        tlc_provider_describe_use(server->host.stack, server->contexts, server->context_count),
        "allocations", tlc_allocations_loaded() ? tlc_allocations_json(&allocations) : NULL);
}

static bool queues_are_empty(const struct tlc_server *server)
{
    for (unsigned i = 0; i < server->listener_count; i++) {
        struct pollfd queue = {.fd = server->listeners[i], .events = POLLIN};
        if (poll(&queue, 1, 0) != 0)
            return false;
    }
    return true;
}

static uint64_t ended_handshakes(const struct tlc_server *server)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < server->worker_count; i++)
        sum += atomic_load(&server->workers[i].counters.handshakes) +
               atomic_load(&server->workers[i].counters.failures);
    return sum;
}

// The queues first: a connection that has left its queue keeps its worker from being idle.
static bool is_settled(const struct tlc_server *server, uint64_t handshakes)
{
    if (!queues_are_empty(server))
        return false;
    for (unsigned i = 0; i < server->worker_count; i++)
        if (!atomic_load(&server->workers[i].idle))
            return false;
    return ended_handshakes(server) >= handshakes;
}

static enum tlc_status reply(const struct tlc_server *server, const json_t *request,
                             json_t *members, struct tlc_error *error)
{
    json_t *id = json_object_get(request, "id"), *command = json_object_get(request, "command");
    json_object_set_new(members, "reply", command ? json_incref(command) : json_null());
    if (id)
        json_object_set(members, "id", id);
    enum tlc_status status = tlc_message_send(server->options->control, members, error);
    json_decref(members);
    return status;
}

static enum tlc_status refuse(const struct tlc_server *server, const json_t *request,
                              struct tlc_error *error, const char *format, ...) TLC_PRINTF(4, 5);
static enum tlc_status refuse(const struct tlc_server *server, const json_t *request,
                              struct tlc_error *error, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return reply(server, request, json_pack("{s:s}", "error", text), error);
}

static enum tlc_status accept_command(const struct tlc_server *server, const json_t *request,
                                      struct tlc_error *error)
{
    return reply(server, request, json_pack("{s:b}", "ok", 1), error);
}

static enum tlc_status answer_waiter(struct tlc_server *server, struct waiter *waiter, bool settled,
                                     struct tlc_error *error)
{
    atomic_store(&server->host.waiting, false);
    json_t *members = tlc_server_snapshot(server);
    json_object_set_new(members, "settled", json_boolean(settled));
    enum tlc_status status = reply(server, waiter->request, members, error);
    json_decref(waiter->request);
    *waiter = (struct waiter){.active = false};
    return status;
}

static enum tlc_status check_waiter(struct tlc_server *server, struct waiter *waiter,
                                    struct tlc_error *error)
{
    if (!waiter->active)
        return TLC_OK;
    bool settled = is_settled(server, waiter->handshakes);
    if (settled || now_ms() >= waiter->deadline_ms)
        return answer_waiter(server, waiter, settled, error);
    return TLC_OK;
}

// Reads an optional whole number of a request; false when it is there and is not one.
static bool read_number(const json_t *request, const char *name, json_int_t limit,
                        json_int_t *value)
{
    const json_t *member = json_object_get(request, name);
    if (!member)
        return true;
    *value = json_integer_value(member);
    return json_is_integer(member) && *value >= 0 && *value <= limit;
}

static enum tlc_status do_settled(struct tlc_server *server, json_t *request, struct waiter *waiter,
                                  struct tlc_error *error)
{
    json_int_t handshakes = 0, timeout_ms = SETTLE_MS;
    if (waiter->active)
        return refuse(server, request, error, "settled: one is being waited for already");
    if (!read_number(request, "handshakes", INT64_MAX, &handshakes) ||
        !read_number(request, "timeout_ms", INT_MAX, &timeout_ms))
        return refuse(server, request, error,
                      "settled: 'handshakes' and 'timeout_ms' must be whole numbers");
    *waiter = (struct waiter){.active = true,
                              .handshakes = (uint64_t)handshakes,
                              .deadline_ms = now_ms() + (uint64_t)timeout_ms,
                              .request = json_incref(request)};
    // From here on a worker that becomes idle wakes this thread; those that are have said so.
    atomic_store(&server->host.waiting, true);
    return check_waiter(server, waiter, error);
}

static enum tlc_status keys_from_json(struct tlc_server *server, const json_t *list,
                                      struct tlc_error *error)
{
    struct tlc_ticket_key keys[TLC_TICKET_KEYS_MAX];
    size_t count = json_array_size(list);
    if (!count || count > TLC_TICKET_KEYS_MAX)
        return tlc_fail(error, TLC_USAGE, "ticket-keys: 'keys' must list 1 to %d keys",
                        TLC_TICKET_KEYS_MAX);
    for (size_t i = 0; i < count; i++) {
        const json_t *key = json_array_get(list, i);
        if (!json_is_string(key) ||
            !tlc_ticket_key_parse(json_string_value(key), json_string_length(key), &keys[i]))
            return tlc_fail(error, TLC_USAGE, "ticket-keys: key %zu: not 160 hexadecimal digits",
                            i);
    }
    enum tlc_status status = tlc_keys_set(server, keys, count, error);
    explicit_bzero(keys, sizeof keys);
    return status;
}

static enum tlc_status do_ticket_keys(struct tlc_server *server, json_t *request,
                                      struct waiter *waiter, struct tlc_error *error)
{
    (void)waiter;
    const json_t *list = json_object_get(request, "keys");
    const char *path = json_string_value(json_object_get(request, "file"));
    size_t count;
    bool changed;
    struct tlc_error why = {.text = "ticket-keys: 'file' or 'keys' is needed"};
    enum tlc_status status = TLC_USAGE;
    if (list)
        status = keys_from_json(server, list, &why);
    else if (path)
        status = tlc_keys_reread(server, path, &count, &changed, &why);
    return status == TLC_OK ? accept_command(server, request, error)
                            : refuse(server, request, error, "%s", why.text);
}

static enum tlc_status do_rotate(struct tlc_server *server, json_t *request, struct waiter *waiter,
                                 struct tlc_error *error)
{
    (void)waiter;
    const json_t *word = json_object_get(request, "how");
    enum tlc_rotation how = TLC_ROTATE_SAFE;
    struct tlc_error why = {.text = ""};
    if (word && !(json_is_string(word) && tlc_rotation_parse(json_string_value(word), &how)))
        return refuse(server, request, error,
                      "rotate: 'how' must be safe, abrupt, no-previous or trap");
    return tlc_keys_rotate(server, how, &why) == TLC_OK
               ? accept_command(server, request, error)
               : refuse(server, request, error, "%s", why.text);
}

static enum tlc_status do_burn(struct tlc_server *server, json_t *request, struct waiter *waiter,
                               struct tlc_error *error)
{
    (void)waiter;
    json_int_t us = -1;
    if (!read_number(request, "us", TLC_BURN_MAX_US, &us) || us < 0)
        return refuse(server, request, error, "burn: 'us' must be a whole number from 0 to %d",
                      TLC_BURN_MAX_US);
    atomic_store(&server->host.burn_us, (unsigned)us);
    return accept_command(server, request, error);
}

// What work like the burn's costs this process while it serves nothing.
static enum tlc_status do_charge(struct tlc_server *server, json_t *request, struct waiter *waiter,
                                 struct tlc_error *error)
{
    (void)waiter;
    json_int_t us = 0;
    if (!read_number(request, "us", TLC_BURN_MAX_US, &us) || us < 1)
        return refuse(server, request, error, "charge: 'us' must be a whole number from 1 to %d",
                      TLC_BURN_MAX_US);
    double charge = tlc_burn_charge((unsigned)us);
    return charge > 0 ? reply(server, request, json_pack("{s:f}", "charge", charge), error)
                      : refuse(server, request, error, "charge: no CPU clock of threads");
}

static enum tlc_status do_counters(struct tlc_server *server, json_t *request,
                                   struct waiter *waiter, struct tlc_error *error)
{
    (void)waiter;
    return reply(server, request, tlc_server_snapshot(server), error);
}

static const struct command {
    const char *name;
    enum tlc_status (*run)(struct tlc_server *server, json_t *request, struct waiter *waiter,
                           struct tlc_error *error);
} commands[] = {
    {"counters", do_counters}, {"settled", do_settled}, {"ticket-keys", do_ticket_keys},
    {"rotate", do_rotate},     {"burn", do_burn},       {"charge", do_charge},
};

static enum tlc_status dispatch(struct tlc_server *server, json_t *request, struct waiter *waiter,
                                bool *stop, struct tlc_error *error)
{
    const char *name = json_string_value(json_object_get(request, "command"));
    if (!name)
        return refuse(server, request, error, "a message needs a 'command'");
    if (!strcmp(name, "stop")) {
        *stop = true;
        return accept_command(server, request, error);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(name, commands[i].name))
            return commands[i].run(server, request, waiter, error);
    return refuse(
        server, request, error,
        "'%s': unknown; there are counters, settled, ticket-keys, rotate, burn, charge and stop",
        name);
}

static bool peer_has_ended(int control)
{
    char byte;
    ssize_t got = recv(control, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static enum tlc_status take_message(struct tlc_server *server, struct waiter *waiter, bool *stop,
                                    struct tlc_error *error)
{
    json_t *request;
    if (peer_has_ended(server->options->control)) {
        *stop = true;
        return TLC_OK;
    }
    enum tlc_status status =
        tlc_message_receive(server->options->control, MESSAGE_MS, &request, error);
    if (status == TLC_OK)
        status = dispatch(server, request, waiter, stop, error);
    json_decref(request);
    return status;
}

// Takes the file's keys; `why` begins what the user is told.
static void reread_file(struct tlc_server *server, const char *why, bool quiet_when_same)
{
    const char *path = server->options->ticket_keys_file;
    size_t count;
    bool changed;
    struct tlc_error error = {.text = ""};
    if (tlc_keys_reread(server, path, &count, &changed, &error) != TLC_OK)
        note(server, "%s: %s; the ticket keys stay as they were", why, error.text);
    else if (changed || !quiet_when_same)
        note(server, "%s: %zu ticket keys from %s are in use", why, count, path);
}

static void take_signal(struct tlc_server *server, bool *stop)
{
    struct signalfd_siginfo signal;
    if (read(server->signals, &signal, sizeof signal) != (ssize_t)sizeof signal)
        return;
    if (signal.ssi_signo != SIGHUP)
        *stop = true;
    else if (!server->options->ticket_keys_file)
        note(server, "SIGHUP: no ticket keys file was given, nothing to read again");
    else
        reread_file(server, "SIGHUP", false);
}

static void rotate_when_due(struct tlc_server *server)
{
    struct tlc_error error = {.text = ""};
    if (!server->keys.rotate_ms || now_ms() < server->keys.rotate_ms)
        return;
    if (tlc_keys_rotate(server, server->options->rotation, &error) != TLC_OK)
        note(server, "rotation: %s; the ticket keys stay as they were", error.text);
    else
        note(server, "rotation: a fresh ticket key encrypts, %zu others decrypt",
             server->keys.rings[0].count - 1);
}

static int poll_timeout(const struct tlc_server *server, const struct waiter *waiter)
{
    uint64_t now = now_ms(), due = server->keys.rotate_ms ? server->keys.rotate_ms : UINT64_MAX;
    if (waiter->active && waiter->deadline_ms < due)
        due = waiter->deadline_ms;
    if (due == UINT64_MAX)
        return -1;
    uint64_t left = due > now ? due - now : 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

enum tlc_status tlc_control_serve(struct tlc_server *server, struct tlc_error *error)
{
    struct waiter waiter = {.active = false};
    bool stop = false;
    enum tlc_status status = TLC_OK;
    struct pollfd sources[SOURCES] = {
        {.fd = server->signals, .events = POLLIN},
        {.fd = server->host.wake_control, .events = POLLIN},
        {.fd = server->options->control, .events = POLLIN}, // a negative one is passed over
        {.fd = server->keys.watch, .events = POLLIN},
    };
    while (!stop && status == TLC_OK) {
        if (poll(sources, SOURCES, poll_timeout(server, &waiter)) < 0 && errno != EINTR)
            return tlc_fail_errno(error, "serve: poll");
        if (sources[0].revents)
            take_signal(server, &stop);
        if (sources[1].revents)
            eventfd_read(server->host.wake_control, &(eventfd_t){0});
        if (sources[2].revents)
            status = take_message(server, &waiter, &stop, error);
        if (sources[3].revents && tlc_keys_file_replaced(server))
            reread_file(server, "key file replaced", true);
        rotate_when_due(server);
        if (status == TLC_OK)
            status = check_waiter(server, &waiter, error);
    }
    json_decref(waiter.request);
    return status;
}
