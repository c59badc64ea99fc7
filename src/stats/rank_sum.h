// Two independent samples: the rank-sum test of Wilcoxon, Mann and Whitney, and its interval. Pure;
// values that are not finite are left out.
#ifndef TLC_STATS_RANK_SUM_H
#define TLC_STATS_RANK_SUM_H

#include <stddef.h>

#include "stats/stats.h"

// The test is exact up to this many units in both samples together: the null distribution is
// counted. Beyond it, the normal approximation with continuity correction is used.
#define TLC_RANK_SUM_EXACT 80

// P(U <= u) under the null hypothesis; U counts the pairs (one of `m`, one of `n`) in which the
// value of the first sample is the larger. No ties.
double tlc_rank_sum_cdf(size_t m, size_t n, size_t u);

// Shift `second` - `first`: the Hodges-Lehmann estimate (median of all differences of pairs) and
// the interval by inversion of the rank-sum test: the k-th smallest and largest difference with the
// largest k whose two-sided coverage is at least `confidence` (Hollander, Wolfe, Chicken,
// Nonparametric Statistical Methods, 4.2-4.3). `n` is that of the smaller sample. For 0.95 it needs
// 4 and 4 units, or 3 and 5.
struct tlc_interval tlc_rank_sum_interval(const double *first, size_t first_count,
                                          const double *second, size_t second_count,
                                          double confidence);
// Two-sided p value of the hypothesis that the shift is `shift`. Ties share the mean of their
// ranks, and the distribution is the exact one given those ranks. NaN when a sample is empty.
double tlc_rank_sum_p(const double *first, size_t first_count, const double *second,
                      size_t second_count, double shift);

#endif
