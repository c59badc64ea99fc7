// The memory of idle server connections: on sockets, as real servers hold them, with the clients
// gone.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workload/memory_slice.h"

// Connections made and ended first, so that what a library allocates once is not counted.
enum { WARMING = 32, SPARE_FILES = 64, MOST_TURNS = 32 };

struct idle {
    struct tlc_stack_connection *connection;
    int fd;
};

// ---- what the process has

static int64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}

static int64_t resident_bytes(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %lld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static unsigned files_allow(unsigned wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return wanted;
    rlim_t needed = (rlim_t)wanted + SPARE_FILES;
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) && getrlimit(RLIMIT_NOFILE, &limit))
            return wanted;
    }
    if (limit.rlim_cur >= needed)
        return wanted;
    return limit.rlim_cur > 2 * SPARE_FILES ? (unsigned)limit.rlim_cur - SPARE_FILES : SPARE_FILES;
}

// ---- one connection

static bool send_all(int fd, struct tlc_memory_bytes *out)
{
    for (size_t sent = 0; sent < out->count;) {
        ssize_t count = send(fd, out->bytes + sent, out->count - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return false;
        sent += count > 0 ? (size_t)count : 0;
    }
    out->count = 0;
    return true;
}

static bool receive_all(int fd, struct tlc_memory_bytes *in)
{
    for (;;) {
        ssize_t count = recv(fd, in->bytes + in->count, in->capacity - in->count, MSG_DONTWAIT);
        if (count > 0)
            in->count += (size_t)count;
        else if (!count || errno != EINTR)
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (in->count == in->capacity)
            return true;
    }
}

// The client in memory, the server on its socket, until both are done. A server whose flight does
// not fit into the socket goes on once the client has taken some of it.
static bool shake(struct tlc_memory_pair *pair, int client_fd, char *failure, size_t bytes)
{
    struct tlc_memory_side *client = &pair->client, *server = &pair->server;
    struct tlc_stack_error words = {{0}};
    for (unsigned turn = 0; turn < MOST_TURNS; turn++) {
        if (!tlc_memory_turn(pair, client, &server->out, failure, bytes) ||
            !send_all(client_fd, &client->out))
            return false;
        enum tlc_stack_step step =
            server->done ? TLC_STEP_DONE : server->stack->handshake(server->connection, &words);
        if (step == TLC_STEP_FAILED) {
            snprintf(failure, bytes, "server: %.200s", words.text);
            return false;
        }
        server->done = step == TLC_STEP_DONE;
        if (!receive_all(client_fd, &server->out))
            return false;
        if (client->done && server->done && !server->out.count)
            return true;
    }
    return false;
}

static bool open_idle(struct tlc_memory_arm *arm, struct idle *idle, char *failure, size_t bytes)
{
    struct tlc_memory_pair *pair = &arm->pair;
    struct tlc_memory_side *server = &pair->server;
    struct tlc_stack_error words = {{0}};
    int fds[2];
    *idle = (struct idle){.fd = -1};
    snprintf(failure, bytes, "the handshake does not end");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
        snprintf(failure, bytes, "socketpair: %.200s", strerror(errno));
        return false;
    }
    idle->fd = fds[0];
    bool good = fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 &&
                tlc_memory_client_open(pair, false, failure, bytes);
    server->done = false;
    server->out.count = 0;
    if (good)
        server->connection =
            server->stack->connection_on_socket(server->context, fds[0], NULL, &words);
    if (good && !server->connection) {
        snprintf(failure, bytes, "server: %.200s", words.text);
        good = false;
    }
    good = good && shake(pair, fds[1], failure, bytes);
    tlc_memory_side_end(&pair->client);
    idle->connection = server->connection;
    server->connection = NULL;
    tlc_memory_side_end(server);
    close(fds[1]);
    return good;
}

static void end_idle(struct tlc_memory_arm *arm, struct idle *idle, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (idle[i].connection)
            arm->pair.server.stack->connection_free(idle[i].connection);
        close(idle[i].fd);
    }
}

// ---- many of them

static bool hold(struct tlc_memory_arm *arm, struct idle *idle, unsigned count, unsigned *held,
                 char *failure, size_t bytes)
{
    for (*held = 0; *held < count; ++*held)
        if (!open_idle(arm, &idle[*held], failure, bytes)) {
            *held += idle[*held].fd >= 0; // what it left open is ended with the others
            return false;
        }
    return true;
}

static json_t *growth(int64_t before, int64_t after)
{
    return after > before ? json_integer(after - before) : json_null();
}

enum tlc_status tlc_memory_idle(struct tlc_memory_arm *arm, unsigned connections, json_t **told,
                                struct tlc_error *error)
{
    char failure[256] = "";
    unsigned held, count = files_allow(connections);
    struct idle *idle = calloc((size_t)count + WARMING, sizeof *idle);
    *told = NULL;
    if (!idle)
        return tlc_fail(error, TLC_ENVIRONMENT, "idle connections: out of memory");
    bool good = hold(arm, idle, WARMING, &held, failure, sizeof failure);
    end_idle(arm, idle, held);
    held = 0;
    malloc_trim(0);
    int64_t heap = heap_bytes(), resident = resident_bytes();
    good = good && hold(arm, idle, count, &held, failure, sizeof failure);
    int64_t full_heap = heap_bytes(), full_resident = resident_bytes();
    end_idle(arm, idle, held);
    int64_t left = heap_bytes() - heap;
    free(idle);
    if (!good)
        return tlc_fail(error, TLC_REFUSED, "idle connections: %s", failure);
    *told = json_pack("{s:i, s:o, s:o, s:o}", "connections", (int)count, "heap_bytes",
                      growth(heap, full_heap), "rss_bytes", growth(resident, full_resident),
                      "left_bytes", full_heap > heap ? json_integer(left) : json_null());
    return TLC_OK;
}
