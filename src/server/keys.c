#include "server/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/clock.h"
#include "server/control.h"
#include "server/ticket_keys.h"

bool tlc_keys_wanted(const struct tlc_server_options *options)
{
    return options->ticket_keys_file || options->rotate_ms || options->own_keys ||
           options->key_per_worker;
}

static enum tlc_status take_file(struct tlc_key_ring *ring, const char *path,
                                 struct tlc_error *error)
{
    struct tlc_ticket_key *keys;
    size_t count;
    enum tlc_status status = tlc_ticket_keys_read(path, &keys, &count, error);
    if (status != TLC_OK)
        return status;
    if (count > TLC_TICKET_KEYS_MAX)
        status = tlc_fail(error, TLC_USAGE, "ticket keys: %s: %zu keys; at most %d, please", path,
                          count, TLC_TICKET_KEYS_MAX);
    else
        memcpy(ring->keys, keys, count * sizeof *keys), ring->count = count;
    explicit_bzero(keys, count * sizeof *keys);
    free(keys);
    return status;
}

static enum tlc_status watch_file(struct tlc_keys *keys, const char *path, struct tlc_error *error)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    keys->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (keys->watch < 0 ||
        inotify_add_watch(keys->watch, slash ? folder : ".", IN_MOVED_TO | IN_ONLYDIR) < 0)
        return tlc_fail_errno(error, "ticket keys: watch the folder of %s", path);
    return TLC_OK;
}

static enum tlc_status first_keys(struct tlc_server *server, struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    const char *path = options->ticket_keys_file;
    struct tlc_keys *keys = &server->keys;
    if (path && !(options->rotate_ms && access(path, F_OK) && errno == ENOENT))
        return take_file(&keys->rings[0], path, error);
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < keys->count && status == TLC_OK; i++) {
        status = tlc_ticket_key_make(&keys->rings[i].keys[0], error);
        keys->rings[i].count = 1;
    }
    if (status == TLC_OK && path)
        status = tlc_ticket_keys_write(path, keys->rings[0].keys, keys->rings[0].count, error);
    return status;
}

static uint64_t next_rotation(const struct tlc_server_options *options)
{
    return options->rotate_ms ? tlc_now_ns() / 1000000 + options->rotate_ms : 0;
}

enum tlc_status tlc_keys_open(struct tlc_server *server, struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    struct tlc_keys *keys = &server->keys;
    keys->watch = -1;
    if (!tlc_keys_wanted(options))
        return TLC_OK;
    unsigned wanted = options->key_per_worker ? options->workers : 1;
    keys->rings = calloc(wanted, sizeof *keys->rings);
    if (!keys->rings)
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: out of memory");
    keys->count = wanted;
    keys->rotate_ms = next_rotation(options);
    enum tlc_status status = first_keys(server, error);
    if (status == TLC_OK && options->ticket_keys_file)
        status = watch_file(keys, options->ticket_keys_file, error);
    return status;
}

void tlc_keys_close(struct tlc_server *server)
{
    struct tlc_keys *keys = &server->keys;
    for (unsigned i = 0; i < keys->count; i++)
        tlc_key_ring_clear(&keys->rings[i]);
    free(keys->rings);
    if (keys->watch >= 0)
        close(keys->watch);
    *keys = (struct tlc_keys){.watch = -1};
}

static enum tlc_status hand_over(struct tlc_server *server, unsigned index,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_error *error)
{
    struct tlc_stack_error why = {.text = ""};
    const struct tlc_stack *stack = server->host.stack;
    const char *id = server->options->plugin->id;
    if (!stack->ticket_keys_replace)
        return tlc_fail(error, TLC_ENVIRONMENT, "ticket keys: stack %s: cannot replace them", id);
    if (!stack->ticket_keys_replace(server->contexts[index], keys, count, &why))
        return tlc_fail(error, TLC_ENVIRONMENT, "ticket keys: stack %s: %s", id, why.text);
    return TLC_OK;
}

enum tlc_status tlc_keys_set(struct tlc_server *server, const struct tlc_ticket_key *keys,
                             size_t count, struct tlc_error *error)
{
    struct tlc_keys *mine = &server->keys;
    if (mine->count > 1)
        return tlc_fail(error, TLC_USAGE,
                        "ticket keys: each worker has keys of its own (--mistake key-per-worker)");
    enum tlc_status status = hand_over(server, 0, keys, count, error);
    if (status == TLC_OK && mine->count) {
        memcpy(mine->rings[0].keys, keys, count * sizeof *keys);
        mine->rings[0].count = count;
    }
    return status;
}

enum tlc_status tlc_keys_reread(struct tlc_server *server, const char *path, size_t *count,
                                bool *changed, struct tlc_error *error)
{
    struct tlc_key_ring read = {.count = 0};
    const struct tlc_key_ring *used = server->keys.count ? &server->keys.rings[0] : NULL;
    enum tlc_status status = take_file(&read, path, error);
    *count = read.count;
    *changed = !used || used->count != read.count ||
               memcmp(used->keys, read.keys, read.count * sizeof *read.keys) != 0;
    if (status == TLC_OK)
        status = tlc_keys_set(server, read.keys, read.count, error);
    tlc_key_ring_clear(&read);
    return status;
}

static enum tlc_status rotate_ring(struct tlc_server *server, unsigned index, enum tlc_rotation how,
                                   struct tlc_error *error)
{
    const struct tlc_server_options *options = server->options;
    struct tlc_key_ring next = server->keys.rings[index];
    enum tlc_status status = tlc_key_ring_rotate(&next, how, options->keep, error);
    if (status == TLC_OK && options->ticket_keys_file)
        status = tlc_ticket_keys_write(options->ticket_keys_file, next.keys, next.count, error);
    if (status == TLC_OK)
        status = hand_over(server, index, next.keys, next.count, error);
    if (status == TLC_OK)
        server->keys.rings[index] = next;
    tlc_key_ring_clear(&next);
    return status;
}

enum tlc_status tlc_keys_rotate(struct tlc_server *server, enum tlc_rotation how,
                                struct tlc_error *error)
{
    server->keys.rotate_ms = next_rotation(server->options);
    if (!server->keys.count)
        return tlc_fail(error, TLC_USAGE,
                        "rotate: the keys are the library's own; start the server with --rotate, "
                        "--keep or --ticket-keys");
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0; i < server->keys.count && status == TLC_OK; i++)
        status = rotate_ring(server, i, how, error);
    return status;
}

bool tlc_keys_file_replaced(struct tlc_server *server)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } buffer;
    const char *path = server->options->ticket_keys_file, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    bool replaced = false;
    ssize_t got;
    while ((got = read(server->keys.watch, &buffer, sizeof buffer)) > 0)
        for (char *at = buffer.bytes; at < buffer.bytes + got;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)at;
            replaced = replaced || (event->len && !strcmp(event->name, name));
            at += sizeof *event + event->len;
        }
    return replaced;
}
