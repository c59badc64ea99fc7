#include "base/message.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/monotonic.h"

static enum tlc_status write_all(int fd, const void *bytes, size_t count, struct tlc_error *error)
{
    const char *at = bytes;
    while (count) {
        // A control socket whose peer died must give an error, not a SIGPIPE.
        ssize_t done = send(fd, at, count, MSG_NOSIGNAL);
        if (done < 0 && errno == ENOTSOCK)
            done = write(fd, at, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return tlc_fail_errno(error, "send a control message");
        at += done;
        count -= (size_t)done;
    }
    return TLC_OK;
}

enum tlc_status tlc_message_send(int fd, const json_t *message, struct tlc_error *error)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (!text)
        return tlc_fail(error, TLC_ENVIRONMENT, "send a control message: out of memory");
    size_t length = strlen(text);
    enum tlc_status status;
    if (length > TLC_MESSAGE_MAX) {
        status =
            tlc_fail(error, TLC_ENVIRONMENT, "send a control message: %zu bytes: too long", length);
    } else {
        uint8_t head[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16),
                           (uint8_t)(length >> 24)};
        status = write_all(fd, head, sizeof head, error);
        if (status == TLC_OK)
            status = write_all(fd, text, length, error);
    }
    free(text);
    return status;
}

// Waits until `fd` can be read; `deadline` < 0 waits without end.
static enum tlc_status wait_readable(int fd, int64_t deadline, struct tlc_error *error)
{
    for (;;) {
        int64_t left = deadline < 0 ? -1 : deadline - tlc_monotonic_ms();
        if (deadline >= 0 && left < 0)
            left = 0;
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        int ready = poll(&waited, 1, (int)left);
        if (ready > 0)
            return TLC_OK;
        if (ready == 0)
            return tlc_fail(error, TLC_ENVIRONMENT, "receive a control message: no answer in time");
        if (errno != EINTR)
            return tlc_fail_errno(error, "receive a control message");
    }
}

static enum tlc_status read_all(int fd, int64_t deadline, void *bytes, size_t count,
                                struct tlc_error *error)
{
    char *at = bytes;
    while (count) {
        enum tlc_status status = wait_readable(fd, deadline, error);
        if (status != TLC_OK)
            return status;
        ssize_t done = read(fd, at, count);
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (done < 0)
            return tlc_fail_errno(error, "receive a control message");
        if (done == 0)
            return tlc_fail(error, TLC_ENVIRONMENT,
                            "receive a control message: the peer has ended");
        at += done;
        count -= (size_t)done;
    }
    return TLC_OK;
}

enum tlc_status tlc_message_receive(int fd, int timeout_ms, json_t **message,
                                    struct tlc_error *error)
{
    *message = NULL;
    int64_t deadline = timeout_ms < 0 ? -1 : tlc_monotonic_ms() + timeout_ms;
    uint8_t head[4];
    enum tlc_status status = read_all(fd, deadline, head, sizeof head, error);
    if (status != TLC_OK)
        return status;
    size_t length =
        (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
    if (length > TLC_MESSAGE_MAX)
        return tlc_fail(error, TLC_ENVIRONMENT, "receive a control message: %zu bytes: too long",
                        length);
    char *text = malloc(length + 1);
    if (!text)
        return tlc_fail(error, TLC_ENVIRONMENT, "receive a control message: out of memory");
    status = read_all(fd, deadline, text, length, error);
    if (status == TLC_OK) {
        json_error_t reason;
        *message = json_loadb(text, length, 0, &reason);
        if (!*message)
            status = tlc_fail(error, TLC_ENVIRONMENT, "receive a control message: not JSON: %s",
                              reason.text);
    }
    free(text);
    return status;
}
