#include "measure/preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"

static bool find(const char *name, char *path, size_t capacity)
{
    const char *program = tlc_program_path(), *slash = strrchr(program, '/');
    int length = slash ? (int)(slash - program) : 0;
    static const char *const places[] = {"preload", "../" TLC_PRELOAD_RELATIVE};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, capacity, "%.*s/%s/%s", length, program, places[i], name);
        if (!access(path, R_OK))
            return true;
    }
    return false;
}

enum tlc_status tlc_preload_file(const char *purpose, const char *name, char *path, size_t capacity,
                                 struct tlc_error *error)
{
    if (!find(name, path, capacity))
        return tlc_fail(error, TLC_ENVIRONMENT, "%s: %s: not found beside %s; build or install it",
                        purpose, name, tlc_program_path());
    if (strpbrk(path, " :"))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "%s: %s: LD_PRELOAD takes no spaces and colons in names", purpose, path);
    return TLC_OK;
}
