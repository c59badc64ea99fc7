// What the preloaded object and its reader share; private to the room.
#ifndef TLC_MEASURE_ALLOCATION_PAGE_H
#define TLC_MEASURE_ALLOCATION_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define TLC_ALLOCATION_MAGIC 0x31636f6c6c61636cu // of this layout

struct tlc_allocation_page {
    _Atomic uint64_t magic, count, bytes, frees;
};

// Symbols of the preloaded object.
#define TLC_ALLOCATION_PAGE_SYMBOL   "tlscost_allocation_page"
#define TLC_ALLOCATION_THREAD_SYMBOL "tlscost_allocations_of_thread"

#endif
