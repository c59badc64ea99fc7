#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result/file.h"
#include "result/result.h"

struct tlc_journal {
    int fd;
    char *path;
};

static enum tlc_status journal_new(int fd, const char *path, struct tlc_journal **journal,
                                   struct tlc_error *error)
{
    *journal = calloc(1, sizeof **journal);
    char *copy = strdup(path);
    if (!*journal || !copy) {
        free(copy);
        free(*journal);
        *journal = NULL;
        return tlc_fail(error, TLC_ENVIRONMENT, "journal: %s: out of memory", path);
    }
    (*journal)->fd = fd;
    (*journal)->path = copy;
    return TLC_OK;
}

enum tlc_status tlc_journal_append(struct tlc_journal *journal, const json_t *entry,
                                   struct tlc_error *error)
{
    char *text = json_dumps(entry, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text)
        return tlc_fail(error, TLC_ENVIRONMENT, "journal: %s: entry cannot be written as JSON",
                        journal->path);
    size_t count = strlen(text);
    text[count] = '\n'; // one write for line and end, so that a crash tears at most the last line
    off_t before = lseek(journal->fd, 0, SEEK_END);
    enum tlc_status status = tlc_file_write_all(journal->fd, text, count + 1, journal->path, error);
    if (status == TLC_OK && fsync(journal->fd))
        status = tlc_fail_errno(error, "journal: %s", journal->path);
    // A full disk must not leave half a line in front of the next entry.
    if (status != TLC_OK && before >= 0 && ftruncate(journal->fd, before))
        status = tlc_fail_prefix(error, "journal: %s: cannot be cut back", journal->path);
    free(text);
    return status;
}

// Two campaigns must not write into one journal; the lock goes with the descriptor.
static enum tlc_status lock(int fd, const char *path, struct tlc_error *error)
{
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return TLC_OK;
    if (errno == EWOULDBLOCK)
        return tlc_fail(error, TLC_USAGE,
                        "journal: %s: another tlscost is writing it; wait for its end", path);
    return tlc_fail_errno(error, "journal: %s: lock", path);
}

enum tlc_status tlc_journal_create(const char *path, const json_t *header,
                                   struct tlc_journal **journal, struct tlc_error *error)
{
    *journal = NULL;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        return tlc_fail(error, TLC_USAGE,
                        "journal: %s: exists already; go on with --continue, or remove it", path);
    if (fd < 0)
        return tlc_fail_errno(error, "journal: %s", path);
    enum tlc_status status = lock(fd, path, error);
    if (status == TLC_OK)
        status = journal_new(fd, path, journal, error);
    if (status == TLC_OK)
        status = tlc_journal_append(*journal, header, error);
    if (status == TLC_OK)
        status = tlc_file_sync_folder(path, error);
    if (status == TLC_OK)
        return TLC_OK;
    unlink(path);
    if (*journal)
        tlc_journal_close(*journal);
    else
        close(fd);
    *journal = NULL;
    return status;
}

static enum tlc_status read_whole(int fd, const char *path, char **text, size_t *count,
                                  struct tlc_error *error)
{
    struct stat is;
    *text = NULL;
    *count = 0;
    if (fstat(fd, &is))
        return tlc_fail_errno(error, "journal: %s", path);
    size_t size = (size_t)is.st_size;
    *text = malloc(size + 1);
    if (!*text)
        return tlc_fail(error, TLC_ENVIRONMENT, "journal: %s: out of memory", path);
    while (*count < size) {
        ssize_t got = read(fd, *text + *count, size - *count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tlc_fail_errno(error, "journal: %s", path);
        if (got == 0)
            break;
        *count += (size_t)got;
    }
    return TLC_OK;
}

// Parses the lines of `text` into header and entries. *whole gets the bytes of complete lines: what
// is behind the last newline was never acknowledged by an append.
static enum tlc_status parse_lines(const char *text, size_t count, const char *path,
                                   json_t **header, json_t *entries, size_t *whole,
                                   struct tlc_error *error)
{
    size_t line = 0;
    const char *at = text, *end = text + count;
    for (const char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        json_error_t reason;
        json_t *entry = json_loadb(at, (size_t)(stop - at), JSON_REJECT_DUPLICATES, &reason);
        line++;
        if (!json_is_object(entry)) {
            json_decref(entry);
            return tlc_fail(error, TLC_USAGE,
                            "journal: %s:%zu: damaged: %s; the campaign cannot go on from it", path,
                            line, entry ? "not an object" : reason.text);
        }
        if (line == 1)
            *header = entry;
        else if (json_array_append_new(entries, entry))
            return tlc_fail(error, TLC_ENVIRONMENT, "journal: %s: out of memory", path);
    }
    *whole = (size_t)(at - text);
    if (!*header)
        return tlc_fail(error, TLC_USAGE,
                        "journal: %s: holds no complete line; start the campaign anew", path);
    return TLC_OK;
}

static enum tlc_status load(int fd, const char *path, json_t **header, json_t **entries,
                            struct tlc_error *error)
{
    char *text;
    size_t count, whole = 0;
    enum tlc_status status = read_whole(fd, path, &text, &count, error);
    if (status == TLC_OK)
        status = parse_lines(text, count, path, header, *entries, &whole, error);
    // The torn end must go before the next append, or that line would be damaged.
    if (status == TLC_OK && whole < count && (ftruncate(fd, (off_t)whole) || fsync(fd)))
        status = tlc_fail_errno(error, "journal: %s: cut the torn last line", path);
    free(text);
    return status;
}

enum tlc_status tlc_journal_open(const char *path, json_t **header, json_t **entries,
                                 struct tlc_journal **journal, struct tlc_error *error)
{
    *header = NULL;
    *journal = NULL;
    *entries = json_array();
    if (!*entries)
        return tlc_fail(error, TLC_ENVIRONMENT, "journal: %s: out of memory", path);
    enum tlc_status status;
    int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        status = tlc_fail_errno(error, "journal: %s", path);
    else
        status = lock(fd, path, error);
    if (status == TLC_OK)
        status = load(fd, path, header, entries, error);
    if (status == TLC_OK)
        status = journal_new(fd, path, journal, error);
    if (status == TLC_OK)
        return TLC_OK;
    if (fd >= 0)
        close(fd);
    json_decref(*header);
    json_decref(*entries);
    *header = *entries = NULL;
    return status;
}

void tlc_journal_close(struct tlc_journal *journal)
{
    if (!journal)
        return;
    close(journal->fd);
    free(journal->path);
    free(journal);
}
