#include "stats/quantile.h"

#include <math.h>

// The least k with P(B <= k) >= level for B binomial (n, p).
static size_t binomial_quantile(size_t n, double p, double level)
{
    double odds = log(p) - log1p(-p), term = (double)n * log1p(-p), sum = exp(term);
    size_t k = 0;
    while (sum < level && k < n) {
        term += log((double)(n - k)) - log((double)(k + 1)) + odds;
        sum += exp(term);
        k++;
    }
    return k;
}

// With B values below the quantile q, x[r] <= q (ranks from 1) when B >= r, roughly: x[l] is a
// lower bound when P(B < l) <= tail, x[u] an upper one when P(B >= u) <= tail.
struct tlc_interval tlc_quantile_interval(const double *sorted, size_t count, double p,
                                          double confidence)
{
    struct tlc_interval interval = {NAN, -INFINITY, INFINITY, count};
    if (!count || !(p > 0) || !(p < 1))
        return interval;
    double tail = (1 - confidence) / 2;
    size_t rank = (size_t)ceil(p * (double)count);
    interval.estimate = sorted[rank > 0 ? rank - 1 : 0];
    size_t low = binomial_quantile(count, p, tail);          // P(B < low) < tail
    size_t high = binomial_quantile(count, p, 1 - tail) + 1; // P(B < high) >= 1 - tail
    if (low >= 1)
        interval.low = sorted[low - 1];
    if (high <= count)
        interval.high = sorted[high - 1];
    return interval;
}
