#include "server/server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cpu_mask.h"
#include "base/message.h"
#include "server/control.h"
#include "server/listener.h"
#include "server/support.h"
#include "server/worker.h"

enum { BACKLOG = 4096, HANDSHAKE_TIMEOUT_MS = 10000, DRAIN_MS = 1000, WORKERS_MAX = 1024 };

static enum tlc_status check_options(const struct tlc_server_options *options,
                                     struct tlc_address *address, struct tlc_error *error)
{
    if (options->workers < 1 || options->workers > WORKERS_MAX)
        return tlc_fail(error, TLC_USAGE, "serve: workers: %u: not from 1 to %d", options->workers,
                        WORKERS_MAX);
    enum tlc_status status = tlc_address_parse(options->listen, address, error);
    if (status != TLC_OK)
        return status;
    if (address->any.sa_family == AF_UNIX && options->accept == TLC_ACCEPT_REUSEPORT)
        return tlc_fail(error, TLC_USAGE, "serve: %s: reuseport is for TCP; use --accept shared",
                        options->listen);
    if (options->keep >= TLC_TICKET_KEYS_MAX)
        return tlc_fail(error, TLC_USAGE, "serve: keep: %u: at most %d previous keys",
                        options->keep, TLC_TICKET_KEYS_MAX - 1);
    if (options->key_per_worker && options->ticket_keys_file)
        return tlc_fail(error, TLC_USAGE,
                        "serve: a key for each worker and a file of keys for all: choose one");
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    if (options->control >= 0 && getsockname(options->control, (struct sockaddr *)&peer, &length))
        return tlc_fail_errno(error, "serve: control socket: descriptor %d", options->control);
    return tlc_server_check(options, error);
}

static enum tlc_status make_context(struct tlc_server *server, unsigned index,
                                    struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    struct tlc_stack_config config = options->stack;
    char *provider = config.provider ? tlc_provider_find(config.provider) : NULL;
    if (server->keys.count) {
        config.ticket_keys = server->keys.rings[index].keys;
        config.ticket_key_count = server->keys.rings[index].count;
    }
    struct tlc_stack_error why = {.text = ""};
    config.provider = provider;
    server->contexts[index] = server->host.stack->context_new(TLC_STACK_SERVER, &config, &why);
    free(provider);
    if (!server->contexts[index])
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: stack %s: %s", options->plugin->id,
                        why.text[0] ? why.text : "it gave no reason");
    server->context_count++;
    return TLC_OK;
}

static enum tlc_status make_contexts(struct tlc_server *server, struct tlc_error *error)
{
    unsigned wanted = server->options->key_per_worker ? server->options->workers : 1;
    enum tlc_status status = tlc_keys_open(server, error);
    if (status != TLC_OK)
        return status;
    server->contexts = calloc(wanted, sizeof(struct tlc_stack_context *));
    if (!server->contexts)
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: out of memory");
    for (unsigned i = 0; i < wanted && status == TLC_OK; i++)
        status = make_context(server, i, error);
    return status;
}

static enum tlc_status open_listeners(struct tlc_server *server, struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    bool each = options->accept == TLC_ACCEPT_REUSEPORT;
    unsigned wanted = each ? options->workers : 1;
    server->listeners = calloc(wanted, sizeof *server->listeners);
    if (!server->listeners)
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: out of memory");
    for (; server->listener_count < wanted; server->listener_count++) {
        // The first one finds the port when it was 0; the others join it there.
        enum tlc_status status =
            tlc_listen(&server->address, options->backlog ? options->backlog : BACKLOG, each,
                       &server->listeners[server->listener_count], error);
        if (status != TLC_OK)
            return status;
    }
    tlc_address_text(&server->address, server->address_text);
    return TLC_OK;
}

static enum tlc_status open_workers(struct tlc_server *server, struct tlc_error *error)
{
    unsigned wanted = server->options->workers;
    size_t bytes = wanted * sizeof *server->workers;
    server->workers = aligned_alloc(TLC_CACHE_LINES, bytes);
    if (!server->workers)
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: out of memory");
    memset(server->workers, 0, bytes);
    for (; server->worker_count < wanted; server->worker_count++) {
        int listener = server->listeners[server->worker_count % server->listener_count];
        enum tlc_status status =
            tlc_worker_open(&server->workers[server->worker_count], &server->host,
                            server->contexts[server->worker_count % server->context_count],
                            listener, server->listener_count < wanted, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static void stop_workers(struct tlc_server *server, unsigned started)
{
    atomic_store(&server->host.stopping, true);
    for (unsigned i = 0; i < started; i++)
        tlc_worker_wake(&server->workers[i]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(server->workers[i].thread, NULL);
}

static enum tlc_status announce(const struct tlc_server *server, struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    enum tlc_status status = TLC_OK;
    if (options->control >= 0) {
        char processor[256];
        bool told = tlc_cpu_account(server->host.stack->build(), processor, sizeof processor);
        json_t *event = json_pack("{s:s, s:s, s:i, s:I, s:O, s:s*}", "event", "ready", "address",
                                  server->address_text, "pid", (int)getpid(), "workers",
                                  (json_int_t)options->workers, "stack", server->stack, "processor",
                                  told ? processor : NULL);
        status = tlc_message_send(options->control, event, error);
        json_decref(event);
    }
    if (status == TLC_OK && options->ready)
        options->ready(server->address_text, server->address.loopback, options->user);
    return status;
}

static json_t *final_counters(const struct tlc_server *server)
{
    json_t *counters = json_pack("{s:s, s:s, s:O, s:s}", "schema", TLC_SERVER_SCHEMA, "command",
                                 "serve", "stack", server->stack, "address", server->address_text);
    json_t *snapshot = tlc_server_snapshot(server);
    json_object_update(counters, snapshot);
    json_decref(snapshot);
    return counters;
}

// Nobody listens any more is not an error at this point.
static void say_stopped(const struct tlc_server *server, const json_t *counters)
{
    if (server->options->control < 0)
        return;
    json_t *event = json_copy((json_t *)(uintptr_t)counters);
    json_object_set_new(event, "event", json_string("stopped"));
    if (tlc_message_send(server->options->control, event, NULL) != TLC_OK)
        errno = 0;
    json_decref(event);
}

static enum tlc_status serve(struct tlc_server *server, json_t **counters, struct tlc_error *error)
{
    unsigned started = 0;
    enum tlc_status status = TLC_OK;
    while (started < server->worker_count && status == TLC_OK) {
        status = tlc_worker_start(&server->workers[started], started, error);
        started += status == TLC_OK;
    }
    if (status == TLC_OK)
        status = announce(server, error);
    if (status == TLC_OK)
        status = tlc_control_serve(server, error);
    stop_workers(server, started);
    *counters = final_counters(server);
    if (status == TLC_OK)
        say_stopped(server, *counters);
    return status;
}

// Thousands of connections need thousands of descriptors; the hard limit is the administrator's.
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// Workers inherit the mask: signals go to the control thread, through a descriptor. SIGPIPE is for
// libraries that write to a socket whose peer is gone.
static enum tlc_status take_signals(struct tlc_server *server, sigset_t *before,
                                    struct tlc_error *error)
{
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGHUP);
    server->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    server->host.wake_control = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigaddset(&taken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &taken, before);
    if (server->signals < 0 || server->host.wake_control < 0)
        return tlc_fail_errno(error, "serve: signalfd");
    return TLC_OK;
}

static void release(struct tlc_server *server)
{
    for (unsigned i = 0; i < server->worker_count; i++)
        tlc_worker_close(&server->workers[i]);
    free(server->workers);
    for (unsigned i = 0; i < server->listener_count; i++)
        close(server->listeners[i]);
    if (server->listener_count && server->address.any.sa_family == AF_UNIX)
        unlink(server->address.local.sun_path);
    free(server->listeners);
    for (unsigned i = 0; i < server->context_count; i++)
        server->host.stack->context_free(server->contexts[i]);
    free(server->contexts);
    tlc_keys_close(server);
    if (server->signals >= 0)
        close(server->signals);
    if (server->host.wake_control >= 0)
        close(server->host.wake_control);
    json_decref(server->stack);
}

enum tlc_status tlc_server_run(const struct tlc_server_options *options, json_t **counters,
                               struct tlc_error *error)
{
    struct tlc_faults faults = {.asked = options->faults};
    struct tlc_server server = {
        .options = options,
        .host = {.stack = options->plugin->stack,
                 .faults = tlc_faults_asked(&options->faults) ? &faults : NULL,
                 .handshake_timeout_ms = options->handshake_timeout_ms
                                             ? options->handshake_timeout_ms
                                             : HANDSHAKE_TIMEOUT_MS,
                 .drain_ms = options->drain_ms ? options->drain_ms : DRAIN_MS,
                 .http = options->http,
                 .burn_us = options->burn_us,
                 .wake_control = -1},
        .keys = {.watch = -1},
        .signals = -1,
    };
    sigset_t before;
    *counters = NULL;
    enum tlc_status status = check_options(options, &server.address, error);
    if (status != TLC_OK)
        return status;
    server.stack = tlc_stack_describe(options->plugin);
    raise_descriptor_limit();
    status = take_signals(&server, &before, error);
    if (status == TLC_OK)
        status = make_contexts(&server, error);
    if (status == TLC_OK)
        status = open_listeners(&server, error);
    if (status == TLC_OK)
        status = open_workers(&server, error);
    if (status == TLC_OK)
        status = serve(&server, counters, error);
    release(&server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
