// Folders of the user (XDG Base Directory Specification) and temporary ones.
#ifndef TLC_BASE_DIRECTORY_H
#define TLC_BASE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum tlc_directory { TLC_DIRECTORY_CACHE, TLC_DIRECTORY_STATE };

// Path of the user's tlscost folder of that kind, whether it is there or not: XDG_CACHE_HOME or
// ~/.cache, XDG_STATE_HOME or ~/.local/state, then "tlscost".
enum tlc_status tlc_directory_name_of_user(enum tlc_directory kind, char *path, size_t capacity,
                                           struct tlc_error *error) TLC_CHECKED;
// The same, made (0700) when missing.
enum tlc_status tlc_directory_of_user(enum tlc_directory kind, char *path, size_t capacity,
                                      struct tlc_error *error) TLC_CHECKED;
// Makes a fresh folder (0700) below TMPDIR or /tmp whose name starts with `prefix`.
enum tlc_status tlc_directory_temporary(const char *prefix, char *path, size_t capacity,
                                        struct tlc_error *error) TLC_CHECKED;
// Makes `path` and its missing parents (0700).
enum tlc_status tlc_directory_make(const char *path, struct tlc_error *error) TLC_CHECKED;
// Path of a file or folder that comes with the program ("scripts/recipe", "peers"): in the source
// tree around it, or in the installation. False when it is not there.
bool tlc_directory_shipped(const char *name, char *path, size_t capacity);
// Removes a folder with all that is in it; symbolic links are not followed.
void tlc_directory_remove(const char *path);

#endif
