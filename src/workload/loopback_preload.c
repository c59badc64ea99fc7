// The object that is preloaded into servers that listen on all addresses and have no option for
// one: they then listen on the loopback address. It needs nothing but libc's system call, so that
// it fits any dynamically linked program, also one with a C library of its own.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

// As many connections may wait for such a server as for others; the kernel knows no more than
// somaxconn.
enum { LEAST_BACKLOG = 4096 };

VISIBLE int bind(int socket, __CONST_SOCKADDR_ARG address, socklen_t size);
VISIBLE int listen(int socket, int backlog);

static bool is_ipv6_only(int socket)
{
    int only = 0;
    socklen_t size = sizeof only;
    return !getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &only, &size) && only;
}

static int bind_ipv4(int socket, const struct sockaddr *any)
{
    struct sockaddr_in address;
    memcpy(&address, any, sizeof address);
    if (address.sin_addr.s_addr == htonl(INADDR_ANY))
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return (int)syscall(SYS_bind, socket, &address, sizeof address);
}

// A socket of IPv6 that is for both families is bound to the loopback address of IPv4 (RFC 4291,
// section 2.5.5.2), since it can have one address and clients come from there.
static int bind_ipv6(int socket, const struct sockaddr *any)
{
    static const unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    static const unsigned char any_mapped[16] = {[10] = 0xff, [11] = 0xff};
    struct sockaddr_in6 address;
    memcpy(&address, any, sizeof address);
    if (IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) && is_ipv6_only(socket))
        address.sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
    else if (IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) ||
             !memcmp(&address.sin6_addr, any_mapped, sizeof any_mapped))
        memcpy(&address.sin6_addr, mapped, sizeof mapped);
    return (int)syscall(SYS_bind, socket, &address, sizeof address);
}

int bind(int socket, __CONST_SOCKADDR_ARG address, socklen_t size)
{
    const struct sockaddr *any = address.__sockaddr__;
    if (any && size >= sizeof(struct sockaddr_in) && any->sa_family == AF_INET)
        return bind_ipv4(socket, any);
    if (any && size >= sizeof(struct sockaddr_in6) && any->sa_family == AF_INET6)
        return bind_ipv6(socket, any);
    return (int)syscall(SYS_bind, socket, any, size);
}

// Accepted sockets have the options of the one that listens. Small packets go out at once, as other
// servers have it: a server that writes a flight in parts would wait for the client's delayed
// acknowledgements.
int listen(int socket, int backlog)
{
    const int on = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return (int)syscall(SYS_listen, socket, backlog < LEAST_BACKLOG ? LEAST_BACKLOG : backlog);
}
