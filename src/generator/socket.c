#include "generator/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "generator/lane.h"

// Connections open at once for one source address: well below the 28 232 ports that Linux gives by
// default, since the search for a free one gets slow as they run out.
enum { CONNECTIONS_PER_SOURCE = 4000, SOURCES_FOR_TIME_WAIT = 64, SPARE_FILES = 64 };

void tlc_socket_options_of(const struct tlc_lane *lane, struct tlc_socket_options *options)
{
    const struct tlc_target_options *target = lane->options.target;
    unsigned all = lane->concurrency * lane->options.lanes;
    unsigned spread = all / CONNECTIONS_PER_SOURCE + 1;
    // An orderly end leaves TIME_WAIT with the client, which keeps a port busy for at least 1 s.
    if (target->close != TLC_CLOSE_RESET && spread < SOURCES_FOR_TIME_WAIT)
        spread = SOURCES_FOR_TIME_WAIT;
    *options = (struct tlc_socket_options){
        .to = lane->options.address,
        .spread = spread,
        .first = lane->options.index * lane->concurrency,
        .fresh = target->fresh_sockets || lane->options.address->scope == TLC_SCOPE_LOCAL,
    };
}

static int bind_source(const struct tlc_socket_options *options, unsigned index, int fd)
{
    struct tlc_target_address source;
    if (!tlc_target_address_source(options->to, options->first + index, options->spread, &source))
        return 0;
    // The port is left to connect, which may then share one between different peers.
    const int on = 1;
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on))
        return -1;
    return bind(fd, (const struct sockaddr *)&source.storage, source.length);
}

enum tlc_status tlc_socket_open(const struct tlc_socket_options *options, unsigned index, int *fd,
                                struct tlc_error *error)
{
    int family = options->to->storage.ss_family;
    int made = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0)
        return tlc_fail_errno(error, "open a socket");
    const int on = 1;
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    bool ok = true;
    if (family != AF_UNIX)
        ok = !setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) &&
             !setsockopt(made, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) &&
             !bind_source(options, index, made);
    if (!ok) {
        int code = errno;
        close(made);
        errno = code;
        return tlc_fail_errno(error, "set up a socket");
    }
    *fd = made;
    return TLC_OK;
}

int tlc_socket_connect(const struct tlc_socket_options *options, int fd)
{
    if (connect(fd, (const struct sockaddr *)&options->to->storage, options->to->length) == 0)
        return 0;
    return errno == EINPROGRESS ? 0 : errno;
}

bool tlc_socket_end(const struct tlc_socket_options *options, int fd, bool orderly)
{
    (void)orderly; // after both FINs the kernel has detached the connection; nothing is reset
    if (options->fresh)
        return false;
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    return connect(fd, &none, sizeof none) == 0;
}

bool tlc_socket_needs_file(const struct tlc_lane *lane)
{
    const struct tlc_target_options *target = lane->options.target;
    return !lane->kind->ring_holds_sockets || target->close != TLC_CLOSE_RESET ||
           target->fresh_sockets || lane->options.address->scope == TLC_SCOPE_LOCAL;
}

enum tlc_status tlc_socket_limit_raise(unsigned wanted, struct tlc_error *error)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)wanted + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return tlc_fail_errno(error, "read the limit of open files");
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (limit.rlim_max < needed)
        raised.rlim_cur = raised.rlim_max = needed;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0 || limit.rlim_cur >= needed)
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "open %u connections: the limit of open files is %llu; raise it with "
                    "'ulimit -n %llu' as root, ask for fewer connections, or divide them among "
                    "io_uring loops, which need no open files, with --threads",
                    wanted, (unsigned long long)limit.rlim_max, (unsigned long long)needed);
}
