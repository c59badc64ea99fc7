// Changes for the time of a measurement, and the way back.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/doctor.h"
#include "measure/doctor_parts.h"
#include "measure/text.h"

struct telling {
    char *text;
    size_t used, capacity;
};

static void tell(struct telling *telling, const char *format, ...) TLC_PRINTF(2, 3);
static void tell(struct telling *telling, const char *format, ...)
{
    va_list arguments;
    if (!telling->text || telling->used >= telling->capacity)
        return;
    va_start(arguments, format);
    int length = vsnprintf(telling->text + telling->used, telling->capacity - telling->used, format,
                           arguments);
    va_end(arguments);
    telling->used += length > 0 ? (size_t)length : 0;
}

// Files of /proc/sys and /sys take one write; they are never made, so no O_CREAT.
static int write_value(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC | O_NOFOLLOW);
    if (fd < 0)
        return errno;
    size_t count = strlen(value);
    ssize_t written;
    do
        written = write(fd, value, count);
    while (written < 0 && errno == EINTR);
    int code = written == (ssize_t)count ? 0 : written < 0 ? errno : EIO;
    close(fd);
    return code;
}

static bool remember(struct tlc_applied *applied, const char *path, const char *before)
{
    if (applied->count == applied->capacity) {
        size_t capacity = applied->capacity ? 2 * applied->capacity : 16;
        struct tlc_change *grown = realloc(applied->made, capacity * sizeof *grown);
        if (!grown)
            return false;
        applied->made = grown;
        applied->capacity = capacity;
    }
    struct tlc_change *change = &applied->made[applied->count];
    size_t path_bytes = (size_t)snprintf(change->path, sizeof change->path, "%s", path);
    size_t value_bytes = (size_t)snprintf(change->value, sizeof change->value, "%s", before);
    // A value that does not fit could not be put back whole.
    if (path_bytes >= sizeof change->path || value_bytes >= sizeof change->value)
        return false;
    applied->count++;
    return true;
}

static void apply_change(const char *root, const struct tlc_change *change,
                         struct tlc_applied *applied, struct telling *telling)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, change->path);
    char *before = tlc_text_read(path);
    if (!before) {
        tell(telling, "%s: cannot be read: %s; left as it is\n", path, strerror(errno));
        return;
    }
    if (!remember(applied, path, tlc_first_line(before))) {
        tell(telling, "%s: its value cannot be kept; left as it is\n", path);
    } else {
        int code = write_value(path, change->value);
        if (code) {
            applied->count--;
            tell(telling, "%s: cannot be changed to %s: %s\n", path, change->value, strerror(code));
        }
    }
    free(before);
}

void tlc_doctor_apply(const char *root, const struct tlc_finding *findings, size_t count,
                      struct tlc_applied *applied, char *told, size_t capacity)
{
    struct telling telling = {.text = capacity ? told : NULL, .capacity = capacity};
    if (telling.text)
        telling.text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < findings[i].change_count; k++)
            apply_change(root, &findings[i].changes[k], applied, &telling);
}

size_t tlc_doctor_restore(struct tlc_applied *applied)
{
    size_t failed = 0;
    while (applied->count > 0) {
        const struct tlc_change *change = &applied->made[--applied->count];
        failed += write_value(change->path, change->value) != 0;
    }
    free(applied->made);
    *applied = (struct tlc_applied){0};
    return failed;
}
