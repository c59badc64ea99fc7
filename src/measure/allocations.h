// Counts of memory allocations: by an object that is preloaded before a process starts and stands
// in front of malloc, so that statically linked libraries inside shared objects are counted too
// (docs/allocations.md).
#ifndef TLC_MEASURE_ALLOCATIONS_H
#define TLC_MEASURE_ALLOCATIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/component.h"

struct tlc_allocations {
    uint64_t count; // calls that gave memory: malloc, calloc, realloc, aligned_alloc and their kin
    uint64_t bytes; // that they asked for, not what the allocator rounds it to
    uint64_t frees;
    uint64_t held; // bytes in use, as the allocator rounds them; only differences mean something
    // Count and bytes by enum tlc_component of what asked for them, the rest last. All is rest
    // unless the tracing provider tells (docs/trace.md).
    struct tlc_allocation_share {
        uint64_t count, bytes;
    } components[TLC_COMPONENT_COUNT + 1];
};

// The environment variable that names a file: the preloaded object then counts every thread of the
// process and of those it forks, and the counts are read from the file.
#define TLC_ALLOCATIONS_VARIABLE "TLSCOST_ALLOCATIONS"

// Whether the object is in this process. Without it nothing is counted and reading gives zeros.
bool tlc_allocations_loaded(void);
// The file of the object, for LD_PRELOAD of a process of another program.
enum tlc_status tlc_allocations_module(char *path, size_t capacity,
                                       struct tlc_error *error) TLC_CHECKED;
// Starts this program anew with the object preloaded, unless it is; then only threads that ask for
// it are counted. Returns only when that is so already, or on failure.
enum tlc_status tlc_allocations_preload(struct tlc_error *error) TLC_CHECKED;
// Whether what the calling thread allocates counts from here on.
void tlc_allocations_of_thread(bool count);
void tlc_allocations_read(struct tlc_allocations *counts);
// Counts of another process from the file that its TLSCOST_ALLOCATIONS names. A process that writes
// them now and then is waited for, until it has done so once more.
enum tlc_status tlc_allocations_read_file(const char *path, struct tlc_allocations *counts,
                                          struct tlc_error *error) TLC_CHECKED;
// {count, bytes, frees, held, components{}}; the caller's. And back.
json_t *tlc_allocations_json(const struct tlc_allocations *counts);
void tlc_allocations_from_json(const json_t *json, struct tlc_allocations *counts);
// {count, bytes, components{NAME: {count, bytes}}} of the difference, divided by `handshakes`; null
// for none. The components are there when one of them had any. The caller's.
json_t *tlc_allocations_per_handshake(const struct tlc_allocations *before,
                                      const struct tlc_allocations *after, uint64_t handshakes);

#endif
