#include "base/directory.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

enum tlc_status tlc_directory_make(const char *path, struct tlc_error *error)
{
    char part[1024];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return tlc_fail(error, TLC_USAGE, "make folder: %.64s...: the name is too long", path);
    for (char *at = part + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char rest = *at;
        *at = '\0';
        if (mkdir(part, 0700) && errno != EEXIST)
            return tlc_fail_errno(error, "make folder: %s", part);
        if (!rest)
            return TLC_OK;
        *at = rest;
    }
}

enum tlc_status tlc_directory_name_of_user(enum tlc_directory kind, char *path, size_t capacity,
                                           struct tlc_error *error)
{
    const char *xdg = getenv(kind == TLC_DIRECTORY_CACHE ? "XDG_CACHE_HOME" : "XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int length;
    if (xdg && *xdg == '/')
        length = snprintf(path, capacity, "%s/tlscost", xdg);
    else if (home && *home == '/')
        length = snprintf(path, capacity, "%s/%s/tlscost", home,
                          kind == TLC_DIRECTORY_CACHE ? ".cache" : ".local/state");
    else
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "folder of the user: HOME: not set; set it or XDG_%s_HOME",
                        kind == TLC_DIRECTORY_CACHE ? "CACHE" : "STATE");
    if (length < 0 || (size_t)length >= capacity)
        return tlc_fail(error, TLC_ENVIRONMENT, "folder of the user: the name is too long");
    return TLC_OK;
}

enum tlc_status tlc_directory_of_user(enum tlc_directory kind, char *path, size_t capacity,
                                      struct tlc_error *error)
{
    enum tlc_status status = tlc_directory_name_of_user(kind, path, capacity, error);
    return status == TLC_OK ? tlc_directory_make(path, error) : status;
}

enum tlc_status tlc_directory_temporary(const char *prefix, char *path, size_t capacity,
                                        struct tlc_error *error)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(path, capacity, "%s/%s-XXXXXX", base && *base ? base : "/tmp", prefix);
    if (length < 0 || (size_t)length >= capacity)
        return tlc_fail(error, TLC_ENVIRONMENT, "temporary folder: TMPDIR: the name is too long");
    if (!mkdtemp(path))
        return tlc_fail_errno(error, "temporary folder: %s", path);
    return TLC_OK;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void tlc_directory_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

bool tlc_directory_shipped(const char *name, char *path, size_t capacity)
{
    static const char *const places[] = {".", "..", "../share/tlscost", "../.."};
    const char *program = tlc_program_path(), *slash = strrchr(program, '/');
    char wanted[PATH_MAX], found[PATH_MAX];
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        int length = snprintf(wanted, sizeof wanted, "%.*s/%s/%s", (int)(slash - program), program,
                              places[i], name);
        if (length < PATH_MAX && realpath(wanted, found) && strlen(found) < capacity) {
            snprintf(path, capacity, "%s", found);
            return true;
        }
    }
    return false;
}
