#include "server/http.h"

#include <string.h>
#include <strings.h>

#define ANSWER(text, ends)                                                                         \
    (struct tlc_http_answer)                                                                       \
    {                                                                                              \
        .bytes = (const uint8_t *)(text), .count = sizeof(text) - 1, .close = (ends)               \
    }
#define HEAD    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n"
#define BODY    "tlscost\n"
#define LAST    "Connection: close\r\n"
#define UPGRADE "Upgrade: tlscost"
#define NONE    "Content-Length: 0\r\n"

static bool starts_with(const uint8_t *bytes, size_t count, const char *word)
{
    size_t length = strlen(word);
    return count >= length && !memcmp(bytes, word, length);
}

// Whether a field line of the head has this name and value (RFC 9112, 5; names in any case).
static bool has_field(const uint8_t *head, size_t count, const char *field)
{
    size_t length = strlen(field);
    for (size_t at = 0; at + length + 2 <= count; at++)
        if (head[at] == '\n' && !strncasecmp((const char *)head + at + 1, field, length))
            return true;
    return false;
}

static bool wants_close(const uint8_t *head, size_t count)
{
    // HTTP/1.0 clients close unless they say otherwise (RFC 9112, 9.3).
    const uint8_t *line_end = memchr(head, '\r', count);
    bool old = line_end && line_end - head >= 8 && !memcmp(line_end - 8, "HTTP/1.0", 8);
    return old || has_field(head, count, "connection: close");
}

size_t tlc_http_request(const uint8_t *bytes, size_t count, bool full,
                        struct tlc_http_answer *answer)
{
    const uint8_t *end = memmem(bytes, count, "\r\n\r\n", 4);
    if (!end) {
        if (!full)
            return 0;
        *answer = ANSWER("HTTP/1.1 431 Request Header Fields Too Large\r\n" NONE LAST "\r\n", true);
        return count;
    }
    size_t head = (size_t)(end - bytes) + 4;
    bool last = wants_close(bytes, head);
    bool body =
        has_field(bytes, head, "content-length:") || has_field(bytes, head, "transfer-encoding:");
    if (starts_with(bytes, head, "GET ") && !body && has_field(bytes, head, UPGRADE))
        // RFC 9110, 7.8. The new protocol is HTTP/1.1 under another name, so that what an upgrade
        // costs its client, a round trip, can be measured.
        *answer =
            ANSWER("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n" UPGRADE "\r\n\r\n",
                   false);
    else if (starts_with(bytes, head, "GET ") && !body)
        *answer = last ? ANSWER(HEAD LAST "\r\n" BODY, true) : ANSWER(HEAD "\r\n" BODY, false);
    else if (starts_with(bytes, head, "HEAD ") && !body)
        *answer = last ? ANSWER(HEAD LAST "\r\n", true) : ANSWER(HEAD "\r\n", false);
    else
        // A body would have to be skipped with care; ending the connection is always safe.
        *answer = ANSWER("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n" NONE LAST "\r\n",
                         true);
    return head;
}
