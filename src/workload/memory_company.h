// The worker's part of company.h; private to the room.
#ifndef TLC_WORKLOAD_MEMORY_COMPANY_H
#define TLC_WORKLOAD_MEMORY_COMPANY_H

#include "workload/memory_slice.h"

enum { TLC_COMPANY_TURNS = 256 }; // at most

struct tlc_memory_company {
    unsigned burn_us, handshakes, turns; // of a turn, `handshakes` with a burn each and without
    // CPU time of the thread over work done: of burns before handshakes, and of burns alone.
    double company, alone;
};

enum tlc_status tlc_memory_company(struct tlc_memory_arm *arm, struct tlc_memory_company *company,
                                   struct tlc_error *error) TLC_CHECKED;

#endif
