#include "connect/visit.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/names.h"
#include "measure/clock.h"
#include "relay/relay.h"

static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
// RFC 9110, 7.8. The protocol is HTTP/1.1 again under another name: only the round trip counts.
static const char change[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                             "Upgrade: tlscost\r\n\r\n";

void tlc_visit_fail(struct tlc_visit *visit, const char *reason)
{
    visit->state = TLC_VISIT_FAILED;
    snprintf(visit->failure, sizeof visit->failure, "%s", *reason ? reason : "no reason given");
    for (char *at = visit->failure; *at; at++) // counted under JSON names
        if (*at < ' ' || *at > '~')
            *at = '?';
}

static void reach(struct tlc_visit *visit, enum tlc_phase phase)
{
    visit->phase_ns[phase] = tlc_now_ns() - visit->begun_ns;
}

static int open_socket(const struct tlc_namespace *namespace)
{
    struct tlc_error ignored;
    if (namespace && tlc_namespace_enter(namespace, &ignored) != TLC_OK)
        return -1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (namespace)
        tlc_namespace_leave(namespace);
    return fd;
}

void tlc_visit_begin(struct tlc_visit *visit, const struct tlc_visit_target *target,
                     uint64_t due_ns)
{
    struct tlc_stack_error words = {.text = ""};
    const struct tlc_stack_connection_options options = {.server_name = "localhost",
                                                         .session = target->session,
                                                         .session_bytes = target->session_bytes};
    int one = 1;
    memset(visit, 0, sizeof *visit);
    visit->target = target;
    visit->begun_ns = due_ns;
    visit->tls = target->stack->connection_on_memory(target->context, &options, &words);
    visit->fd = open_socket(target->namespace);
    if (!visit->tls)
        tlc_visit_fail(visit, words.text);
    else if (visit->fd < 0)
        tlc_visit_fail(visit, strerror(errno));
    else if (setsockopt(visit->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) ||
             (connect(visit->fd, (const struct sockaddr *)&target->address,
                      sizeof target->address) &&
              errno != EINPROGRESS))
        tlc_visit_fail(visit, strerror(errno));
}

// Sends what the library has to say. False when the connection is over.
static bool flush(struct tlc_visit *visit)
{
    const struct tlc_stack *stack = visit->target->stack;
    for (;;) {
        if (visit->out_from == visit->out_to) {
            visit->out_from = 0;
            visit->out_to = stack->memory_take(visit->tls, visit->out, sizeof visit->out);
            if (!visit->out_to)
                return true;
            if (!visit->phase_ns[TLC_PHASE_FINISHED])
                tlc_wire_client(&visit->wire, visit->out, visit->out_to);
        }
        ssize_t sent = send(visit->fd, visit->out + visit->out_from,
                            visit->out_to - visit->out_from, MSG_NOSIGNAL);
        if (sent >= 0)
            visit->out_from += (size_t)sent;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true; // the socket tells when it takes more
        else if (errno != EINTR)
            return false;
    }
}

static void say(struct tlc_visit *visit, const char *text)
{
    struct tlc_stack_error words = {.text = ""};
    size_t done = 0;
    if (visit->target->stack->write(visit->tls, (const uint8_t *)text, strlen(text), &done,
                                    &words) != TLC_STEP_DONE ||
        done != strlen(text))
        tlc_visit_fail(visit, *words.text ? words.text : "the request could not be written");
}

static const char *not_as_asked(const struct tlc_visit *visit)
{
    struct tlc_stack_evidence seen = {0};
    const struct tlc_visit_target *target = visit->target;
    if (!target->stack->evidence(visit->tls, &seen))
        return "no evidence of the connection";
    if (seen.version != target->version)
        return "another version was negotiated";
    if (seen.resumed != target->resumed)
        return target->resumed ? "the session was not resumed" : "a session was resumed";
    if (seen.hello_retry_request != target->hello_retry_request)
        return target->hello_retry_request ? "no HelloRetryRequest came"
                                           : "a HelloRetryRequest came";
    if (!seen.resumed && seen.verified != 1)
        return "the certificate was not verified";
    return NULL;
}

static void handshake(struct tlc_visit *visit)
{
    struct tlc_stack_error words = {.text = ""};
    enum tlc_stack_step step = visit->target->stack->handshake(visit->tls, &words);
    if (step == TLC_STEP_WANT_READ || step == TLC_STEP_WANT_WRITE)
        return;
    if (step != TLC_STEP_DONE) {
        tlc_visit_fail(visit, words.text);
        return;
    }
    // What the handshake leaves to be sent belongs to it, and is counted with it.
    if (!flush(visit)) {
        tlc_visit_fail(visit, "the connection broke");
        return;
    }
    reach(visit, TLC_PHASE_FINISHED);
    const char *wrong = not_as_asked(visit);
    visit->state = visit->target->upgrade ? TLC_VISIT_CHANGING : TLC_VISIT_REQUESTING;
    if (wrong)
        tlc_visit_fail(visit, wrong);
    else
        say(visit, visit->target->upgrade ? change : request);
}

static void take_head(struct tlc_visit *visit, const uint8_t *bytes, size_t count)
{
    static const char good[] = "HTTP/1.1 101 ";
    size_t room = sizeof visit->head - visit->head_bytes;
    memcpy(visit->head + visit->head_bytes, bytes, count < room ? count : room);
    visit->head_bytes += count < room ? count : room;
    if (memmem(visit->head, visit->head_bytes, "\r\n\r\n", 4)) {
        visit->state = TLC_VISIT_REQUESTING;
        if (strncmp(visit->head, good, sizeof good - 1) != 0)
            tlc_visit_fail(visit, "the server did not change the protocol");
        else
            say(visit, request);
    } else if (visit->head_bytes == sizeof visit->head) {
        tlc_visit_fail(visit, "the server's answer to the upgrade has no end");
    }
}

// Reads application data, and on the way tickets.
static void read_answers(struct tlc_visit *visit)
{
    while (visit->state == TLC_VISIT_CHANGING || visit->state == TLC_VISIT_REQUESTING) {
        struct tlc_stack_error words = {.text = ""};
        uint8_t bytes[2048];
        size_t done = 0;
        enum tlc_stack_step step =
            visit->target->stack->read(visit->tls, bytes, sizeof bytes, &done, &words);
        if (step == TLC_STEP_WANT_READ || step == TLC_STEP_WANT_WRITE)
            return;
        if (step != TLC_STEP_DONE) {
            tlc_visit_fail(visit, *words.text ? words.text : "the server ended the connection");
        } else if (visit->state == TLC_VISIT_CHANGING) {
            take_head(visit, bytes, done);
        } else {
            reach(visit, TLC_PHASE_FIRST_BYTE);
            visit->state = TLC_VISIT_DONE;
        }
    }
}

static void advance(struct tlc_visit *visit)
{
    if (visit->state == TLC_VISIT_HANDSHAKING)
        handshake(visit);
    if (visit->state == TLC_VISIT_CHANGING || visit->state == TLC_VISIT_REQUESTING)
        read_answers(visit);
    if (visit->state != TLC_VISIT_FAILED && visit->state != TLC_VISIT_DONE && !flush(visit))
        tlc_visit_fail(visit, "the connection broke");
}

// Hands whole records over one by one, so that what comes in one packet with the server's Finished
// is not counted to it.
static void take_records(struct tlc_visit *visit)
{
    size_t size;
    while (visit->state >= TLC_VISIT_HANDSHAKING && visit->state <= TLC_VISIT_REQUESTING) {
        if (!tlc_wire_record_size(visit->in, visit->in_bytes, &size)) {
            tlc_visit_fail(visit, "the server's answer is no TLS");
            return;
        }
        if (!size || visit->in_bytes < size)
            return;
        if (!visit->phase_ns[TLC_PHASE_FINISHED])
            tlc_wire_server(&visit->wire, visit->in, size);
        if (visit->wire.server_hello && !visit->phase_ns[TLC_PHASE_SERVER_HELLO])
            reach(visit, TLC_PHASE_SERVER_HELLO);
        if (!visit->target->stack->memory_feed(visit->tls, visit->in, size)) {
            tlc_visit_fail(visit, "out of memory");
            return;
        }
        visit->in_bytes -= size;
        memmove(visit->in, visit->in + size, visit->in_bytes);
        advance(visit);
    }
}

static void read_in(struct tlc_visit *visit)
{
    while (visit->state >= TLC_VISIT_HANDSHAKING && visit->state <= TLC_VISIT_REQUESTING) {
        ssize_t got =
            recv(visit->fd, visit->in + visit->in_bytes, sizeof visit->in - visit->in_bytes, 0);
        if (got > 0) {
            visit->in_bytes += (size_t)got;
            take_records(visit);
        } else if (got == 0) {
            tlc_visit_fail(visit, "the server closed the connection");
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            tlc_visit_fail(visit, strerror(errno));
        }
    }
}

static void start_tls(struct tlc_visit *visit)
{
    reach(visit, TLC_PHASE_TCP);
    visit->state = TLC_VISIT_HANDSHAKING;
    advance(visit);
}

static void finish_connect(struct tlc_visit *visit)
{
    struct tcp_info info;
    int code = 0;
    socklen_t size = sizeof code, info_size = sizeof info;
    if (getsockopt(visit->fd, SOL_SOCKET, SO_ERROR, &code, &size) || code) {
        tlc_visit_fail(visit, strerror(code ? code : errno));
        return;
    }
    if (getsockopt(visit->fd, IPPROTO_TCP, TCP_INFO, &info, &info_size) ||
        info.tcpi_state == TCP_SYN_SENT)
        return;
    if (visit->target->announced)
        visit->state = TLC_VISIT_WAITING;
    else
        start_tls(visit);
}

static void await_word(struct tlc_visit *visit)
{
    uint8_t word;
    ssize_t got = recv(visit->fd, &word, 1, 0);
    if (got == 1 && word == TLC_RELAY_ESTABLISHED)
        start_tls(visit);
    else if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        tlc_visit_fail(visit, "the relay gave no word");
}

bool tlc_visit_go_on(struct tlc_visit *visit)
{
    if (visit->state == TLC_VISIT_CONNECTING)
        finish_connect(visit);
    if (visit->state == TLC_VISIT_WAITING)
        await_word(visit);
    if (visit->state >= TLC_VISIT_HANDSHAKING && visit->state <= TLC_VISIT_REQUESTING) {
        if (!flush(visit))
            tlc_visit_fail(visit, "the connection broke");
        else
            read_in(visit);
    }
    return visit->state == TLC_VISIT_DONE || visit->state == TLC_VISIT_FAILED;
}

json_t *tlc_visit_evidence(const struct tlc_visit *visit)
{
    struct tlc_stack_evidence seen = {0};
    const struct tlc_wire *wire = &visit->wire;
    if (!visit->target->stack->evidence(visit->tls, &seen))
        return NULL;
    size_t chain_bytes = 0;
    for (size_t i = 0; i < seen.chain_count; i++)
        chain_bytes += seen.chain_der_bytes[i];
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:b, s:s, s:{s:I, s:I}, s:{s:I, s:I, s:I, s:I, s:I}}", "version",
        tlc_name(TLC_NAME_VERSION, seen.version), "cipher", tlc_name(TLC_NAME_CIPHER, seen.cipher),
        "group", seen.group ? tlc_name(TLC_NAME_GROUP, seen.group) : "", "hello_retry_request",
        seen.hello_retry_request, "resumed", seen.resumed, "alpn", seen.alpn, "chain", "depth",
        (json_int_t)seen.chain_count, "bytes", (json_int_t)chain_bytes, "bytes", "client_hello",
        (json_int_t)wire->client_hello, "hello_retry_request",
        (json_int_t)wire->hello_retry_request, "server_flight", (json_int_t)wire->server_flight,
        "client_flight", (json_int_t)wire->client_flight, "server_finished",
        (json_int_t)wire->server_finished);
}

void tlc_visit_end(struct tlc_visit *visit)
{
    struct linger reset = {.l_onoff = 1};
    visit->target->stack->connection_free(visit->tls);
    visit->tls = NULL;
    if (visit->fd < 0)
        return;
    // No TIME_WAIT piles up; the answer is here, so nothing is lost.
    (void)setsockopt(visit->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(visit->fd);
    visit->fd = -1;
}
