#include "workload/network_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// A message of rtnetlink(7) that is being written. It is far larger than what is put into it.
struct message {
    struct nlmsghdr head;
    struct ifinfomsg link;
    char rest[512];
};

static void *end_of(struct message *message)
{
    return (char *)message + NLMSG_ALIGN(message->head.nlmsg_len);
}

static struct rtattr *put(struct message *message, unsigned short type, const void *data,
                          size_t bytes)
{
    struct rtattr *attribute = end_of(message);
    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)RTA_LENGTH(bytes);
    if (bytes)
        memcpy(RTA_DATA(attribute), data, bytes);
    message->head.nlmsg_len = NLMSG_ALIGN(message->head.nlmsg_len) + (uint32_t)RTA_SPACE(bytes);
    return attribute;
}

// What was put since `outer` becomes its content.
static void close_nest(struct message *message, struct rtattr *outer)
{
    outer->rta_len = (unsigned short)((char *)end_of(message) - (char *)outer);
}

// Sends the request and waits for the kernel's acknowledgement; an errno value, 0 when it agreed.
static int request(const struct message *message)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[1024]; // the request comes back with it
    } answer = {0};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        return errno;
    int code = 0;
    ssize_t got = -1;
    if (send(fd, message, message->head.nlmsg_len, 0) >= 0)
        do
            got = recv(fd, &answer, sizeof answer, 0);
        while (got < 0 && errno == EINTR);
    if (got < 0)
        code = errno;
    else if (got < (ssize_t)NLMSG_LENGTH(sizeof answer.error) ||
             answer.head.nlmsg_type != NLMSG_ERROR)
        code = EPROTO;
    else
        code = -answer.error.error;
    close(fd);
    return code;
}

enum tlc_status tlc_link_make_veth(const char *name, const char *peer, int peer_namespace,
                                   struct tlc_error *error)
{
    static const struct ifinfomsg any_link = {.ifi_family = AF_UNSPEC};
    struct message message = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof message.link),
                 .nlmsg_type = RTM_NEWLINK,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
    };
    put(&message, IFLA_IFNAME, name, strlen(name) + 1);
    struct rtattr *information = put(&message, IFLA_LINKINFO, NULL, 0);
    put(&message, IFLA_INFO_KIND, "veth", strlen("veth"));
    struct rtattr *data = put(&message, IFLA_INFO_DATA, NULL, 0);
    struct rtattr *other = put(&message, VETH_INFO_PEER, &any_link, sizeof any_link);
    put(&message, IFLA_IFNAME, peer, strlen(peer) + 1);
    put(&message, IFLA_NET_NS_FD, &peer_namespace, sizeof peer_namespace);
    close_nest(&message, other);
    close_nest(&message, data);
    close_nest(&message, information);
    int code = request(&message);
    if (!code)
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT, "make a veth pair: %s%s", strerror(code),
                    code == EOPNOTSUPP ? "; the kernel lacks the module veth" : "");
}

static void set_ipv4(struct sockaddr *to, in_addr_t network_order)
{
    struct sockaddr_in ip = {.sin_family = AF_INET, .sin_addr.s_addr = network_order};
    memcpy(to, &ip, sizeof ip);
}

enum tlc_status tlc_link_set_up(const char *name, const char *address, unsigned prefix,
                                struct tlc_error *error)
{
    struct ifreq link = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return tlc_fail_errno(error, "link %s: socket", name);
    strncpy(link.ifr_name, name, sizeof link.ifr_name - 1);
    bool good = true;
    if (address) {
        set_ipv4(&link.ifr_addr, inet_addr(address));
        good = ioctl(fd, SIOCSIFADDR, &link) == 0;
        set_ipv4(&link.ifr_netmask, htonl(~UINT32_C(0) << (32 - prefix)));
        good = good && ioctl(fd, SIOCSIFNETMASK, &link) == 0;
    }
    good = good && ioctl(fd, SIOCGIFFLAGS, &link) == 0;
    link.ifr_flags = (short)(link.ifr_flags | IFF_UP);
    good = good && ioctl(fd, SIOCSIFFLAGS, &link) == 0;
    enum tlc_status status = good ? TLC_OK : tlc_fail_errno(error, "link %s: set up", name);
    close(fd);
    return status;
}
