// Whole files written so that a crash leaves the old one or the new one (private to the room).
#ifndef TLC_RESULT_FILE_H
#define TLC_RESULT_FILE_H

#include <stddef.h>

#include "base/error.h"

enum tlc_status tlc_file_write_all(int fd, const char *text, size_t count, const char *path,
                                   struct tlc_error *error) TLC_CHECKED;
// Makes a file's name last through a crash: fsync of the folder it is in.
enum tlc_status tlc_file_sync_folder(const char *path, struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_file_replace(const char *path, const char *text, size_t count,
                                 struct tlc_error *error) TLC_CHECKED;

#endif
