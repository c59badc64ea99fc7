// What the object that counts allocations shares with its reader, and with those who tell it what
// allocates.
#ifndef TLC_MEASURE_ALLOCATION_PAGE_H
#define TLC_MEASURE_ALLOCATION_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "measure/component.h"

#define TLC_ALLOCATION_MAGIC 0x33636f6c6c61636cu // of this layout

struct tlc_allocation_page {
    _Atomic uint64_t magic, frees;
    _Atomic uint64_t held;    // bytes in use, as the allocator rounds them; only differences count
    _Atomic uint64_t updates; // of a page that is written now and then; 0: it is always up to date
    struct {
        _Atomic uint64_t count, bytes;
    } components[TLC_COMPONENT_COUNT + 1]; // the last one: TLC_NO_COMPONENT
};

// Symbols of the preloaded object.
#define TLC_ALLOCATION_PAGE_SYMBOL   "tlscost_allocation_page"
#define TLC_ALLOCATION_THREAD_SYMBOL "tlscost_allocations_of_thread"
// unsigned (*)(unsigned component): what the calling thread allocates belongs to it from here on;
// returns the one before.
#define TLC_ALLOCATION_COMPONENT_SYMBOL "tlscost_allocations_in"

#endif
