#include "generator/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

static enum tlc_scope scope_of_ipv4(uint32_t host_order)
{
    static const struct {
        uint32_t network, mask;
    } near[] = {
        {0x7f000000, 0xff000000}, // 127.0.0.0/8
        {0x0a000000, 0xff000000}, // 10.0.0.0/8
        {0xac100000, 0xfff00000}, // 172.16.0.0/12
        {0xc0a80000, 0xffff0000}, // 192.168.0.0/16
        {0xa9fe0000, 0xffff0000}, // 169.254.0.0/16
    };
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if ((host_order & near[i].mask) == near[i].network)
            return TLC_SCOPE_NEAR;
    return TLC_SCOPE_ANYWHERE;
}

enum tlc_scope tlc_target_address_scope(const struct sockaddr *address)
{
    if (address->sa_family == AF_UNIX)
        return TLC_SCOPE_LOCAL;
    if (address->sa_family == AF_INET)
        return scope_of_ipv4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
    if (address->sa_family != AF_INET6)
        return TLC_SCOPE_ANYWHERE;
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(ip)) {
        uint32_t mapped;
        memcpy(&mapped, ip->s6_addr + 12, sizeof mapped);
        return scope_of_ipv4(ntohl(mapped));
    }
    bool unique_local = (ip->s6_addr[0] & 0xfe) == 0xfc; // fc00::/7
    if (IN6_IS_ADDR_LOOPBACK(ip) || IN6_IS_ADDR_LINKLOCAL(ip) || unique_local)
        return TLC_SCOPE_NEAR;
    return TLC_SCOPE_ANYWHERE;
}

static enum tlc_status parse_unix(const char *path, struct tlc_target_address *address,
                                  struct tlc_error *error)
{
    struct sockaddr_un *local = (struct sockaddr_un *)&address->storage;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof local->sun_path)
        return tlc_fail(error, TLC_USAGE, "address: unix:%s: a path of 1 to %zu bytes is needed",
                        path, sizeof local->sun_path - 1);
    struct stat file;
    if (stat(path, &file) == 0 && !S_ISSOCK(file.st_mode))
        return tlc_fail(error, TLC_USAGE, "address: unix:%s: not a socket", path);
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length + 1);
    address->length = sizeof *local;
    address->scope = TLC_SCOPE_LOCAL;
    return TLC_OK;
}

// Splits "HOST:PORT" and "[IPv6]:PORT".
static bool split(const char *text, char *host, size_t capacity, const char **port)
{
    const char *colon = strrchr(text, ':');
    if (!colon || !colon[1])
        return false;
    const char *from = text, *to = colon;
    if (*from == '[') {
        if (to == from || to[-1] != ']')
            return false;
        from++;
        to--;
    } else if (memchr(from, ':', (size_t)(to - from))) {
        return false; // an IPv6 address without brackets
    }
    if (to <= from || (size_t)(to - from) >= capacity)
        return false;
    memcpy(host, from, (size_t)(to - from));
    host[to - from] = '\0';
    *port = colon + 1;
    char *end;
    unsigned long number = strtoul(*port, &end, 10);
    return isdigit((unsigned char)**port) && !*end && number > 0 && number <= 65535;
}

enum tlc_status tlc_target_address_parse(const char *text, struct tlc_target_address *address,
                                         struct tlc_error *error)
{
    *address = (struct tlc_target_address){.length = 0};
    if (!strncmp(text, "unix:", 5))
        return parse_unix(text + 5, address, error);
    char host[256];
    const char *port;
    if (!split(text, host, sizeof host, &port))
        return tlc_fail(error, TLC_USAGE,
                        "address: '%s': not HOST:PORT with a port from 1 to 65535; write for "
                        "example 127.0.0.1:4433, "
                        "[::1]:4433 or unix:/path",
                        text);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    int code = getaddrinfo(host, port, &hints, &found);
    if (code)
        return tlc_fail(error, TLC_USAGE, "address: '%s': %s", text, gai_strerror(code));
    memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
    address->length = found->ai_addrlen;
    address->scope = tlc_target_address_scope(found->ai_addr);
    freeaddrinfo(found);
    return TLC_OK;
}

bool tlc_target_address_source(const struct tlc_target_address *target, unsigned index,
                               unsigned spread, struct tlc_target_address *source)
{
    const struct sockaddr_in *to = (const struct sockaddr_in *)&target->storage;
    if (spread < 2 || to->sin_family != AF_INET || ntohl(to->sin_addr.s_addr) >> 24 != 127)
        return false;
    *source = (struct tlc_target_address){.length = sizeof *to, .scope = TLC_SCOPE_NEAR};
    struct sockaddr_in *from = (struct sockaddr_in *)&source->storage;
    from->sin_family = AF_INET;
    // 127.1.0.1 onwards: away from the addresses that servers usually listen on.
    from->sin_addr.s_addr = htonl(0x7f010001u + index % spread);
    return true;
}
