// Raw operations of a library (docs/speed.md) that are parts of a handshake.
#ifndef TLC_ATTRIBUTE_OPERATIONS_H
#define TLC_ATTRIBUTE_OPERATIONS_H

#include "attribute/components.h"

struct tlc_part_operation {
    const char *name;
    const char *group, *certificate; // of the handshakes that do it once; NULL: of any
    enum tlc_part component;
};

// NULL past the end.
const struct tlc_part_operation *tlc_part_operation_at(size_t index);

#endif
