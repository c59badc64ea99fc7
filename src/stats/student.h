// Means with Student's t, as harnesses that average over repetitions tell them (JMH's score and its
// error at 99.9 %). It takes repetitions for independent and normal, which those of one process are
// not: the product's own claims rest on instances and ranks (stats.h).
#ifndef TLC_STATS_STUDENT_H
#define TLC_STATS_STUDENT_H

#include "stats/stats.h"

// The p-quantile of Student's distribution with `freedom` degrees of freedom; NaN outside 0 < p < 1
// or below one degree.
double tlc_student_quantile(double p, double freedom);
// Mean and interval of the values that are finite; infinite ends for fewer than two.
struct tlc_interval tlc_student_interval(const double *values, size_t count, double confidence);

#endif
