#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include "server_rig.h"

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/message.h"
#include "fake_stack.h"

enum { PATIENCE_MS = 60000 };

static void take_note(const char *text, void *user)
{
    struct rig *rig = user;
    if (write(rig->notes[1], text, strlen(text)) < 0 || write(rig->notes[1], "\n", 1) < 0)
        abort();
}

void rig_prepare(struct rig *rig)
{
    static const struct tlc_stack_certificate certificate = {.chain_pem = "", .key_pem = ""};
    int ends[2];
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
    memset(rig, 0, sizeof *rig);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(pipe(rig->notes), 0);
    rig->control = ends[0];
    rig->theirs = ends[1];
    rig->options = (struct tlc_server_options){
        .listen = "127.0.0.1:0",
        .plugin = &fake_plugin,
        .workers = 1,
        .control = ends[1],
        .note = take_note,
        .user = rig,
        .stack = {.certificates = &certificate, .certificate_count = 1},
    };
}

static void *run(void *argument)
{
    struct rig *rig = argument;
    rig->status = tlc_server_run(&rig->options, &rig->counters, &rig->error);
    shutdown(rig->theirs, SHUT_RDWR);
    return NULL;
}

json_t *rig_receive(struct rig *rig)
{
    json_t *message;
    struct tlc_error error;
    if (tlc_message_receive(rig->control, PATIENCE_MS, &message, &error) != TLC_OK)
        fail_msg("%s; the server says: %s", error.text, rig->error.text);
    return message;
}

void rig_start(struct rig *rig)
{
    assert_int_equal(pthread_create(&rig->thread, NULL, run, rig), 0);
    json_t *ready = rig_receive(rig);
    assert_string_equal(json_string_value(json_object_get(ready, "event")), "ready");
    assert_int_equal(json_integer_value(json_object_get(ready, "pid")), getpid());
    const char *address = json_string_value(json_object_get(ready, "address"));
    assert_true(strlen(address) < sizeof rig->address);
    memcpy(rig->address, address, strlen(address) + 1);
    json_decref(ready);
}

enum tlc_status rig_fails(struct rig *rig)
{
    run(rig);
    assert_null(rig->counters);
    assert_int_equal(fake.contexts, 0);
    rig_free(rig);
    return rig->status;
}

void rig_send(struct rig *rig, json_t *request)
{
    struct tlc_error error;
    assert_non_null(request);
    assert_int_equal(tlc_message_send(rig->control, request, &error), TLC_OK);
    json_decref(request);
}

json_t *rig_ask(struct rig *rig, json_t *request)
{
    rig_send(rig, request);
    return rig_receive(rig);
}

json_t *rig_settle(struct rig *rig, int handshakes)
{
    json_t *reply = rig_ask(rig, json_pack("{s:s, s:i, s:i}", "command", "settled", "handshakes",
                                           handshakes, "timeout_ms", PATIENCE_MS));
    assert_true(json_is_true(json_object_get(reply, "settled")));
    json_t *totals = json_incref(json_object_get(reply, "totals"));
    json_decref(reply);
    return totals;
}

void rig_stop(struct rig *rig)
{
    json_t *reply = rig_ask(rig, json_pack("{s:s}", "command", "stop"));
    assert_true(json_is_true(json_object_get(reply, "ok")));
    json_decref(reply);
    json_t *stopped = rig_receive(rig);
    assert_string_equal(json_string_value(json_object_get(stopped, "event")), "stopped");
    json_decref(stopped);
    pthread_join(rig->thread, NULL);
    if (rig->status != TLC_OK)
        fail_msg("%s", rig->error.text);
    const json_t *totals = json_object_get(rig->counters, "totals");
    assert_int_equal(count_of(totals, "open"), 0);
    assert_int_equal(fake.connections, 0);
    assert_int_equal(fake.contexts, 0);
}

void rig_free(struct rig *rig)
{
    json_decref(rig->counters);
    close(rig->control);
    close(rig->theirs);
    close(rig->notes[0]);
    close(rig->notes[1]);
}

static int connect_ip(const char *address)
{
    const char *port = strrchr(address, ':') + 1;
    struct sockaddr_in ip4 = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 ip6 = {
        .sin6_family = AF_INET6, .sin6_port = ip4.sin_port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool six = address[0] == '[';
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(six ? connect(fd, (struct sockaddr *)&ip6, sizeof ip6)
                         : connect(fd, (struct sockaddr *)&ip4, sizeof ip4),
                     0);
    return fd;
}

static int connect_unix(const char *path)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof local.sun_path);
    memcpy(local.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&local, sizeof local), 0);
    return fd;
}

int client_connect(const struct rig *rig)
{
    return strncmp(rig->address, "unix:", 5) ? connect_ip(rig->address)
                                             : connect_unix(rig->address + 5);
}

void client_send(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

void client_expect(int fd, const char *text)
{
    char bytes[256];
    size_t count = strlen(text);
    assert_true(count < sizeof bytes);
    assert_int_equal(recv(fd, bytes, count, MSG_WAITALL), count);
    bytes[count] = '\0';
    assert_string_equal(bytes, text);
}

void client_handshake(int fd, const char *hello)
{
    client_send(fd, hello);
    client_send(fd, "\n");
    client_expect(fd, "welcome\n");
    client_send(fd, "finished\n");
}

void client_reset(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    close(fd);
}

long client_read_to_end(int fd)
{
    char bytes[65536];
    long sum = 0;
    for (;;) {
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got < 0) {
            assert_int_equal(errno, ECONNRESET);
            return -1;
        }
        if (got == 0)
            return sum;
        sum += got;
    }
}

long count_of(const json_t *totals, const char *name)
{
    const json_t *count = json_object_get(totals, name);
    if (!json_is_integer(count))
        fail_msg("no counter '%s'", name);
    return (long)json_integer_value(count);
}
