// Run under valgrind: the scalar is marked as uninitialised, so that memcheck complains of every
// branch on it and of every address made of it (Langley, ctgrind, 2010). `--leak` does what it must
// complain of, to show that it does.
#include <stdio.h>
#include <string.h>

#include <valgrind/memcheck.h>

#include "primitives/backends.h"

enum { BYTES = TLC_X25519_BYTES * TLC_X25519_BATCH };

static uint8_t scalars[BYTES], u[BYTES], out[BYTES];

static void run(const struct tlc_x25519_backend *backend)
{
    struct tlc_x25519_point point;
    printf("%s: %s\n", backend->name, backend->summary);
    VALGRIND_MAKE_MEM_UNDEFINED(scalars, sizeof scalars);
    // A peer's point is public, but a shared secret that serves as one is not.
    VALGRIND_MAKE_MEM_UNDEFINED(u, sizeof u);
    backend->derive(out, scalars, u);
    backend->public_key(out, scalars);
    backend->base_multiply(&point, scalars);
    backend->map(out, &point);
    VALGRIND_MAKE_MEM_DEFINED(out, sizeof out);
}

#ifdef TLC_X25519_X86
static bool processor_has(const char *flag)
{
    char line[16384];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "flags", 5) == 0 && strstr(line, flag);
    if (file)
        fclose(file);
    return found;
}
#endif

static int leak(void)
{
    static const uint8_t table[256] = {1, 2, 3};
    VALGRIND_MAKE_MEM_UNDEFINED(scalars, sizeof scalars);
    volatile uint8_t found = table[scalars[0]];
    (void)found;
    return 0;
}

int main(int argc, char **argv)
{
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    if (!RUNNING_ON_VALGRIND) {
        fprintf(stderr, "test_x25519_secrets: run it under valgrind\n");
        return 2;
    }
    memset(scalars, 77, sizeof scalars);
    u[0] = 9;
    if (argc == 2 && strcmp(argv[1], "--leak") == 0)
        return leak();
    for (size_t i = 0; i < count; i++)
        if (all[i]->supported())
            run(all[i]);
#ifdef TLC_X25519_X86
    // Valgrind understands ADX, but does not say so to programs that ask the processor.
    if (!tlc_x25519_adx.supported() && processor_has(" adx ") && processor_has(" avx2 "))
        run(&tlc_x25519_adx);
#endif
    run(&tlc_x25519_lanes8);
    run(&tlc_x25519_split64);
    return 0;
}
