// A line through the origin, and its slope over instances.
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

double tlc_line_slope(const double *x, const double *y, const unsigned *instance, size_t count,
                      unsigned which)
{
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        if (instance[i] == which && isfinite(x[i]) && isfinite(y[i])) {
            products += x[i] * y[i];
            squares += x[i] * x[i];
        }
    return squares > 0 ? products / squares : NAN;
}

struct tlc_interval tlc_slope_over_instances(const double *x, const double *y,
                                             const unsigned *instance, size_t count,
                                             unsigned instances, double confidence)
{
    struct tlc_interval interval = {NAN, -INFINITY, INFINITY, 0};
    double *slopes = malloc(((size_t)instances + 1) * sizeof *slopes);
    for (unsigned i = 0; slopes && i < instances; i++)
        slopes[i] = tlc_line_slope(x, y, instance, count, i);
    if (slopes)
        interval = tlc_signed_rank_interval(slopes, instances, confidence);
    free(slopes);
    return interval;
}
