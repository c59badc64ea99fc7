#include "certs/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20, LONG_FILE_MAX_BYTES = 128 << 20 };

static enum tlc_status make_folder(const char *path, struct tlc_error *error)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
        return tlc_fail(error, TLC_USAGE, "certs: %.40s...: path too long", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return tlc_fail_errno(error, "certs: make folder: %s", part);
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return tlc_fail_errno(error, "certs: make folder: %s", path);
    return TLC_OK;
}

// Who may write to the folder may also swap its keys and its CA.
static enum tlc_status check_folder(const struct tlc_certs_folder *folder, struct tlc_error *error)
{
    struct stat facts;
    if (fstat(folder->fd, &facts) != 0)
        return tlc_fail_errno(error, "certs: look at folder: %s", folder->path);
    if (facts.st_mode & (S_IWGRP | S_IWOTH))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "certs: %s: other users may write to this folder; run 'chmod go-w' on it "
                        "or choose another",
                        folder->path);
    return TLC_OK;
}

static enum tlc_status lock_folder(struct tlc_certs_folder *folder, bool writing,
                                   struct tlc_error *error)
{
    int flags = (writing ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
    folder->lock = openat(folder->fd, ".lock", flags, 0600);
    if (folder->lock < 0)
        return writing ? tlc_fail_errno(error, "certs: lock: %s", folder->path) : TLC_OK;
    while (flock(folder->lock, writing ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR)
            return writing ? tlc_fail_errno(error, "certs: lock: %s", folder->path) : TLC_OK;
    return TLC_OK;
}

enum tlc_status tlc_certs_folder_open(const char *path, bool writing,
                                      struct tlc_certs_folder *folder, struct tlc_error *error)
{
    *folder = (struct tlc_certs_folder){.path = path, .fd = -1, .lock = -1};
    enum tlc_status status = writing ? make_folder(path, error) : TLC_OK;
    if (status != TLC_OK)
        return status;
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return tlc_fail_errno(error, "certs: open folder: %s", path);
    if (writing)
        status = check_folder(folder, error);
    if (status == TLC_OK)
        status = lock_folder(folder, writing, error);
    if (status != TLC_OK)
        tlc_certs_folder_close(folder);
    return status;
}

void tlc_certs_folder_close(struct tlc_certs_folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    if (folder->fd >= 0)
        close(folder->fd);
    folder->lock = folder->fd = -1;
}

static bool write_all(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t count = write(fd, text, left);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            text += count;
            left -= (size_t)count;
        }
    }
    return true;
}

enum tlc_status tlc_certs_folder_write(const struct tlc_certs_folder *folder, const char *file,
                                       mode_t mode, const char *text, struct tlc_error *error)
{
    char temporary[NAME_MAX];
    snprintf(temporary, sizeof temporary, ".%.200s.new", file);
    // The lock is ours, so such a file is a leftover of a writer that died.
    unlinkat(folder->fd, temporary, 0);
    int fd =
        openat(folder->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return tlc_fail_errno(error, "certs: write: %s/%s", folder->path, file);
    bool good = write_all(fd, text);
    if (close(fd) != 0)
        good = false;
    if (good && renameat(folder->fd, temporary, folder->fd, file) == 0)
        return TLC_OK;
    enum tlc_status status = tlc_fail_errno(error, "certs: write: %s/%s", folder->path, file);
    unlinkat(folder->fd, temporary, 0);
    return status;
}

static char *read_all(int fd, size_t size)
{
    char *text = malloc(size + 1);
    size_t used = 0;
    while (text && used < size) {
        ssize_t count = read(fd, text + used, size - used);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    if (text)
        text[used] = '\0';
    return text;
}

static char *read_file(const struct tlc_certs_folder *folder, const char *file, off_t most,
                       mode_t *mode)
{
    struct stat facts;
    char *text = NULL;
    int fd = openat(folder->fd, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) == 0) {
        if (!S_ISREG(facts.st_mode) || facts.st_size > most)
            errno = EINVAL;
        else
            text = read_all(fd, (size_t)facts.st_size);
    }
    if (text && mode)
        *mode = facts.st_mode & 07777;
    int code = errno;
    close(fd);
    errno = code;
    return text;
}

char *tlc_certs_folder_read(const struct tlc_certs_folder *folder, const char *file, mode_t *mode)
{
    return read_file(folder, file, FILE_MAX_BYTES, mode);
}

char *tlc_certs_folder_read_long(const struct tlc_certs_folder *folder, const char *file)
{
    return read_file(folder, file, LONG_FILE_MAX_BYTES, NULL);
}

bool tlc_certs_folder_has(const struct tlc_certs_folder *folder, const char *file)
{
    return faccessat(folder->fd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void tlc_certs_folder_remove(const struct tlc_certs_folder *folder, const char *file)
{
    unlinkat(folder->fd, file, 0);
}
