#include "measure/listening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/text.h"

enum { LISTENING = 0x0a, ADDRESS4 = 8, ADDRESS6 = 32 }; // digits of an address

static bool is_loopback(const unsigned char *bytes, size_t count)
{
    static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
    static const unsigned char one[16] = {[15] = 1};
    if (count == 4)
        return bytes[0] == 127;
    return !memcmp(bytes, mapped, sizeof mapped) || !memcmp(bytes, one, sizeof one);
}

// An address as the kernel prints it: words of 32 bits, each in this machine's order.
static bool read_bytes(const char *digits, size_t count, unsigned char *bytes)
{
    for (size_t at = 0; at < count; at += 8) {
        char word[9];
        char *end;
        snprintf(word, sizeof word, "%.8s", digits + at);
        uint32_t value = (uint32_t)strtoul(word, &end, 16);
        if (*end || end != word + 8)
            return false;
        memcpy(bytes + at / 2, &value, sizeof value);
    }
    return true;
}

// "  0: 0100007F:1F90 00000000:0000 0A ...": whether it listens with the port outside loopback.
static bool is_beyond(const char *line, uint16_t port)
{
    char digits[ADDRESS6 + 1];
    unsigned char bytes[16];
    unsigned at, state;
    if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", digits, &at, &state) != 3)
        return false;
    size_t count = strlen(digits);
    if (state != LISTENING || at != port || (count != ADDRESS4 && count != ADDRESS6))
        return false;
    return !read_bytes(digits, count, bytes) || !is_loopback(bytes, count / 2);
}

bool tlc_listening_in(const char *table, uint16_t port)
{
    for (const char *line = table; line; line = tlc_text_next_line(line))
        if (is_beyond(line, port))
            return true;
    return false;
}

enum tlc_status tlc_listening_beyond(uint16_t port, bool *beyond, struct tlc_error *error)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    *beyond = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *text;
        if (access(tables[i], F_OK)) // a kernel without IPv6
            continue;
        enum tlc_status status = tlc_text_fetch(tables[i], &text, error);
        if (status != TLC_OK)
            return status;
        *beyond |= tlc_listening_in(text, port);
        free(text);
    }
    return TLC_OK;
}
