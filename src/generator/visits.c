#include "generator/visits.h"

#include <stdlib.h>

static void shuffle(struct tlc_visits *visits)
{
    for (size_t i = 0; i < visits->count; i++)
        visits->name[i] = (uint32_t)i;
    for (size_t i = visits->count - 1; i > 0; i--) { // Fisher and Yates
        size_t other = (size_t)(erand48(visits->state) * (double)(i + 1));
        uint32_t kept = visits->name[i];
        visits->name[i] = visits->name[other];
        visits->name[other] = kept;
    }
}

bool tlc_visits_init(struct tlc_visits *visits, size_t count, bool zipf, uint32_t seed)
{
    *visits = (struct tlc_visits){
        .count = count, .state = {0x330e, (unsigned short)seed, (unsigned short)(seed >> 16)}};
    if (!zipf || !count)
        return true;
    visits->below = calloc(count, sizeof *visits->below);
    visits->name = calloc(count, sizeof *visits->name);
    if (!visits->below || !visits->name) {
        tlc_visits_free(visits);
        return false;
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        visits->below[i] = sum += 1 / (double)(i + 1);
    for (size_t i = 0; i < count; i++)
        visits->below[i] /= sum;
    shuffle(visits);
    return true;
}

void tlc_visits_free(struct tlc_visits *visits)
{
    free(visits->below);
    free(visits->name);
    visits->below = NULL;
    visits->name = NULL;
}

size_t tlc_visits_next(struct tlc_visits *visits)
{
    double drawn = erand48(visits->state); // 0 <= drawn < 1
    if (!visits->below)
        return (size_t)(drawn * (double)visits->count);
    size_t low = 0, high = visits->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (visits->below[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return visits->name[low];
}
