// Inside the room: small files of /proc and /sys as text, and numbers out of it.
#ifndef TLC_MEASURE_TEXT_H
#define TLC_MEASURE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

// A whole file, NUL-terminated, at most 16 MiB; the caller frees it. NULL with errno set.
char *tlc_text_read(const char *path);
// The same for a measurement: the error says which file.
enum tlc_status tlc_text_fetch(const char *path, char **text, struct tlc_error *error) TLC_CHECKED;

// Takes an unsigned decimal number of at most `limit` after any spaces of the line and moves *at
// behind it. False, with *at unmoved, when there is none, it is larger, or something other than
// white space or the end follows it.
bool tlc_text_number(const char **at, uint64_t limit, uint64_t *value);
// The begin of the line after the one at `line`; NULL when this one is not ended by a newline.
const char *tlc_text_next_line(const char *line);
// Cuts trailing spaces, and the second half of a name that is said twice: "bhyve bhyve " becomes
// "bhyve".
void tlc_text_once(char *text);

#endif
