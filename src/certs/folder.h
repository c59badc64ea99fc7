// Inside the room: a folder of certificates, locked, whose files are replaced whole.
#ifndef TLC_CERTS_FOLDER_H
#define TLC_CERTS_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct tlc_certs_folder {
    const char *path; // borrowed
    int fd, lock;
};

// Opens a folder and waits for its lock. For writing it is made when missing (0700), and refused
// when others may write to it. For reading the lock is shared, and left out where it cannot be had.
enum tlc_status tlc_certs_folder_open(const char *path, bool writing,
                                      struct tlc_certs_folder *folder,
                                      struct tlc_error *error) TLC_CHECKED;
void tlc_certs_folder_close(struct tlc_certs_folder *folder);

// Replaces a file as a whole: a reader sees the old text or the new.
enum tlc_status tlc_certs_folder_write(const struct tlc_certs_folder *folder, const char *file,
                                       mode_t mode, const char *text,
                                       struct tlc_error *error) TLC_CHECKED;
// The NUL-terminated text of a file of at most 1 MiB, the caller frees it. NULL with errno set.
// *mode (may be NULL) gets its permissions.
char *tlc_certs_folder_read(const struct tlc_certs_folder *folder, const char *file, mode_t *mode);
// The same of a file of at most 128 MiB.
char *tlc_certs_folder_read_long(const struct tlc_certs_folder *folder, const char *file);
bool tlc_certs_folder_has(const struct tlc_certs_folder *folder, const char *file);
void tlc_certs_folder_remove(const struct tlc_certs_folder *folder, const char *file);

#endif
