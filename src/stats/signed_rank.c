// The Wilcoxon signed-rank test, its Hodges-Lehmann estimate and its interval.
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/normal.h"

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// Chances of each sum 0 .. `total` when every rank enters with chance 1/2; NULL without memory. The
// caller frees it. Each added rank doubles the cases, so a sum's chance is the mean of its chances
// with and without it.
static double *sum_chances(const size_t *ranks, size_t n, size_t total)
{
    double *chance = calloc(total + 1, sizeof *chance);
    if (!chance)
        return NULL;
    chance[0] = 1;
    size_t reached = 0;
    for (size_t i = 0; i < n; i++) {
        reached += ranks[i];
        for (size_t sum = reached + 1; sum-- > 0;)
            chance[sum] = (chance[sum] + (sum >= ranks[i] ? chance[sum - ranks[i]] : 0)) / 2;
    }
    return chance;
}

// Chances of T for n units without ties: ranks 1 .. n.
static double *rank_chances(size_t n)
{
    size_t ranks[TLC_SIGNED_RANK_EXACT];
    for (size_t i = 0; i < n; i++)
        ranks[i] = i + 1;
    return sum_chances(ranks, n, n * (n + 1) / 2);
}

// Mean and deviation of T: n(n+1)/4 and sqrt(n(n+1)(2n+1)/24).
static double null_mean(double n)
{
    return n * (n + 1) / 4;
}

static double null_deviation(double n)
{
    return sqrt(n * (n + 1) * (2 * n + 1) / 24);
}

double tlc_signed_rank_cdf(size_t n, size_t t)
{
    size_t total = n * (n + 1) / 2;
    if (t >= total)
        return 1;
    if (n > TLC_SIGNED_RANK_EXACT)
        return tlc_normal_cdf(((double)t + 0.5 - null_mean((double)n)) / null_deviation((double)n));
    double *chance = rank_chances(n), sum = 0;
    for (size_t i = 0; chance && i <= t; i++)
        sum += chance[i];
    double result = chance ? sum : NAN;
    free(chance);
    return result;
}

// The largest k with 1 - 2 P(T <= k - 1) >= confidence; 0 when even k = 1 covers too little.
// `outside` gets 2 P(T <= k - 1).
static size_t interval_depth(size_t n, double confidence, double *outside)
{
    double tail = (1 - confidence) / 2, sum = 0;
    *outside = 0;
    if (n > TLC_SIGNED_RANK_EXACT) {
        double mean = null_mean((double)n), deviation = null_deviation((double)n);
        double depth = floor(mean + tlc_normal_quantile(tail) * deviation + 0.5);
        size_t k = depth < 1 ? 0 : (size_t)depth;
        *outside = k ? 2 * tlc_signed_rank_cdf(n, k - 1) : 0;
        return k;
    }
    double *chance = rank_chances(n);
    size_t k = 0;
    // The slack admits a confidence that is exactly reached, such as 1 - 2/2^n.
    while (chance && k <= n * (n + 1) / 4 && sum + chance[k] <= tail + 1e-12)
        sum += chance[k++];
    free(chance);
    *outside = 2 * sum;
    return k;
}

double tlc_signed_rank_level(size_t n, double confidence)
{
    double outside;
    return interval_depth(n, confidence, &outside) ? 1 - outside : 1;
}

// Walsh averages (x[i] + x[j]) / 2, i <= j, that are at most `limit`. `sorted` ascends, so the
// largest partner j only falls while i rises.
static size_t walsh_at_most(const double *sorted, size_t n, double limit)
{
    size_t count = 0, j = n;
    for (size_t i = 0; i < n; i++) {
        while (j > 0 && sorted[i] / 2 + sorted[j - 1] / 2 > limit)
            j--;
        if (j <= i)
            break;
        count += j - i;
    }
    return count;
}

// Order of doubles as integers, so that bisection ends after at most 64 steps on a neighbour.
static int64_t to_ordinal(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double from_ordinal(int64_t ordinal)
{
    int64_t bits = ordinal < 0 ? INT64_MIN - ordinal : ordinal;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The k-th smallest Walsh average (k from 1), without making all n(n+1)/2 of them.
static double walsh_kth(const double *sorted, size_t n, size_t k)
{
    int64_t low = to_ordinal(sorted[0]), high = to_ordinal(sorted[n - 1]);
    while (low < high) {
        int64_t middle = (low & high) + ((low ^ high) >> 1); // floor of the mean, no overflow
        if (walsh_at_most(sorted, n, from_ordinal(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return from_ordinal(low);
}

// Copies the finite values and sorts them; returns how many.
static size_t sort_finite(const double *values, size_t count, double *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            sorted[n++] = values[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, compare_doubles);
    return n;
}

// The Hodges-Lehmann estimate: the median of the Walsh averages.
static double walsh_median(const double *sorted, size_t n)
{
    size_t total = n * (n + 1) / 2;
    double upper = walsh_kth(sorted, n, total / 2 + 1);
    return total % 2 ? upper : upper / 2 + walsh_kth(sorted, n, total / 2) / 2;
}

struct tlc_interval tlc_signed_rank_interval(const double *values, size_t count, double confidence)
{
    struct tlc_interval interval = {NAN, -INFINITY, INFINITY, 0};
    double *sorted = malloc((count + 1) * sizeof *sorted), outside;
    size_t n = sorted ? sort_finite(values, count, sorted) : 0;
    if (n) {
        size_t total = n * (n + 1) / 2, k = interval_depth(n, confidence, &outside);
        interval.estimate = walsh_median(sorted, n);
        interval.n = n;
        if (k) {
            interval.low = walsh_kth(sorted, n, k);
            interval.high = walsh_kth(sorted, n, total + 1 - k);
        }
    }
    free(sorted);
    return interval;
}

struct distance {
    double size;
    bool above;
};

static int compare_distances(const void *left, const void *right)
{
    double a = ((const struct distance *)left)->size, b = ((const struct distance *)right)->size;
    return (a > b) - (a < b);
}

// Doubled mid-ranks, which are whole numbers: places i+1 .. j share (i+1+j)/2.
static void double_ranks(const struct distance *sorted, size_t n, size_t *ranks)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !(sorted[j].size > sorted[i].size); j++)
            ;
        for (size_t place = i; place < j; place++)
            ranks[place] = i + 1 + j;
    }
}

// Two-sided p value of the doubled rank sum `above` of n doubled ranks.
static double rank_sum_p(const size_t *ranks, size_t n, size_t above)
{
    size_t total = n * (n + 1), least = above < total - above ? above : total - above;
    double p = 0;
    if (n > TLC_SIGNED_RANK_EXACT) {
        double squares = 0; // Var(2T) is the sum of (2 rank)^2 / 4, ties included
        for (size_t i = 0; i < n; i++)
            squares += (double)ranks[i] * (double)ranks[i];
        p = tlc_normal_cdf(((double)least + 1 - (double)total / 2) / (sqrt(squares) / 2));
    } else {
        double *chance = sum_chances(ranks, n, total);
        for (size_t i = 0; chance && i <= least; i++)
            p += chance[i];
        p = chance ? p : NAN;
        free(chance);
    }
    return 2 * p < 1 ? 2 * p : isnan(p) ? NAN : 1;
}

double tlc_signed_rank_p(const double *values, size_t count, double centre)
{
    struct distance *distances = malloc((count + 1) * sizeof *distances);
    size_t *ranks = malloc((count + 1) * sizeof *ranks);
    size_t n = 0, above = 0;
    for (size_t i = 0; distances && ranks && i < count; i++)
        if (isfinite(values[i]) && (values[i] > centre || values[i] < centre))
            distances[n++] = (struct distance){fabs(values[i] - centre), values[i] > centre};
    double p = distances && ranks ? 1 : NAN;
    if (n) {
        qsort(distances, n, sizeof *distances, compare_distances);
        double_ranks(distances, n, ranks);
        for (size_t i = 0; i < n; i++)
            above += distances[i].above ? ranks[i] : 0;
        p = rank_sum_p(ranks, n, above);
    }
    free(ranks);
    free(distances);
    return p;
}

// The estimate of the rounds of one instance, NaN when it has none; `rounds` is room for them.
static double instance_estimate(const double *log_ratios, const unsigned *instance, size_t count,
                                unsigned which, double *rounds)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (instance[i] == which)
            rounds[n++] = log_ratios[i];
    n = sort_finite(rounds, n, rounds);
    return n ? walsh_median(rounds, n) : NAN;
}

struct tlc_interval tlc_ratio_over_instances(const double *log_ratios, const unsigned *instance,
                                             size_t count, unsigned instances, double confidence)
{
    struct tlc_interval ratio = {NAN, -INFINITY, INFINITY, 0};
    double *units = malloc(((size_t)instances + 1) * sizeof *units);
    double *rounds = malloc((count + 1) * sizeof *rounds);
    if (units && rounds) {
        for (unsigned i = 0; i < instances; i++)
            units[i] = instance_estimate(log_ratios, instance, count, i, rounds);
        ratio = tlc_signed_rank_interval(units, instances, confidence);
        ratio.estimate = exp(ratio.estimate);
        // An infinite interval stays marked as such; exp would turn -INFINITY into the finite 0.
        if (isfinite(ratio.low)) {
            ratio.low = exp(ratio.low);
            ratio.high = exp(ratio.high);
        }
    }
    free(rounds);
    free(units);
    return ratio;
}
