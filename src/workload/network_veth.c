#include "workload/network_veth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/proc.h"
#include "workload/network_link.h"

enum { PREFIX = 30, MASK_BYTES = 512, WORDS_BYTES = 256, LEAST_SIDES = 2, ALL = 3 };

static const char *const links[2] = {"server", "client"};
static const char *const addresses[2] = {TLC_VETH_SERVER, TLC_VETH_CLIENT};

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return code;
}

// --- descriptors between processes (unix(7), SCM_RIGHTS) ---

union rights {
    char bytes[CMSG_SPACE(ALL * sizeof(int))];
    struct cmsghdr align;
};

// Words say what went wrong; empty, and with descriptors, when nothing did.
static void send_answer(int to, const char *words, const int *descriptors, size_t count)
{
    union rights rights = {{0}};
    struct iovec text = {(void *)(uintptr_t)words, strlen(words) + 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    if (count) {
        message.msg_control = rights.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(head), descriptors, count * sizeof(int));
    }
    (void)!sendmsg(to, &message, MSG_NOSIGNAL);
}

// How many descriptors came; `words` gets the text.
static size_t receive_answer(int from, char *words, int *descriptors)
{
    union rights rights = {{0}};
    struct iovec text = {words, WORDS_BYTES - 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = rights.bytes,
                             .msg_controllen = sizeof rights.bytes};
    ssize_t got;
    do
        got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    words[got > 0 ? got : 0] = '\0';
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return 0;
    size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors, CMSG_DATA(head), count * sizeof(int));
    return count;
}

// Runs `task` in a child, which joins namespaces that the caller stays out of, and takes what it
// answers.
static size_t ask_child(void (*task)(const void *of, int answer), const void *of, char *words,
                        int *descriptors)
{
    int ends[2];
    words[0] = '\0';
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return 0;
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            task(of, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    size_t count = child > 0 ? receive_answer(ends[0], words, descriptors) : 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return count;
}

// --- making the two sides ---

struct request {
    char masks[2][MASK_BYTES];   // CPUs of each side, as the kernel writes them; "0": no steering
    char backlog[32], ports[64]; // the machine's own somaxconn and range of ports; empty: unknown
};

struct making {
    const struct request *request;
    int answer;
    int spaces[ALL]; // server's, client's, user namespace or -1
    char words[WORDS_BYTES];
};

static bool fail_with(struct making *making, const char *what, int code, const char *remedy)
{
    snprintf(making->words, sizeof making->words, "%s: %s%s", what, strerror(code), remedy);
    return false;
}

static bool own_space(struct making *making, const char *kind, int *space)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    *space = open(path, O_RDONLY | O_CLOEXEC);
    return *space >= 0 || fail_with(making, path, errno, "");
}

// A user namespace in which the user is who they were, with the rights over its networks.
static bool enter_user_space(struct making *making)
{
    static const char remedy[] =
        "; run as root, or where the administrator allows user namespaces (sysctl "
        "user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)";
    char map[64];
    unsigned user = (unsigned)geteuid(), group = (unsigned)getegid();
    if (unshare(CLONE_NEWUSER))
        return fail_with(making, "a user namespace", errno, remedy);
    snprintf(map, sizeof map, "%u %u 1", user, user);
    int code = write_file("/proc/self/setgroups", "deny");
    if (!code || code == ENOENT)
        code = write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", group, group);
    if (!code)
        code = write_file("/proc/self/gid_map", map);
    if (code)
        return fail_with(making, "the user namespace's map", code, remedy);
    return own_space(making, "user", &making->spaces[2]);
}

// Links that are made in the namespace from now on steer to the CPUs; since Linux 6.3.
static bool steer_new_links(const char *mask)
{
    return !strcmp(mask, "0") || write_file("/proc/sys/net/core/rps_default_mask", mask) == 0;
}

// The queue's own file, in a /sys that shows this namespace. Only root may write it.
static int steer_by_sysfs(const char *link, const char *mask)
{
    char path[128];
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("sysfs", "/sys", "sysfs", 0, NULL))
        return errno;
    snprintf(path, sizeof path, "/sys/class/net/%s/queues/rx-0/rps_cpus", link);
    return write_file(path, mask);
}

// What a namespace does not inherit from the machine. None of it is needed for a connection.
static void set_like_machine(const struct request *request)
{
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"); // its neighbour discovery
    write_file("/proc/sys/net/core/somaxconn", request->backlog);
    write_file("/proc/sys/net/ipv4/ip_local_port_range", request->ports);
    // One source address has to do where loopback has 2^24.
    write_file("/proc/sys/net/ipv4/tcp_tw_reuse", "1");
}

static bool make_side(struct making *making, int side, bool *steered)
{
    if (unshare(CLONE_NEWNET))
        return fail_with(making, "a network namespace", errno, "");
    set_like_machine(making->request);
    *steered = steer_new_links(making->request->masks[side]);
    return own_space(making, "net", &making->spaces[side]);
}

static bool finish_side(struct making *making, int side, bool steered)
{
    struct tlc_error error;
    if (setns(making->spaces[side], CLONE_NEWNET))
        return fail_with(making, "join the network namespace", errno, "");
    int code = steered ? 0 : steer_by_sysfs(links[side], making->request->masks[side]);
    if (code)
        return fail_with(making, "receive packet steering", code,
                         "; it needs Linux 6.3 or later and a writable /proc/sys, or root");
    if (tlc_link_set_up("lo", NULL, 0, &error) == TLC_OK &&
        tlc_link_set_up(links[side], addresses[side], PREFIX, &error) == TLC_OK)
        return true;
    snprintf(making->words, sizeof making->words, "%.255s", error.text);
    return false;
}

static bool make_sides(struct making *making)
{
    bool steered[2];
    if (unshare(CLONE_NEWNET)) { // a trial: whether this user may
        if (errno != EPERM)
            return fail_with(making, "a network namespace", errno, "");
        if (!enter_user_space(making))
            return false;
    }
    struct tlc_error error;
    if (!make_side(making, TLC_VETH_OF_SERVER, &steered[0]) ||
        !make_side(making, TLC_VETH_OF_CLIENT, &steered[1]))
        return false;
    if (tlc_link_make_veth(links[1], links[0], making->spaces[0], &error) != TLC_OK) {
        snprintf(making->words, sizeof making->words, "%.255s", error.text);
        return false;
    }
    return finish_side(making, TLC_VETH_OF_CLIENT, steered[1]) &&
           finish_side(making, TLC_VETH_OF_SERVER, steered[0]);
}

static void make_and_answer(const void *of, int answer)
{
    struct making making = {.request = of, .answer = answer, .spaces = {-1, -1, -1}};
    bool made = make_sides(&making);
    send_answer(answer, made ? "" : making.words, making.spaces,
                !made                   ? 0
                : making.spaces[2] >= 0 ? ALL
                                        : LEAST_SIDES);
}

static void read_own(const char *path, char *text, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, capacity - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static void mask_of(const cpu_set_t *cpus, char *mask)
{
    cpu_set_t none;
    CPU_ZERO(&none);
    tlc_mask_format(cpus ? cpus : &none, mask, MASK_BYTES);
}

enum tlc_status tlc_veth_open(const cpu_set_t *server_cpus, const cpu_set_t *client_cpus,
                              struct tlc_veth **opened, struct tlc_error *error)
{
    struct request request;
    char words[WORDS_BYTES];
    int spaces[ALL] = {-1, -1, -1};
    struct tlc_veth *veth = calloc(1, sizeof *veth);
    if (!veth)
        return tlc_fail(error, TLC_ENVIRONMENT, "network veth: out of memory");
    mask_of(server_cpus, request.masks[TLC_VETH_OF_SERVER]);
    mask_of(client_cpus, request.masks[TLC_VETH_OF_CLIENT]);
    read_own("/proc/sys/net/core/somaxconn", request.backlog, sizeof request.backlog);
    read_own("/proc/sys/net/ipv4/ip_local_port_range", request.ports, sizeof request.ports);
    if (ask_child(make_and_answer, &request, words, spaces) < LEAST_SIDES) {
        free(veth);
        return tlc_fail(error, TLC_ENVIRONMENT, "network veth: %s",
                        words[0] ? words : "the process that makes it ended without a word");
    }
    for (int side = 0; side < 2; side++) {
        bool user = spaces[2] >= 0;
        veth->namespaces[side][0] = user ? spaces[2] : spaces[side];
        veth->namespaces[side][1] = user ? spaces[side] : -1;
        veth->namespaces[side][2] = -1;
    }
    *opened = veth;
    return TLC_OK;
}

// --- sockets of the client's side ---

struct socket_request {
    const struct tlc_veth *veth;
    int domain, type, protocol;
};

static void make_socket(const void *of, int answer)
{
    const struct socket_request *request = of;
    const int *spaces = request->veth->namespaces[TLC_VETH_OF_CLIENT];
    for (size_t i = 0; spaces[i] >= 0; i++)
        if (setns(spaces[i], 0)) {
            send_answer(answer, strerror(errno), NULL, 0);
            return;
        }
    int fd = socket(request->domain, request->type, request->protocol);
    if (fd < 0)
        send_answer(answer, strerror(errno), NULL, 0);
    else
        send_answer(answer, "", &fd, 1);
}

int tlc_veth_client_socket(const struct tlc_veth *veth, int domain, int type, int protocol)
{
    struct socket_request request = {veth, domain, type, protocol};
    char words[WORDS_BYTES];
    int fd[ALL];
    if (ask_child(make_socket, &request, words, fd) == 1)
        return fd[0];
    errno = EPERM;
    return -1;
}

void tlc_veth_close(struct tlc_veth *veth)
{
    if (!veth)
        return;
    bool user = veth->namespaces[0][1] >= 0;
    for (int side = 0; side < 2; side++)
        close(veth->namespaces[side][user ? 1 : 0]);
    if (user)
        close(veth->namespaces[0][0]);
    free(veth);
}
