#include "generator/resumption.h"

// More is not made up for: a server that gave no tickets for a while must not be flooded by offers.
static const double most_owed = 1000;

bool tlc_resumption_due(struct tlc_resumption *resumption, bool have)
{
    resumption->owed += resumption->ratio;
    if (resumption->owed > most_owed)
        resumption->owed = most_owed;
    // The sum of ratios like 0.1 may fall short of 1 by rounding.
    if (!have || resumption->owed < 1 - 1e-9)
        return false;
    resumption->owed -= 1;
    return true;
}

size_t tlc_ticket_place_new(struct tlc_ticket_places *places)
{
    size_t place = (places->first + places->count) % places->capacity;
    if (places->count == places->capacity)
        places->first = (places->first + 1) % places->capacity;
    else
        places->count++;
    return place;
}

bool tlc_ticket_place_newest(struct tlc_ticket_places *places, size_t *place)
{
    if (!places->count)
        return false;
    places->count--;
    *place = (places->first + places->count) % places->capacity;
    return true;
}

void tlc_ticket_place_return(struct tlc_ticket_places *places)
{
    places->count++;
}
