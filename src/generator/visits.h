// Which of many server names a client visits next: a seeded draw, uniform or by Zipf's law. Private
// to the room.
#ifndef TLC_GENERATOR_VISITS_H
#define TLC_GENERATOR_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlc_visits {
    size_t count;
    double *below;  // Zipf: the chance of a rank up to this one; NULL: uniform
    uint32_t *name; // Zipf: of a rank, so that popular names do not stand side by side
    unsigned short state[3];
};

// Zipf: the name of rank k is visited in proportion to 1/k. False when memory runs out.
bool tlc_visits_init(struct tlc_visits *visits, size_t count, bool zipf, uint32_t seed);
void tlc_visits_free(struct tlc_visits *visits);
size_t tlc_visits_next(struct tlc_visits *visits); // below `count`

#endif
