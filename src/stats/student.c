#include "stats/student.h"

#include <float.h>
#include <math.h>

enum { MOST_TERMS = 10000, HALVINGS = 200 };

// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8) by the
// modified method of Lentz (Thompson and Barnett, Journal of Computational Physics 64, 1986).
static double beta_fraction(double a, double b, double x)
{
    const double tiny = DBL_MIN / DBL_EPSILON;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m <= MOST_TERMS; m++) {
        double before = fraction;
        for (int odd = 0; odd < 2; odd++) {
            double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                              : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            fraction *= c * d;
        }
        if (fabs(fraction - before) <= fabs(fraction) * 4 * DBL_EPSILON)
            break;
    }
    return fraction;
}

// I_x(a, b), the regularised incomplete beta function.
static double beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    // The fraction converges fast below the mean only; above it the mirrored one is used.
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// P(T > t) for t >= 0 (Abramowitz and Stegun, 26.7.1 and 26.5.27).
static double upper_tail(double t, double freedom)
{
    return beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

double tlc_student_quantile(double p, double freedom)
{
    if (!(p > 0 && p < 1) || !(freedom >= 1))
        return NAN;
    double tail = p < 0.5 ? p : 1 - p, low = 0, high = 1;
    while (upper_tail(high, freedom) > tail && high < DBL_MAX / 2)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (upper_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return p < 0.5 ? -high : high;
}

struct tlc_interval tlc_student_interval(const double *values, size_t count, double confidence)
{
    double mean = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) { // Welford, Technometrics 4, 1962
        if (!isfinite(values[i]))
            continue;
        double apart = values[i] - mean;
        mean += apart / (double)++n;
        squares += apart * (values[i] - mean);
    }
    struct tlc_interval interval = {n ? mean : NAN, -INFINITY, INFINITY, n};
    if (n < 2)
        return interval;
    double error = tlc_student_quantile(1 - (1 - confidence) / 2, (double)(n - 1)) *
                   sqrt(squares / (double)(n - 1) / (double)n);
    interval.low = mean - error;
    interval.high = mean + error;
    return interval;
}
