#include "relay/namespace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"

enum { COMMAND_MS = 10000 };

static void add(struct tlc_netem_arguments *to, size_t *count, const char *word)
{
    to->list[(*count)++] = word;
    to->list[*count] = NULL;
}

void tlc_netem_arguments(const struct tlc_path *path, struct tlc_netem_arguments *to)
{
    static const char *const head[] = {"tc",   "qdisc", "replace", "dev",   "lo",
                                       "root", "netem", "limit",   "100000"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        add(to, &count, head[i]);
    snprintf(to->store[0], sizeof to->store[0], "%" PRIu64 "us", path->one_way_ns / 1000);
    add(to, &count, "delay");
    add(to, &count, to->store[0]);
    if (path->jitter_ns) {
        snprintf(to->store[1], sizeof to->store[1], "%" PRIu64 "us", path->jitter_ns / 1000);
        add(to, &count, to->store[1]);
    }
    if (path->loss > 0) {
        snprintf(to->store[2], sizeof to->store[2], "%.6f%%", 100 * path->loss);
        add(to, &count, "loss");
        add(to, &count, to->store[2]);
    }
    if (path->rate_bits) {
        snprintf(to->store[3], sizeof to->store[3], "%" PRIu64 "bit", path->rate_bits);
        add(to, &count, "rate");
        add(to, &count, to->store[3]);
    }
}

static enum tlc_status run(const char *const *arguments, struct tlc_error *error)
{
    char *said = NULL;
    int code = 0;
    enum tlc_status status = tlc_process_output(arguments, COMMAND_MS, &said, &code, error);
    if (status == TLC_OK && code) {
        said[strcspn(said, "\n")] = '\0';
        status = tlc_fail(error, TLC_ENVIRONMENT, "%s %s: %.200s", arguments[0], arguments[1],
                          *said ? said : "failed without a word");
    }
    free(said);
    return status;
}

// Packets of an Ethernet's size, so that a segment is what it is on a real path, and the window
// that the path's sender begins with.
static enum tlc_status configure(const struct tlc_path *path, struct tlc_error *error)
{
    char mtu[16], window[16];
    snprintf(mtu, sizeof mtu, "%u", path->mss + TLC_SEGMENT_HEADER);
    snprintf(window, sizeof window, "%u", path->initial_window);
    const char *const up[] = {"ip", "link", "set", "dev", "lo", "mtu", mtu, "up", NULL};
    const char *const route[] = {"ip",    "route",    "replace", "local",     "127.0.0.0/8",
                                 "dev",   "lo",       "src",     "127.0.0.1", "table",
                                 "local", "initcwnd", window,    NULL};
    struct tlc_netem_arguments netem;
    tlc_netem_arguments(path, &netem);
    enum tlc_status status = run(up, error);
    if (status == TLC_OK)
        status = run(route, error);
    if (status == TLC_OK)
        status = run(netem.list, error);
    return status;
}

enum tlc_status tlc_namespace_open(const struct tlc_path *path, struct tlc_namespace *made,
                                   struct tlc_error *error)
{
    *made = (struct tlc_namespace){.own = -1, .home = -1};
    made->home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (made->home < 0)
        return tlc_fail_errno(error, "network namespace: /proc/thread-self/ns/net");
    if (unshare(CLONE_NEWNET)) {
        enum tlc_status status = tlc_fail_errno(error, "network namespace");
        tlc_namespace_close(made);
        return status;
    }
    enum tlc_status status = TLC_OK;
    made->own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (made->own < 0)
        status = tlc_fail_errno(error, "network namespace: /proc/thread-self/ns/net");
    if (status == TLC_OK)
        status = configure(path, error);
    tlc_namespace_leave(made);
    if (status != TLC_OK)
        tlc_namespace_close(made);
    return status;
}

void tlc_namespace_close(struct tlc_namespace *namespace)
{
    if (namespace->own >= 0)
        close(namespace->own);
    if (namespace->home >= 0)
        close(namespace->home);
    namespace->own = namespace->home = -1;
}

enum tlc_status tlc_namespace_enter(const struct tlc_namespace *namespace, struct tlc_error *error)
{
    return setns(namespace->own, CLONE_NEWNET) ? tlc_fail_errno(error, "network namespace: enter")
                                               : TLC_OK;
}

void tlc_namespace_leave(const struct tlc_namespace *namespace)
{
    // Going home cannot fail while its descriptor is open and the privileges are those of before;
    // measuring elsewhere than told would be worse than ending.
    if (setns(namespace->home, CLONE_NEWNET))
        abort();
}

enum tlc_status tlc_netem_here(struct tlc_error *error)
{
    const struct tlc_path path = {.one_way_ns = 1000000, .mss = 1460, .initial_window = 10};
    struct tlc_namespace probe;
    enum tlc_status status = tlc_namespace_open(&path, &probe, error);
    if (status == TLC_OK)
        tlc_namespace_close(&probe);
    else
        tlc_fail_prefix(error, "netem");
    return status;
}
