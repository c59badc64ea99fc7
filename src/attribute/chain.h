// A call chain of one sample, leaf first.
#ifndef TLC_ATTRIBUTE_CHAIN_H
#define TLC_ATTRIBUTE_CHAIN_H

#include <stddef.h>

struct tlc_frame {
    const char *symbol; // "" when the function has no name
    const char *file; // last part of its path, "[kernel.kallsyms]" for the kernel; "" when unknown
};

enum { TLC_CHAIN_FRAMES = 256 };

struct tlc_chain {
    struct tlc_frame frames[TLC_CHAIN_FRAMES];
    size_t count;
};

#endif
