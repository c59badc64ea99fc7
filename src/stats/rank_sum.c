#include "stats/rank_sum.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats/normal.h"

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// In how many ways `choose` of the ranks have each sum 0 .. `largest`; the caller frees it, NULL
// without memory. Counts stay exact to a double's precision and far below its range.
static double *subset_sums(const size_t *ranks, size_t count, size_t choose, size_t largest)
{
    size_t width = largest + 1;
    double *ways = calloc((choose + 1) * width, sizeof *ways);
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1 < choose ? i + 1 : choose; k > 0; k--)
            for (size_t sum = ranks[i]; sum < width; sum++)
                ways[k * width + sum] += ways[(k - 1) * width + sum - ranks[i]];
    for (size_t sum = 0; choose && sum < width; sum++)
        ways[sum] = ways[choose * width + sum];
    return ways;
}

// The part of all subsets whose sum is within from .. until.
static double share_of_sums(const double *ways, size_t largest, size_t from, size_t until)
{
    double inside = 0, all = 0;
    for (size_t sum = 0; sum <= largest; sum++) {
        all += ways[sum];
        inside += sum >= from && sum <= until ? ways[sum] : 0;
    }
    return inside / all;
}

static double *rank_ways(size_t m, size_t n, size_t *largest)
{
    size_t ranks[TLC_RANK_SUM_EXACT];
    for (size_t i = 0; i < m + n; i++)
        ranks[i] = i + 1;
    *largest = m * n + m * (m + 1) / 2;
    return subset_sums(ranks, m + n, m, *largest);
}

static double normal_cdf_of_u(size_t m, size_t n, size_t u)
{
    double pairs = (double)m * (double)n;
    return tlc_normal_cdf(((double)u + 0.5 - pairs / 2) / sqrt(pairs * ((double)(m + n) + 1) / 12));
}

double tlc_rank_sum_cdf(size_t m, size_t n, size_t u)
{
    size_t least = m * (m + 1) / 2, largest;
    if (u >= m * n)
        return 1;
    if (m + n > TLC_RANK_SUM_EXACT)
        return normal_cdf_of_u(m, n, u);
    double *ways = rank_ways(m, n, &largest);
    double chance = ways ? share_of_sums(ways, largest, 0, least + u) : NAN;
    free(ways);
    return chance;
}

// The largest k with 1 - 2 P(U <= k - 1) >= confidence; 0 when even k = 1 covers too little.
static size_t interval_depth(size_t m, size_t n, double confidence)
{
    double tail = (1 - confidence) / 2, sum = 0, all = 0;
    if (m + n > TLC_RANK_SUM_EXACT) {
        double pairs = (double)m * (double)n;
        double depth = floor(pairs / 2 + 0.5 +
                             tlc_normal_quantile(tail) * sqrt(pairs * ((double)(m + n) + 1) / 12));
        return depth < 1 ? 0 : (size_t)depth;
    }
    size_t least = m * (m + 1) / 2, largest, k = 0;
    double *ways = rank_ways(m, n, &largest);
    for (size_t i = 0; ways && i <= largest; i++)
        all += ways[i];
    // The slack admits a confidence that is exactly reached.
    while (ways && k <= m * n / 2 && (sum + ways[least + k]) / all <= tail + 1e-12)
        sum += ways[least + k++];
    free(ways);
    return k;
}

static size_t copy_finite(const double *values, size_t count, double *copy)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            copy[n++] = values[i];
    return n;
}

// All differences second - first, sorted; NULL without memory.
static double *sorted_differences(const double *first, size_t m, const double *second, size_t n)
{
    double *differences = malloc((m * n + 1) * sizeof *differences);
    for (size_t i = 0; differences && i < m; i++)
        for (size_t j = 0; j < n; j++)
            differences[i * n + j] = second[j] - first[i];
    if (differences)
        qsort(differences, m * n, sizeof *differences, compare_doubles);
    return differences;
}

struct tlc_interval tlc_rank_sum_interval(const double *first, size_t first_count,
                                          const double *second, size_t second_count,
                                          double confidence)
{
    struct tlc_interval interval = {NAN, -INFINITY, INFINITY, 0};
    double *a = malloc((first_count + 1) * sizeof *a), *b = malloc((second_count + 1) * sizeof *b);
    size_t m = a ? copy_finite(first, first_count, a) : 0;
    size_t n = b ? copy_finite(second, second_count, b) : 0;
    double *differences = m && n ? sorted_differences(a, m, b, n) : NULL;
    if (differences) {
        size_t pairs = m * n, k = interval_depth(m, n, confidence);
        interval.estimate = tlc_median(differences, pairs);
        interval.n = m < n ? m : n;
        if (k) {
            interval.low = differences[k - 1];
            interval.high = differences[pairs - k];
        }
    }
    free(differences);
    free(a);
    free(b);
    return interval;
}

struct unit {
    double value;
    bool second;
};

static int compare_units(const void *left, const void *right)
{
    double a = ((const struct unit *)left)->value, b = ((const struct unit *)right)->value;
    return (a > b) - (a < b);
}

// Doubled mid-ranks, which are whole numbers: places i+1 .. j share (i+1+j)/2.
static void double_ranks(const struct unit *sorted, size_t count, size_t *ranks)
{
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && !(sorted[j].value > sorted[i].value); j++)
            ;
        for (size_t place = i; place < j; place++)
            ranks[place] = i + 1 + j;
    }
}

// `n` of the doubled ranks were drawn without replacement; their sum is `drawn`.
static double normal_p(const size_t *ranks, size_t count, size_t n, double drawn)
{
    double sum = 0, squares = 0, all = (double)count;
    for (size_t i = 0; i < count; i++)
        sum += (double)ranks[i];
    for (size_t i = 0; i < count; i++)
        squares += pow((double)ranks[i] - sum / all, 2);
    double variance = (double)n * (all - (double)n) / all * squares / (all - 1);
    double apart = fabs(drawn - (double)n * sum / all) - 1;
    return variance > 0 ? 2 * tlc_normal_cdf(-fmax(apart, 0) / sqrt(variance)) : 1;
}

static double exact_p(const size_t *ranks, size_t count, size_t n, size_t drawn)
{
    size_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest += ranks[i];
    double *ways = subset_sums(ranks, count, n, largest);
    double p = NAN;
    if (ways)
        p = 2 * fmin(share_of_sums(ways, largest, 0, drawn),
                     share_of_sums(ways, largest, drawn, largest));
    free(ways);
    return p > 1 ? 1 : p;
}

static size_t put_units(const double *values, size_t count, double shift, bool second,
                        struct unit *units)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            units[n++] = (struct unit){values[i] - shift, second};
    return n;
}

double tlc_rank_sum_p(const double *first, size_t first_count, const double *second,
                      size_t second_count, double shift)
{
    struct unit *units = malloc((first_count + second_count + 1) * sizeof *units);
    size_t *ranks = malloc((first_count + second_count + 1) * sizeof *ranks);
    double p = NAN;
    size_t m = units && ranks ? put_units(first, first_count, 0, false, units) : 0;
    size_t n = units && ranks ? put_units(second, second_count, shift, true, units + m) : 0;
    if (m && n) {
        size_t drawn = 0;
        qsort(units, m + n, sizeof *units, compare_units);
        double_ranks(units, m + n, ranks);
        for (size_t i = 0; i < m + n; i++)
            drawn += units[i].second ? ranks[i] : 0;
        p = m + n > TLC_RANK_SUM_EXACT ? normal_p(ranks, m + n, n, (double)drawn)
                                       : exact_p(ranks, m + n, n, drawn);
    }
    free(ranks);
    free(units);
    return p;
}
