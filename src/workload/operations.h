// The raw operations that a primitive arm can name: those of a stack's library, and those of this
// program under the stack name "tlscost".
#ifndef TLC_WORKLOAD_OPERATIONS_H
#define TLC_WORKLOAD_OPERATIONS_H

#include <jansson.h>

#include "base/error.h"
#include "tlscost/stack.h"

#define TLC_OWN_STACK "tlscost"

struct tlc_library {
    const char *id, *version, *build;
    const struct tlc_stack_operations *operations;
};

// Finds the operations of a stack. An error names the stack that has none.
enum tlc_status tlc_library_find(const char *stack, struct tlc_library *library,
                                 struct tlc_error *error) TLC_CHECKED;
// Whether the library has the operation; the error lists those that are near or all.
enum tlc_status tlc_library_has(const struct tlc_library *library, const char *operation,
                                struct tlc_error *error) TLC_CHECKED;
// What a result stores of a stack (as tlc_stack_describe), this program's own included; NULL when
// Prepares an operation; a provider that comes with tlscost is found by its name.
struct tlc_stack_operation *tlc_library_operation(const struct tlc_library *library,
                                                  const char *name, const char *provider,
                                                  struct tlc_stack_error *why);
// there is none of this name. The caller owns the reference.
json_t *tlc_library_describe(const char *stack);

// Our own X25519 (docs/x25519.md), the back end in the place of a provider.
extern const struct tlc_stack_operations tlc_own_operations;
// How many keys one call of a back end works on; 1 when it is unknown.
unsigned tlc_own_lanes(const char *backend);

#endif
