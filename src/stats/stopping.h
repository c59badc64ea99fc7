// After how many instances a campaign that stops by itself looks at its intervals. Pure.
//
// It stops on the width of the intervals alone, never on where they lie, so nothing that is claimed
// can bring the end nearer. Under a symmetric distribution the width and the estimate are
// uncorrelated; what remains is that a width which is small by chance ends a campaign early. Few
// looks, declared beforehand, the first one late enough, keep that small:
// tests/unit/test_stats_coverage.c shows the coverage with drift and heavy tails.
#ifndef TLC_STATS_STOPPING_H
#define TLC_STATS_STOPPING_H

#include <stdbool.h>

#define TLC_FIRST_LOOK 8u

unsigned tlc_next_look(unsigned done); // the first look after `done` instances
bool tlc_is_look(unsigned done);

#endif
