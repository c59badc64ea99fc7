#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum tlc_status tlc_fail(struct tlc_error *error, enum tlc_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        error->status = status;
    }
    return status;
}

enum tlc_status tlc_fail_errno(struct tlc_error *error, const char *format, ...)
{
    int code = errno;
    if (error) {
        char text[768];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        snprintf(error->text, sizeof error->text, "%s: %s", text, strerror(code));
        error->status = TLC_ENVIRONMENT;
    }
    return TLC_ENVIRONMENT;
}

enum tlc_status tlc_fail_prefix(struct tlc_error *error, const char *format, ...)
{
    if (!error)
        return TLC_ENVIRONMENT;
    char before[256], rest[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(before, sizeof before, format, arguments);
    va_end(arguments);
    memcpy(rest, error->text, sizeof rest);
    rest[sizeof rest - 1] = '\0';
    snprintf(error->text, sizeof error->text, "%s: %.700s", before, rest);
    return error->status;
}
