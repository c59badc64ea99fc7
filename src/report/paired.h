// Differences of two arms' cost within blocks (private to the room).
#ifndef TLC_REPORT_PAIRED_H
#define TLC_REPORT_PAIRED_H

#include "report/model.h"
#include "stats/stats.h"

// How much more of the server's CPU time one arm takes, in microseconds, paired by block.
struct tlc_interval tlc_paired_difference(const struct tlc_report_arm *more,
                                          const struct tlc_report_arm *less);
// "77.2 (75.1 to 79.0)", in TLC_WORDS bytes.
char *tlc_paired_words(struct tlc_interval interval, char *words);

#endif
