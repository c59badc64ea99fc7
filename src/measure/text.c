#include "measure/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 16 << 20 };

// Files of /proc have no size to ask for, so the buffer grows until a read finds the end.
static char *read_to_end(int fd)
{
    size_t used = 0, capacity = 1 << 14;
    char *text = malloc(capacity);
    while (text) {
        ssize_t count = read(fd, text + used, capacity - used - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            break;
        used += count > 0 ? (size_t)count : 0;
        if (count > 0 && capacity - used > 1)
            continue;
        char *grown = count > 0 && capacity < MAX_BYTES ? realloc(text, capacity *= 2) : NULL;
        if (!grown) {
            if (count > 0)
                errno = EFBIG;
            free(text);
        }
        text = grown;
    }
    if (text)
        text[used] = '\0';
    return text;
}

char *tlc_text_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = read_to_end(fd);
    int code = errno;
    close(fd);
    errno = code;
    return text;
}

enum tlc_status tlc_text_fetch(const char *path, char **text, struct tlc_error *error)
{
    *text = tlc_text_read(path);
    return *text ? TLC_OK : tlc_fail_errno(error, "read: %s", path);
}

bool tlc_text_number(const char **at, uint64_t limit, uint64_t *value)
{
    const char *digit = *at;
    uint64_t number = 0;
    while (*digit == ' ' || *digit == '\t')
        digit++;
    if (!isdigit((unsigned char)*digit))
        return false;
    for (; isdigit((unsigned char)*digit); digit++) {
        uint64_t next = (uint64_t)(*digit - '0');
        if (number > (limit - next) / 10)
            return false;
        number = number * 10 + next;
    }
    if (*digit && !isspace((unsigned char)*digit))
        return false;
    *value = number;
    *at = digit;
    return true;
}

const char *tlc_text_next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

// bhyve fills the 12 bytes of its CPUID signature by saying its name twice.
void tlc_text_once(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = '\0';
    size_t half = length / 2;
    if (length % 2 && text[half] == ' ' && !memcmp(text, text + half + 1, half))
        text[half] = '\0';
}
