// The tracing provider's times (docs/trace.md) beside the components that samples tell. Pure.
#ifndef TLC_ATTRIBUTE_TIMED_H
#define TLC_ATTRIBUTE_TIMED_H

#include "attribute/parts.h"

// One component of an arm that was attributed, beside the same of the arm that was timed.
struct tlc_timed_part {
    const struct tlc_parts *parts;
    enum tlc_part component;
    const char *arm;                  // the timed one's name, borrowed from the result
    struct tlc_interval us, timed_us; // of a handshake
    bool apart;                       // the two intervals lie apart
};

// All components that the provider times whole, of each attributed arm that has a timed one: the
// first accepted arm with `trace: timed` whose other settings are the same, or the arm itself. The
// provider's own functions nested in others count once, where they are done; each block is told at
// the speed of its block, as the parts are. *count how many; the caller frees the list. False when
// memory runs out.
bool tlc_timed_parts(const json_t *result, const struct tlc_parts *parts, size_t parts_count,
                     struct tlc_timed_part **list, size_t *count);

#endif
