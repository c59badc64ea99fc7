#include "base/cpu_mask.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VECTORS = 8 };

struct vectors {
    uint64_t bits[MOST_VECTORS];
    bool given[MOST_VECTORS], takes_away[MOST_VECTORS]; // "~": what it names goes, else stays
    size_t count;
};

static bool read_vector(const char **at, struct vectors *vectors)
{
    size_t i = vectors->count++;
    vectors->takes_away[i] = **at == '~';
    *at += vectors->takes_away[i];
    size_t digits = strspn(*at, "0123456789abcdefABCDEFxX");
    char *end = (char *)(uintptr_t)*at;
    if (digits && **at >= '0' && **at <= '9')
        vectors->bits[i] = strtoull(*at, &end, 0);
    vectors->given[i] = digits > 0;
    bool good = end == *at + digits && digits <= 18 && (digits || !vectors->takes_away[i]);
    *at += digits;
    return good;
}

// Vectors up to the end of the text or a blank.
static bool read_vectors(const char *text, struct vectors *vectors)
{
    *vectors = (struct vectors){.count = 0};
    for (;; text++) {
        if (vectors->count == MOST_VECTORS || !read_vector(&text, vectors))
            return false;
        if (!*text || *text == ' ' || *text == ';')
            return true;
        if (*text != ':')
            return false;
    }
}

bool tlc_cpu_mask_known(const char *mask)
{
    struct vectors vectors;
    bool any = false;
    if (!read_vectors(mask, &vectors) || strpbrk(mask, " ;"))
        return false;
    for (size_t i = 0; i < vectors.count; i++)
        any = any || vectors.given[i];
    return any;
}

bool tlc_cpu_account(const char *build, char *text, size_t bytes)
{
    const char *found = strstr(build, TLC_CPU_MASK_VARIABLE "=");
    size_t length = found ? strcspn(found += strlen(TLC_CPU_MASK_VARIABLE "="), " ;") : 0;
    struct vectors vectors;
    if (!found || length >= bytes || !read_vectors(found, &vectors))
        return false;
    snprintf(text, bytes, "%.*s", (int)length, found);
    return true;
}

bool tlc_cpu_mask_obeyed(const char *mask, const char *account, char *why, size_t bytes)
{
    // Set by the library itself, to know that it has looked.
    const uint64_t looked = 1u << 10;
    struct vectors asked, got;
    if (!read_vectors(mask, &asked) || !read_vectors(account, &got)) {
        snprintf(why, bytes, "'%.100s' is no account of a processor", account);
        return false;
    }
    for (size_t i = 0; i < asked.count && i < got.count; i++) {
        uint64_t forbidden = asked.takes_away[i] ? asked.bits[i] : ~asked.bits[i];
        uint64_t left = asked.given[i] ? got.bits[i] & forbidden : 0;
        if (i == 0)
            left &= ~looked;
        if (left) {
            snprintf(why, bytes,
                     "of vector %zu the bits 0x%" PRIx64 " are still there (" TLC_CPU_MASK_VARIABLE
                     "=%.100s)",
                     i, left, account);
            return false;
        }
    }
    return true;
}
