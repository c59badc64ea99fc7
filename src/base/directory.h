// Folders of the user (XDG Base Directory Specification) and temporary ones.
#ifndef TLC_BASE_DIRECTORY_H
#define TLC_BASE_DIRECTORY_H

#include <stddef.h>

#include "base/error.h"

enum tlc_directory { TLC_DIRECTORY_CACHE, TLC_DIRECTORY_STATE };

// Path of the user's tlscost folder of that kind, made (0700) when missing: XDG_CACHE_HOME or
// ~/.cache, XDG_STATE_HOME or ~/.local/state, then "tlscost".
enum tlc_status tlc_directory_of_user(enum tlc_directory kind, char *path, size_t capacity,
                                      struct tlc_error *error) TLC_CHECKED;
// Makes a fresh folder (0700) below TMPDIR or /tmp whose name starts with `prefix`.
enum tlc_status tlc_directory_temporary(const char *prefix, char *path, size_t capacity,
                                        struct tlc_error *error) TLC_CHECKED;
// Makes `path` and its missing parents (0700).
enum tlc_status tlc_directory_make(const char *path, struct tlc_error *error) TLC_CHECKED;
// Removes a folder with all that is in it; symbolic links are not followed.
void tlc_directory_remove(const char *path);

#endif
