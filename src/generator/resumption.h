// Which handshakes offer a ticket, and where tickets wait meanwhile. Plain bookkeeping.
#ifndef TLC_GENERATOR_RESUMPTION_H
#define TLC_GENERATOR_RESUMPTION_H

#include <stdbool.h>
#include <stddef.h>

// The share of handshakes that offer a ticket: exact over a run, not by chance. What could not be
// offered for want of a ticket is made up for later.
struct tlc_resumption {
    double ratio; // 0 to 1
    double owed;  // offers that were due and not made
};

// Whether the next handshake is to offer a ticket, `have` telling whether there is one.
bool tlc_resumption_due(struct tlc_resumption *resumption, bool have);

// Places of a store of tickets: the newest is offered first, since it lives longest; a full store
// forgets the oldest. A ticket of TLS 1.3 is offered once (RFC 8446, C.4); a session of TLS 1.2 may
// be returned to its place.
struct tlc_ticket_places {
    size_t capacity, first, count;
};

size_t tlc_ticket_place_new(struct tlc_ticket_places *places);
bool tlc_ticket_place_newest(struct tlc_ticket_places *places, size_t *place);
// What was taken last is there again.
void tlc_ticket_place_return(struct tlc_ticket_places *places);

#endif
