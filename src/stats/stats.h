// Statistics of paired slices. Pure functions: no I/O, no clocks, no allocation kept.
//
// Values that are not finite (the logarithm of a cost that was not measured) are left out, and `n`
// counts what remains.
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
// Standard deviation (n - 1) over mean; NaN for fewer than two values or a mean of zero.
double tlc_coefficient_of_variation(const double *values, size_t count);

// The signed-rank test is exact up to this many units: its null distribution is counted by dynamic
// programming. Beyond it, the normal approximation with continuity correction is used, whose error
// is then far below any figure shown.
#define TLC_SIGNED_RANK_EXACT 200

// P(T <= t) of the signed-rank statistic T of n units without ties, under the null hypothesis.
double tlc_signed_rank_cdf(size_t n, size_t t);
// The coverage that tlc_signed_rank_interval really achieves for n units: at least `confidence`,
// since T is discrete (n = 6: 0.96875 for 0.95). 1 when n is too small for a finite interval.
double tlc_signed_rank_level(size_t n, double confidence);

// Hodges-Lehmann estimate (median of the Walsh averages) and the interval by exact inversion of the
// Wilcoxon signed-rank test: the k-th smallest and largest Walsh average with the largest k whose
// two-sided coverage is at least `confidence` (Hollander, Wolfe, Chicken, Nonparametric Statistical
// Methods, 3.1-3.3). For 0.95 it needs n >= 6.
struct tlc_interval tlc_signed_rank_interval(const double *values, size_t count, double confidence);
// Two-sided p value of the signed-rank test that the centre is `centre`. Values equal to the centre
// are dropped (Wilcoxon, Biometrics Bulletin 1, 1945); equal distances share the mean of their
// ranks, and the distribution is the exact one given those ranks. 1 when nothing remains.
double tlc_signed_rank_p(const double *values, size_t count, double centre);

// Ratios arm / baseline. `log_ratios[i]` belongs to round `i` of instance `instance[i]` (0 ..
// instances-1). Rounds are first condensed to one value an instance (their Hodges-Lehmann
// estimate), then instances give the interval. The result is exponentiated: a ratio.
struct tlc_interval tlc_ratio_over_instances(const double *log_ratios, const unsigned *instance,
                                             size_t count, unsigned instances, double confidence);

// Slope of the line through the origin by least squares, over the points of one instance: for
// points that are differences, which are 0 where nothing was added. Each is to be a robust estimate
// already; the far ones rule, whose slopes scatter least. NaN without a point off the origin.
double tlc_line_slope(const double *x, const double *y, const unsigned *instance, size_t count,
                      unsigned which);
// The slope of each instance's own points, and the signed-rank interval over instances, which an
// instance with wild points cannot move far. Point `i` belongs to `instance[i]` (0 ..
// instances-1).
struct tlc_interval tlc_slope_over_instances(const double *x, const double *y,
                                             const unsigned *instance, size_t count,
                                             unsigned instances, double confidence);

// Holm's step-down adjustment of `count` p values (Scandinavian Journal of Statistics 6, 1979):
// adjusted[i] <= alpha keeps the chance of any false claim among them at alpha. NaN entries are not
// tests and stay NaN. `adjusted` may be `p` itself.
void tlc_holm(const double *p, size_t count, double *adjusted);
// Units needed before the smallest possible p value, 2^(1-n), can pass Holm over `tests` tests.
size_t tlc_holm_units(size_t tests, double alpha);

// Smallest relative change of cost that a repetition of the same measurement would claim with
// probability `power`, read from the half-width h of the log interval: exp(h * (1 + z(power) /
// z(97.5 %))) - 1, z being the normal quantile. A rough figure (it takes h as known), meant to
// stand beside "no claim". INFINITY when the interval is infinite. `ratio` is a 95 % interval.
double tlc_detectable_effect(struct tlc_interval ratio, double power);

enum tlc_verdict {
    TLC_VERDICT_BASELINE,
    TLC_VERDICT_SLOWER,     // the interval lies above 1
    TLC_VERDICT_FASTER,     // the interval lies below 1
    TLC_VERDICT_EQUIVALENT, // two one-sided tests: the 90 % interval lies within 1/(1+margin) ..
                            // 1+margin
    TLC_VERDICT_NO_CLAIM
};
// Two one-sided tests by interval inclusion (Schuirmann, J. Pharmacokinetics and Biopharmaceutics
// 15, 1987): true when the 90 % interval lies within 1/(1+margin) .. 1+margin.
bool tlc_equivalent(struct tlc_interval narrow, double margin);

// `ratio` is of cost (above 1 costs more), at 95 %; `narrow` the same at 90 % for the equivalence
// test. A difference that is shown stays a claim even when it is smaller than the margin.
enum tlc_verdict tlc_verdict_of(struct tlc_interval ratio, struct tlc_interval narrow,
                                double margin);
const char *tlc_verdict_name(
    enum tlc_verdict verdict); // "baseline", "slower", "faster", "equivalent", "no-claim"

#endif
