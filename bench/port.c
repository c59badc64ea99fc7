#include "bench/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DISCARD = 9 }; // a port that nobody serves any more, should there be no free one

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

uint16_t port_unused(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && !bind(fd, (struct sockaddr *)&address, length) &&
                 !getsockname(fd, (struct sockaddr *)&address, &length);
    if (fd >= 0)
        close(fd);
    return bound ? ntohs(address.sin_port) : DISCARD;
}

bool port_accepts(uint16_t port)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool accepted = fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address);
    if (fd >= 0)
        close(fd);
    return accepted;
}
