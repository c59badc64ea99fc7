// Statistics of paired slices. Pure functions: no I/O, no clocks, no allocation kept.
#ifndef TLC_STATS_STATS_H
#define TLC_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlc_interval {
    double estimate, low,
        high; // low and high are -INFINITY and INFINITY when n is too small for `confidence`
    size_t n; // units behind it
};

double tlc_median(const double *values, size_t count); // NaN for none; does not reorder
double tlc_percentile_u32(const uint32_t *sorted, size_t count,
                          double p); // nearest rank, p in 0..1
void tlc_sort_u32(uint32_t *values, size_t count);
double tlc_coefficient_of_variation(const double *values, size_t count);

// Hodges-Lehmann estimate (median of the Walsh averages) and the interval by exact inversion of the
// Wilcoxon signed-rank test: the k-th smallest and largest Walsh average with the largest k whose
// two-sided coverage is at least `confidence` (Hollander, Wolfe, Chicken, Nonparametric Statistical
// Methods, 3.1-3.3). For 0.95 it needs n >= 6.
struct tlc_interval tlc_signed_rank_interval(const double *values, size_t count, double confidence);
// Two-sided exact p value of the signed-rank test that the centre is `centre`.
double tlc_signed_rank_p(const double *values, size_t count, double centre);

// Ratios arm / baseline. `log_ratios[i]` belongs to round `i` of instance `instance[i]` (0 ..
// instances-1). Rounds are first condensed to one value an instance (their Hodges-Lehmann
// estimate), then instances give the interval. The result is exponentiated: a ratio.
struct tlc_interval tlc_ratio_over_instances(const double *log_ratios, const unsigned *instance,
                                             size_t count, unsigned instances, double confidence);

enum tlc_verdict {
    TLC_VERDICT_BASELINE,
    TLC_VERDICT_SLOWER,     // the interval lies above 1
    TLC_VERDICT_FASTER,     // the interval lies below 1
    TLC_VERDICT_EQUIVALENT, // two one-sided tests: the 90 % interval lies within 1/(1+margin) ..
                            // 1+margin
    TLC_VERDICT_NO_CLAIM
};
// `ratio` is of cost (above 1 costs more), at 95 %; `narrow` the same at 90 % for the equivalence
// test.
enum tlc_verdict tlc_verdict_of(struct tlc_interval ratio, struct tlc_interval narrow,
                                double margin);
const char *tlc_verdict_name(
    enum tlc_verdict verdict); // "baseline", "slower", "faster", "equivalent", "no-claim"

#endif
