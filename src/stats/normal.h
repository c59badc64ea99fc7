// The normal distribution, for what has no exact form. Private to the room.
#ifndef TLC_STATS_NORMAL_H
#define TLC_STATS_NORMAL_H

#include <math.h>

static inline double tlc_normal_cdf(double x)
{
    return erfc(-x / sqrt(2.0)) / 2;
}

// By bisection: it is called a few times a report, and needs no table of constants.
static inline double tlc_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p <= 0 ? -INFINITY : p >= 1 ? INFINITY : NAN;
    double low = -40, high = 40;
    for (int step = 0; step < 80; step++) {
        double middle = (low + high) / 2;
        if (tlc_normal_cdf(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

#endif
