// Objects of tlscost that are preloaded into other programs (LD_PRELOAD).
#ifndef TLC_MEASURE_PRELOAD_H
#define TLC_MEASURE_PRELOAD_H

#include <stddef.h>

#include "base/error.h"

// The file of the object `name` ("tlscost-allocations.so"), beside the program as it is built, or
// where it is installed. `purpose` begins the errors.
enum tlc_status tlc_preload_file(const char *purpose, const char *name, char *path, size_t capacity,
                                 struct tlc_error *error) TLC_CHECKED;

#endif
