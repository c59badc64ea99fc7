#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/server.h"
#include "server/ticket_keys.h"

enum { KEY_BYTES = sizeof(struct tlc_ticket_key), FILE_BYTES = 64 * 1024 };

static_assert(sizeof(struct tlc_ticket_key) == 80, "keys are read as they lie in the file");

static int digit(char text)
{
    if (text >= '0' && text <= '9')
        return text - '0';
    text = (char)tolower((unsigned char)text);
    return text >= 'a' && text <= 'f' ? text - 'a' + 10 : -1;
}

bool tlc_ticket_key_parse(const char *hex, size_t length, struct tlc_ticket_key *key)
{
    uint8_t bytes[KEY_BYTES];
    if (length != 2 * KEY_BYTES)
        return false;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(key, bytes, sizeof *key);
    return true;
}

// Lines of hexadecimal digits; *count is -1 - line on the first bad line.
static long parse_lines(const char *text, struct tlc_ticket_key *keys)
{
    long line = 0, found = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *word = text + strspn(text, " \t");
        size_t word_length = strcspn(word, " \t\r\n#");
        const char *rest = word + word_length + strspn(word + word_length, " \t\r");
        line++;
        if (*rest && *rest != '\n' && *rest != '#')
            return -line;
        if (word_length && !tlc_ticket_key_parse(word, word_length, &keys[found++]))
            return -line;
        text += length + (text[length] == '\n');
    }
    return found;
}

static bool is_text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isprint((unsigned char)bytes[i]) && !isspace((unsigned char)bytes[i]))
            return false;
    return true;
}

static enum tlc_status read_file(const char *path, char *bytes, size_t *count,
                                 struct tlc_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tlc_fail_errno(error, "ticket keys: %s", path);
    ssize_t got = 0;
    *count = 0;
    do {
        got = read(fd, bytes + *count, FILE_BYTES - *count);
        *count += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    enum tlc_status status = TLC_OK;
    if (got < 0)
        status = tlc_fail_errno(error, "ticket keys: %s", path);
    else if (*count == FILE_BYTES)
        status = tlc_fail(error, TLC_USAGE, "ticket keys: %s: too large for ticket keys", path);
    close(fd);
    return status;
}

enum tlc_status tlc_ticket_keys_read(const char *path, struct tlc_ticket_key **keys, size_t *count,
                                     struct tlc_error *error)
{
    *keys = NULL;
    *count = 0;
    size_t length = 0;
    char *bytes = calloc(1, FILE_BYTES + 1);
    // No line holds a key in fewer bytes than this.
    struct tlc_ticket_key *parsed = calloc(FILE_BYTES / KEY_BYTES, sizeof *parsed);
    enum tlc_status status;
    if (!bytes || !parsed) {
        status = tlc_fail(error, TLC_ENVIRONMENT, "ticket keys: out of memory");
        goto out;
    }
    status = read_file(path, bytes, &length, error);
    if (status != TLC_OK)
        goto out;
    long found = 0;
    if (is_text(bytes, length))
        found = parse_lines(bytes, parsed);
    else if (length % KEY_BYTES == 0)
        memcpy(parsed, bytes, length), found = (long)(length / KEY_BYTES);
    else
        status = tlc_fail(error, TLC_USAGE,
                          "ticket keys: %s: %zu bytes are not a whole number of 80-byte keys", path,
                          length);
    if (status == TLC_OK && found < 0)
        status = tlc_fail(error, TLC_USAGE, "ticket keys: %s:%ld: not 160 hexadecimal digits", path,
                          -found);
    else if (status == TLC_OK && found == 0)
        status = tlc_fail(error, TLC_USAGE,
                          "ticket keys: %s: no key; write one with: head -c 80 /dev/urandom", path);
    if (status == TLC_OK) {
        *keys = parsed;
        *count = (size_t)found;
        parsed = NULL;
    }
out:
    if (bytes)
        explicit_bzero(bytes, FILE_BYTES);
    free(bytes);
    free(parsed);
    return status;
}

bool tlc_rotation_parse(const char *text, enum tlc_rotation *rotation)
{
    static const char *const words[] = {[TLC_ROTATE_SAFE] = "safe",
                                        [TLC_ROTATE_ABRUPT] = "abrupt",
                                        [TLC_ROTATE_NO_PREVIOUS] = "no-previous",
                                        [TLC_ROTATE_TRAP] = "trap"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i])) {
            *rotation = (enum tlc_rotation)i;
            return true;
        }
    return false;
}

static bool write_lines(int fd, const struct tlc_ticket_key *keys, size_t count)
{
    char line[2 * KEY_BYTES + 2];
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes = (const uint8_t *)&keys[i];
        for (size_t j = 0; j < KEY_BYTES; j++)
            snprintf(line + 2 * j, 4, "%02x\n", bytes[j]);
        if (write(fd, line, 2 * KEY_BYTES + 1) != 2 * KEY_BYTES + 1)
            return false;
    }
    explicit_bzero(line, sizeof line);
    return fsync(fd) == 0;
}

enum tlc_status tlc_ticket_keys_write(const char *path, const struct tlc_ticket_key *keys,
                                      size_t count, struct tlc_error *error)
{
    char beside[4096];
    if (snprintf(beside, sizeof beside, "%s.%ld.new", path, (long)getpid()) >= (int)sizeof beside)
        return tlc_fail(error, TLC_USAGE, "ticket keys: the path of the file is too long");
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return tlc_fail_errno(error, "ticket keys: make %s", beside);
    bool written = write_lines(fd, keys, count);
    if (!(close(fd) == 0 && written && rename(beside, path) == 0)) {
        enum tlc_status status = tlc_fail_errno(error, "ticket keys: write %s", path);
        unlink(beside);
        return status;
    }
    return TLC_OK;
}
