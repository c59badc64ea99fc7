#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#include "stats/normal.h"

// The index of the smallest p value not yet adjusted (NaN in `adjusted`); `count` when none is.
static size_t next_smallest(const double *p, const bool *done, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (!done[i] && !isnan(p[i]) && (best == count || p[i] < p[best]))
            best = i;
    return best;
}

void tlc_holm(const double *p, size_t count, double *adjusted)
{
    bool *done = calloc(count + 1, sizeof *done);
    size_t tests = 0;
    double floor = 0;
    for (size_t i = 0; i < count; i++) {
        tests += isnan(p[i]) ? 0 : 1;
        adjusted[i] = done ? p[i] : NAN;
    }
    for (size_t left = tests, i; done && left > 0; left--) {
        i = next_smallest(adjusted, done, count);
        done[i] = true;
        double scaled = fmin(1, (double)left * adjusted[i]);
        adjusted[i] = floor = fmax(floor, scaled);
    }
    free(done);
}

size_t tlc_holm_units(size_t tests, double alpha)
{
    size_t n = 1;
    double smallest = 1; // two-sided: both extremes of 2^n equally likely sign patterns
    while (alpha > 0 && (double)tests * smallest > alpha) {
        smallest /= 2;
        n++;
    }
    return n;
}

double tlc_detectable_effect(struct tlc_interval ratio, double power)
{
    if (!isfinite(ratio.low) || !isfinite(ratio.high) || ratio.low <= 0)
        return INFINITY;
    double half = (log(ratio.high) - log(ratio.low)) / 2;
    return expm1(half * (1 + tlc_normal_quantile(power) / tlc_normal_quantile(0.975)));
}

bool tlc_equivalent(struct tlc_interval narrow, double margin)
{
    return narrow.low > 1 / (1 + margin) && narrow.high < 1 + margin;
}

enum tlc_verdict tlc_verdict_of(struct tlc_interval ratio, struct tlc_interval narrow,
                                double margin)
{
    if (ratio.low > 1)
        return TLC_VERDICT_SLOWER;
    if (ratio.high < 1)
        return TLC_VERDICT_FASTER;
    return tlc_equivalent(narrow, margin) ? TLC_VERDICT_EQUIVALENT : TLC_VERDICT_NO_CLAIM;
}

const char *tlc_verdict_name(enum tlc_verdict verdict)
{
    static const char *const names[] = {"baseline", "slower", "faster", "equivalent", "no-claim"};
    return names[verdict];
}
