// Series in time: where does the level change? And which values lie far from their fellows? Pure.
#ifndef TLC_STATS_CHANGE_POINT_H
#define TLC_STATS_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlc_change {
    size_t at; // index of the first value of the new level
    double p;
};

// Pettitt's statistic of one change (Applied Statistics 28, 1979): the largest |U_t|, U_t being the
// Mann-Whitney statistic of the values before `t` against the others, with the chance that a random
// order of the same values gives as much, over `orders` orders drawn from `seed`: p is
// (1 + as many) / (1 + orders), so it is valid for any distribution and for ties. The change is put
// where two levels, each the median of its side, fit best. Fewer than two values: at 0, p 1. Values
// must be finite.
struct tlc_change tlc_pettitt(const double *values, size_t count, unsigned orders, uint64_t seed);

// Binary segmentation: a change with p <= alpha cuts the series, and both parts are searched again;
// no part is shorter than `shortest`. Fills `changes` (room for `capacity`) in the order of time
// and returns how many there are; further ones are left out.
size_t tlc_change_points(const double *values, size_t count, double alpha, size_t shortest,
                         struct tlc_change *changes, size_t capacity);

// The modified z score of each value: 0.6745 (x - median) / MAD (Iglewicz, Hoaglin, How to Detect
// and Handle Outliers, 1993); they call a value beyond 3.5 a possible outlier. 0 for all when the
// MAD is 0 or fewer than `TLC_OUTLIER_UNITS` values are finite; NaN for values that are not finite.
#define TLC_OUTLIER_UNITS 5
#define TLC_OUTLIER_LIMIT 3.5
void tlc_robust_scores(const double *values, size_t count, double *scores);

#endif
