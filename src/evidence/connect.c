#include "evidence/connect.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure/clock.h"

int tlc_wait_fd(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = tlc_now_ns();
        int left_ms = now < deadline_ns ? (int)((deadline_ns - now + 999999) / 1000000) : 0;
        struct pollfd waited = {.fd = fd, .events = events};
        int ready = poll(&waited, 1, left_ms);
        if (ready >= 0 || errno != EINTR)
            return ready;
    }
}

// Cuts "HOST:PORT" and "[ADDRESS]:PORT" in two.
static bool split(const char *address, char *host, size_t host_bytes, const char **port)
{
    const char *colon = strrchr(address, ':');
    if (!colon || !colon[1])
        return false;
    const char *start = address, *end = colon;
    if (*start == '[') {
        if (end[-1] != ']')
            return false;
        start++;
        end--;
    } else if (memchr(start, ':', (size_t)(end - start))) {
        return false; // an IPv6 address without brackets: where it ends is a guess
    }
    size_t count = (size_t)(end - start);
    if (!count || count >= host_bytes)
        return false;
    memcpy(host, start, count);
    host[count] = '\0';
    *port = colon + 1;
    // getaddrinfo(3) takes a number above 65535 modulo 65536.
    if (strspn(*port, "0123456789") == strlen(*port) && strtoul(*port, NULL, 10) > 65535)
        return false;
    return true;
}

static enum tlc_status not_an_address(struct tlc_error *error)
{
    return tlc_fail(error, TLC_USAGE, "not an address; write HOST:PORT, [IPV6]:PORT or unix:/path");
}

enum tlc_status tlc_address_host(const char *address, char *host, size_t capacity,
                                 struct tlc_error *error)
{
    const char *port;
    *host = '\0';
    if (!strncmp(address, "unix:", 5) && address[5])
        return TLC_OK;
    return split(address, host, capacity, &port) ? TLC_OK : not_an_address(error);
}

// Connects one candidate; -1 with errno (ETIMEDOUT when the deadline passed).
static int connect_one(const struct tlc_socket_maker *maker, int family, int protocol,
                       const struct sockaddr *to, socklen_t bytes, uint64_t deadline_ns)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd =
        maker ? maker->make(maker->user, family, type, protocol) : socket(family, type, protocol);
    if (fd < 0)
        return -1;
    int code = 0;
    socklen_t size = sizeof code;
    if (connect(fd, to, bytes)) {
        code = errno;
        int ready = code == EINPROGRESS ? tlc_wait_fd(fd, POLLOUT, deadline_ns) : -1;
        if (ready == 0)
            code = ETIMEDOUT;
        else if (ready > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size))
            code = errno;
    }
    if (code) {
        close(fd);
        errno = code;
        return -1;
    }
    int one = 1;
    if (family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static enum tlc_status connect_unix(const char *address, const struct tlc_socket_maker *maker,
                                    uint64_t deadline_ns, int *fd, struct tlc_error *error)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = address + strlen("unix:");
    if (!*path || strlen(path) >= sizeof to.sun_path)
        return not_an_address(error);
    strcpy(to.sun_path, path);
    *fd = connect_one(maker, AF_UNIX, 0, (const struct sockaddr *)&to, sizeof to, deadline_ns);
    return *fd < 0 ? tlc_fail_errno(error, "connect") : TLC_OK;
}

enum tlc_status tlc_connect(const char *address, const struct tlc_socket_maker *maker,
                            uint64_t deadline_ns, int *fd, struct tlc_error *error)
{
    char host[256];
    const char *port;
    *fd = -1;
    if (!strncmp(address, "unix:", 5))
        return connect_unix(address, maker, deadline_ns, fd, error);
    if (!split(address, host, sizeof host, &port))
        return not_an_address(error);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found;
    int code = getaddrinfo(host, port, &hints, &found);
    if (code == EAI_NONAME || code == EAI_ADDRFAMILY) {
        hints.ai_flags = 0; // AI_ADDRCONFIG hides ::1 where only loopback has IPv6
        code = getaddrinfo(host, port, &hints, &found);
    }
    if (code)
        return tlc_fail(error, TLC_ENVIRONMENT, "connect: %s",
                        code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    for (const struct addrinfo *at = found; at && *fd < 0; at = at->ai_next)
        *fd = connect_one(maker, at->ai_family, at->ai_protocol, at->ai_addr, at->ai_addrlen,
                          deadline_ns);
    int saved = errno;
    freeaddrinfo(found);
    errno = saved;
    return *fd < 0 ? tlc_fail_errno(error, "connect") : TLC_OK;
}
