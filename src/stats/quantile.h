// Quantiles with intervals from order statistics. Pure.
#ifndef TLC_STATS_QUANTILE_H
#define TLC_STATS_QUANTILE_H

#include <stddef.h>

#include "stats/stats.h"

// The p-quantile of `sorted` (ascending; nearest rank, as tlc_percentile_u32) and the interval
// between two order statistics, equal-tailed: the number of values below the true quantile is
// binomial, whatever the distribution (David, Nagaraja, Order Statistics, 7.1). A bound for which
// there are too few values is infinite: 99.9 % at 95 % confidence has an upper bound from 3688
// values on.
struct tlc_interval tlc_quantile_interval(const double *sorted, size_t count, double p,
                                          double confidence);

#endif
