// Shims for archives built against glibc 2.38 or later, linked on an older C library: the C23
// variants differ from the classic functions only in accepting binary literals (ISO/IEC 9899:2024,
// 7.24.1.7), which OpenSSL's callers never pass. Weak, so that a C library that has them wins.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

long __isoc23_strtol(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);

__attribute__((weak)) long __isoc23_strtol(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

__attribute__((weak)) unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return strtoul(text, end, base);
}

__attribute__((weak, format(scanf, 2, 3))) int __isoc23_sscanf(const char *text, const char *format,
                                                               ...)
{
    va_list arguments;
    va_start(arguments, format);
    int fields = vsscanf(text, format, arguments);
    va_end(arguments);
    return fields;
}
