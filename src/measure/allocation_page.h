// What the preloaded object and its reader share; private to the room.
#ifndef TLC_MEASURE_ALLOCATION_PAGE_H
#define TLC_MEASURE_ALLOCATION_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define TLC_ALLOCATION_MAGIC 0x32636f6c6c61636cu // of this layout

struct tlc_allocation_page {
    _Atomic uint64_t magic, count, bytes, frees;
    _Atomic uint64_t held;    // bytes in use, as the allocator rounds them; only differences count
    _Atomic uint64_t updates; // of a page that is written now and then; 0: it is always up to date
};

// Symbols of the preloaded object.
#define TLC_ALLOCATION_PAGE_SYMBOL   "tlscost_allocation_page"
#define TLC_ALLOCATION_THREAD_SYMBOL "tlscost_allocations_of_thread"

#endif
