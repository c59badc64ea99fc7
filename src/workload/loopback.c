#include "workload/loopback.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/listening.h"
#include "measure/preload.h"

static struct sockaddr_in loopback_at(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
}

static uint16_t port_of(const char *address)
{
    return (uint16_t)atoi(strrchr(address, ':') + 1);
}

enum tlc_status tlc_loopback_only(const char *address, struct tlc_error *error)
{
    bool beyond;
    enum tlc_status status = tlc_listening_beyond(port_of(address), &beyond, error);
    if (status == TLC_OK && beyond)
        status =
            tlc_fail(error, TLC_ENVIRONMENT,
                     "listens on an address that other machines reach; tlscost keeps servers on "
                     "loopback: start it with {address}, or write 'listens: everywhere' where it "
                     "has no option for it");
    return status;
}

// ---- addresses

static enum tlc_status choose(uint16_t *port, struct tlc_error *error)
{
    struct sockaddr_in local = loopback_at(0);
    socklen_t size = sizeof local;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    enum tlc_status status = TLC_OK;
    if (fd < 0 || bind(fd, (struct sockaddr *)&local, size) ||
        getsockname(fd, (struct sockaddr *)&local, &size))
        status = tlc_fail_errno(error, "server: a free port on 127.0.0.1");
    *port = ntohs(local.sin_port);
    if (fd >= 0)
        close(fd);
    return status;
}

enum tlc_status tlc_loopback_free(char *address, size_t capacity, struct tlc_error *error)
{
    enum { TRIES = 20 };
    bool beyond = true;
    uint16_t port = 0;
    enum tlc_status status = TLC_OK;
    for (int i = 0; status == TLC_OK && beyond && i < TRIES; i++) {
        status = choose(&port, error);
        if (status == TLC_OK)
            status = tlc_listening_beyond(port, &beyond, error);
    }
    snprintf(address, capacity, "127.0.0.1:%u", port);
    return status;
}

bool tlc_loopback_accepts(const char *address)
{
    struct sockaddr_in to = loopback_at(port_of(address));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to);
    // A reset leaves nothing behind in TIME_WAIT.
    struct linger linger = {.l_onoff = 1};
    if (good)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    if (fd >= 0)
        close(fd);
    return good;
}

// ---- the preloaded object

enum tlc_status tlc_loopback_preload(const char *const *environment, char *pair, size_t capacity,
                                     struct tlc_error *error)
{
    static const char name[] = "LD_PRELOAD=";
    char file[4096];
    const char *other = "";
    enum tlc_status status =
        tlc_preload_file("listens: everywhere", "tlscost-loopback.so", file, sizeof file, error);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, sizeof name - 1))
            other = *environment + sizeof name - 1;
    if (status == TLC_OK && (size_t)snprintf(pair, capacity, "%s%s%s%s", name, file,
                                             *other ? ":" : "", other) >= capacity)
        status = tlc_fail(error, TLC_ENVIRONMENT, "listens: everywhere: %s: too long a name", file);
    return status;
}
