#include "server/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_loopback(const struct tlc_address *address)
{
    if (address->any.sa_family == AF_INET)
        return ntohl(address->ip4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    const struct in6_addr *ip6 = &address->ip6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(ip6) ||
           (IN6_IS_ADDR_V4MAPPED(ip6) && ip6->s6_addr[12] == IN_LOOPBACKNET);
}

static enum tlc_status parse_unix(const char *path, struct tlc_address *address,
                                  struct tlc_error *error)
{
    address->local.sun_family = AF_UNIX;
    if (!*path || strlen(path) >= sizeof address->local.sun_path)
        return tlc_fail(error, TLC_USAGE, "listen: unix:%s: a path of 1 to %zu bytes is needed",
                        path, sizeof address->local.sun_path - 1);
    memcpy(address->local.sun_path, path, strlen(path) + 1);
    address->length = sizeof address->local;
    address->loopback = true;
    return TLC_OK;
}

// Splits "HOST:PORT"; brackets around an IPv6 address are dropped.
static bool split(const char *text, char host[64], const char **port)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    *port = colon ? colon + 1 : text;
    if (length >= 64)
        return false;
    bool bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    // "::1" alone would read as host ":" and port 1, and getaddrinfo takes "*" for any address.
    if (!bracketed && (memchr(text, ':', length) || memchr(text, '*', length)))
        return false;
    size_t skip = bracketed ? 1 : 0;
    memcpy(host, text + skip, length - 2 * skip);
    host[length - 2 * skip] = '\0';
    if (!host[0] || !strcmp(host, "localhost"))
        memcpy(host, "127.0.0.1", sizeof "127.0.0.1");
    return strlen(*port) && strlen(*port) == strspn(*port, "0123456789") &&
           strtoul(*port, NULL, 10) <= 65535;
}

enum tlc_status tlc_address_parse(const char *text, struct tlc_address *address,
                                  struct tlc_error *error)
{
    memset(address, 0, sizeof *address);
    if (!strncmp(text, "unix:", 5))
        return parse_unix(text + 5, address, error);
    char host[64];
    const char *port;
    if (!split(text, host, &port))
        return tlc_fail(error, TLC_USAGE,
                        "listen: '%s': not an address; write ADDR:PORT, [IPv6]:PORT or unix:PATH",
                        text);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, port, &hints, &found))
        return tlc_fail(error, TLC_USAGE,
                        "listen: '%s': '%s' is not a numeric address; write for example "
                        "127.0.0.1:4433",
                        text, host);
    memcpy(&address->any, found->ai_addr, found->ai_addrlen);
    address->length = found->ai_addrlen;
    freeaddrinfo(found);
    address->loopback = is_loopback(address);
    return TLC_OK;
}

void tlc_address_text(const struct tlc_address *address, char text[TLC_ADDRESS_BYTES])
{
    if (address->any.sa_family == AF_UNIX) {
        snprintf(text, TLC_ADDRESS_BYTES, "unix:%s", address->local.sun_path);
        return;
    }
    char host[64] = "", port[8] = "";
    getnameinfo(&address->any, address->length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, TLC_ADDRESS_BYTES, address->any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
             host, port);
}

static enum tlc_status explain(const struct tlc_address *address, struct tlc_error *error)
{
    int code = errno;
    char text[TLC_ADDRESS_BYTES];
    tlc_address_text(address, text);
    const char *remedy = "";
    if (code == EADDRINUSE)
        remedy = address->any.sa_family == AF_UNIX ? "; another server has it, choose another path"
                                                   : "; choose another port, or 0 for a free one";
    else if (code == EACCES)
        remedy = address->any.sa_family == AF_UNIX ? "; choose a folder you may write"
                                                   : "; choose a port of 1024 or above";
    else if (code == EADDRNOTAVAIL)
        remedy = "; use an address of this machine (ip address)";
    return tlc_fail(error, TLC_ENVIRONMENT, "listen: %s: %s%s", text, strerror(code), remedy);
}

// A socket file that nobody listens on is what a killed server left behind.
static void remove_stale(const struct tlc_address *address)
{
    struct stat status;
    if (lstat(address->local.sun_path, &status) || !S_ISSOCK(status.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, &address->any, address->length) && errno == ECONNREFUSED)
        unlink(address->local.sun_path);
    if (fd >= 0)
        close(fd);
}

static int set(int fd, int level, int option)
{
    return setsockopt(fd, level, option, &(int){1}, sizeof(int));
}

static int set_options(int fd, const struct tlc_address *address, bool reuse_port)
{
    if (address->any.sa_family == AF_UNIX)
        return 0;
    // Accepted sockets inherit TCP_NODELAY, which saves a system call each.
    if (set(fd, SOL_SOCKET, SO_REUSEADDR) || set(fd, IPPROTO_TCP, TCP_NODELAY))
        return -1;
    if (address->any.sa_family == AF_INET6 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY))
        return -1;
    return reuse_port ? set(fd, SOL_SOCKET, SO_REUSEPORT) : 0;
}

static int bind_private(int fd, const struct tlc_address *address)
{
    // A unix socket is for its user only, as loopback is for its machine.
    mode_t before = umask(0177);
    int result = bind(fd, &address->any, address->length);
    int code = errno;
    umask(before);
    errno = code;
    return result;
}

enum tlc_status tlc_listen(struct tlc_address *address, int backlog, bool reuse_port, int *fd,
                           struct tlc_error *error)
{
    bool local = address->any.sa_family == AF_UNIX;
    *fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return explain(address, error);
    if (local)
        remove_stale(address);
    socklen_t length = address->length;
    if (set_options(*fd, address, reuse_port) ||
        (local ? bind_private(*fd, address) : bind(*fd, &address->any, address->length)) ||
        listen(*fd, backlog) || (!local && getsockname(*fd, &address->any, &length))) {
        enum tlc_status status = explain(address, error);
        close(*fd);
        *fd = -1;
        return status;
    }
    return TLC_OK;
}
