// A robust line through few points, and its slope over instances.
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

struct slope {
    double slope, weight;
};

static int compare_slopes(const void *left, const void *right)
{
    double a = ((const struct slope *)left)->slope, b = ((const struct slope *)right)->slope;
    return (a > b) - (a < b);
}

// The slopes of all pairs of points that differ in x; returns how many.
static size_t pair_slopes(const double *x, const double *y, size_t count, struct slope *slopes)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j];
            if (isfinite(dx) && isfinite(dy) && fabs(dx) > 0)
                slopes[used++] = (struct slope){dy / dx, fabs(dx)};
        }
    return used;
}

// The value below and above which half of the weight lies; between two when it is cut exactly.
static double weighted_median(struct slope *slopes, size_t count)
{
    double total = 0, below = 0;
    qsort(slopes, count, sizeof *slopes, compare_slopes);
    for (size_t i = 0; i < count; i++)
        total += slopes[i].weight;
    for (size_t i = 0; i < count; i++) {
        below += slopes[i].weight;
        if (below > total / 2 * (1 + 1e-12))
            return slopes[i].slope;
        if (below >= total / 2 * (1 - 1e-12) && i + 1 < count)
            return slopes[i].slope / 2 + slopes[i + 1].slope / 2;
    }
    return count ? slopes[count - 1].slope : NAN;
}

double tlc_line_slope(const double *x, const double *y, size_t count)
{
    struct slope *slopes = malloc((count * count / 2 + 1) * sizeof *slopes);
    double slope = NAN;
    if (slopes)
        slope = weighted_median(slopes, pair_slopes(x, y, count, slopes));
    free(slopes);
    return slope;
}

// Moves the points of one instance to the front of the buffers; returns how many.
static size_t points_of(const double *x, const double *y, const unsigned *instance, size_t count,
                        unsigned which, double *own_x, double *own_y)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (instance[i] == which) {
            own_x[used] = x[i];
            own_y[used++] = y[i];
        }
    return used;
}

struct tlc_interval tlc_slope_over_instances(const double *x, const double *y,
                                             const unsigned *instance, size_t count,
                                             unsigned instances, double confidence)
{
    struct tlc_interval interval = {NAN, -INFINITY, INFINITY, 0};
    double *slopes = malloc(((size_t)instances + 1) * sizeof *slopes);
    double *own_x = malloc((count + 1) * sizeof *own_x);
    double *own_y = malloc((count + 1) * sizeof *own_y);
    if (slopes && own_x && own_y) {
        for (unsigned i = 0; i < instances; i++)
            slopes[i] =
                tlc_line_slope(own_x, own_y, points_of(x, y, instance, count, i, own_x, own_y));
        interval = tlc_signed_rank_interval(slopes, instances, confidence);
    }
    free(own_y);
    free(own_x);
    free(slopes);
    return interval;
}
