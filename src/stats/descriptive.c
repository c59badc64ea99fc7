#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int compare_u32(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

double tlc_median(const double *values, size_t count)
{
    double *sorted = malloc((count + 1) * sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; sorted && i < count; i++)
        if (isfinite(values[i]))
            sorted[n++] = values[i];
    double median = NAN;
    if (n) {
        qsort(sorted, n, sizeof *sorted, compare_doubles);
        median = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
    }
    free(sorted);
    return median;
}

double tlc_percentile_u32(const uint32_t *sorted, size_t count, double p)
{
    if (!count || isnan(p))
        return NAN;
    double rank = ceil(p * (double)count);
    if (rank < 1)
        return sorted[0];
    return rank >= (double)count ? sorted[count - 1] : sorted[(size_t)rank - 1];
}

void tlc_sort_u32(uint32_t *values, size_t count)
{
    if (count)
        qsort(values, count, sizeof *values, compare_u32);
}

double tlc_coefficient_of_variation(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += values[i];
            n++;
        }
    double mean = sum / (double)n;
    if (n < 2 || mean == 0)
        return NAN;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1)) / fabs(mean);
}
