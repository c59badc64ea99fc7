// Intervals as the benchmarks print them.
#ifndef TLC_BENCH_INTERVAL_H
#define TLC_BENCH_INTERVAL_H

#include <jansson.h>

#include "stats/stats.h"

// Adds estimate, low and high to an object; null where a value does not exist (too few rounds).
void interval_add(json_t *object, struct tlc_interval interval);
// "12.3 (11.9 to 12.8)", in a buffer of the caller; "-" for none.
enum { INTERVAL_BYTES = 64 };
const char *interval_text(struct tlc_interval interval, int decimals, char text[INTERVAL_BYTES]);

#endif
