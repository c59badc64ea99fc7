// The shape that a reader relies on, checked member by member (private to the room).
#ifndef TLC_RESULT_SHAPE_H
#define TLC_RESULT_SHAPE_H

#include <jansson.h>

#include "base/error.h"

// Checks what every document has, and what the document of `run` has. `path` names the file in
// errors.
enum tlc_status tlc_shape_check(const json_t *document, const char *path,
                                struct tlc_error *error) TLC_CHECKED;

#endif
