// The memory and assertion functions of GMP, under which GnuTLS's Nettle calculates. A
// distribution's static archive is made for programs: its own ones refer to the C library's stderr
// by an address that only a program can hold, so that no shared object can take them in. Defined
// here, they are not looked for there.
#include <stdio.h>
#include <stdlib.h>

// NOLINTBEGIN(bugprone-reserved-identifier): GMP's names
void *__gmp_default_allocate(size_t size);
void *__gmp_default_reallocate(void *old, size_t old_size, size_t new_size);
void __gmp_default_free(void *block, size_t size);
void __gmp_assert_header(const char *file, int line);
_Noreturn void __gmp_assert_fail(const char *file, int line, const char *expression);

static void *demand(void *block)
{
    if (!block) {
        fputs("GMP: out of memory\n", stderr); // it has no way to report this
        abort();
    }
    return block;
}

void *__gmp_default_allocate(size_t size)
{
    return demand(malloc(size));
}

void *__gmp_default_reallocate(void *old, size_t old_size, size_t new_size)
{
    (void)old_size;
    return demand(realloc(old, new_size));
}

void __gmp_default_free(void *block, size_t size)
{
    (void)size;
    free(block);
}

void *(*__gmp_allocate_func)(size_t size) = __gmp_default_allocate;
void *(*__gmp_reallocate_func)(void *old, size_t old_size,
                               size_t new_size) = __gmp_default_reallocate;
void (*__gmp_free_func)(void *block, size_t size) = __gmp_default_free;

void __gmp_assert_header(const char *file, int line)
{
    fprintf(stderr, "GMP: %s:%d: ", file ? file : "", line);
}

_Noreturn void __gmp_assert_fail(const char *file, int line, const char *expression)
{
    __gmp_assert_header(file, line);
    fprintf(stderr, "assertion failed: %s\n", expression);
    abort();
}
// NOLINTEND(bugprone-reserved-identifier)
