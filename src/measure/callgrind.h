// What callgrind wrote (valgrind manual, "Callgrind Format Specification"): totals and functions.
// Pure: takes text.
#ifndef TLC_MEASURE_CALLGRIND_H
#define TLC_MEASURE_CALLGRIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tlc_callgrind_function {
    char *name, *object; // object: file name of the program or library, without its folder
    uint64_t self;       // instructions in the function itself, without what it calls
};

struct tlc_callgrind {
    uint64_t total;                           // as the file says
    struct tlc_callgrind_function *functions; // each once
    size_t count;
};

// Reads the text of one output file. Fails with TLC_ENVIRONMENT when it is not whole (totals come
// last), counts no instructions ("Ir"), or is no such file. Free with tlc_callgrind_free.
enum tlc_status tlc_callgrind_parse(const char *text, struct tlc_callgrind *counts,
                                    struct tlc_error *error) TLC_CHECKED;
void tlc_callgrind_free(struct tlc_callgrind *counts);
// Instructions of a function; 0 when it was not seen.
uint64_t tlc_callgrind_self(const struct tlc_callgrind *counts, const char *name,
                            const char *object);

#endif
