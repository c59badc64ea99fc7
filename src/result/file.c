#include "result/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum tlc_status tlc_file_write_all(int fd, const char *text, size_t count, const char *path,
                                   struct tlc_error *error)
{
    while (count) {
        ssize_t done = write(fd, text, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return tlc_fail_errno(error, "write: %s", path);
        text += done;
        count -= (size_t)done;
    }
    return TLC_OK;
}

enum tlc_status tlc_file_sync_folder(const char *path, struct tlc_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash          ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (!folder)
        return tlc_fail(error, TLC_ENVIRONMENT, "write: %s: out of memory", path);
    enum tlc_status status = TLC_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems cannot sync a folder (EINVAL); the name is then as safe as they make it.
    if (fd < 0 || (fsync(fd) && errno != EINVAL))
        status = tlc_fail_errno(error, "write: %s: folder %s", path, folder);
    if (fd >= 0)
        close(fd);
    free(folder);
    return status;
}

// A device or a pipe cannot be replaced by rename; it is written in place.
static enum tlc_status write_in_place(const char *path, const char *text, size_t count,
                                      struct tlc_error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return tlc_fail_errno(error, "write: %s", path);
    enum tlc_status status = tlc_file_write_all(fd, text, count, path, error);
    if (close(fd) && status == TLC_OK)
        status = tlc_fail_errno(error, "write: %s", path);
    return status;
}

static enum tlc_status write_temporary(int fd, const char *path, const char *text, size_t count,
                                       struct tlc_error *error)
{
    enum tlc_status status = tlc_file_write_all(fd, text, count, path, error);
    mode_t mask = umask(0);
    umask(mask);
    if (status == TLC_OK && (fchmod(fd, 0644 & ~mask) || fsync(fd)))
        status = tlc_fail_errno(error, "write: %s", path);
    if (close(fd) && status == TLC_OK)
        status = tlc_fail_errno(error, "write: %s", path);
    return status;
}

enum tlc_status tlc_file_replace(const char *path, const char *text, size_t count,
                                 struct tlc_error *error)
{
    struct stat is;
    bool exists = stat(path, &is) == 0;
    if (exists && S_ISDIR(is.st_mode))
        return tlc_fail(error, TLC_USAGE, "write: %s: is a folder; name a file in it", path);
    if (exists && !S_ISREG(is.st_mode))
        return write_in_place(path, text, count, error);
    char *target = exists ? realpath(path, NULL) : strdup(path); // follow a link, do not replace it
    char *temporary = NULL;
    enum tlc_status status;
    if (!target || asprintf(&temporary, "%s.XXXXXX", target) < 0) {
        status = tlc_fail_errno(error, "write: %s", path);
        temporary = NULL;
        goto out;
    }
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        status = tlc_fail_errno(error, "write: %s", path);
        goto out;
    }
    status = write_temporary(fd, path, text, count, error);
    if (status == TLC_OK && rename(temporary, target))
        status = tlc_fail_errno(error, "write: %s", path);
    if (status == TLC_OK)
        status = tlc_file_sync_folder(target, error);
    else
        unlink(temporary);
out:
    free(temporary);
    free(target);
    return status;
}
