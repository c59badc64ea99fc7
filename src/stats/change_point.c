#include "stats/change_point.h"

#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

enum { ORDERS = 9999 };
static const uint64_t SEED = 0x7061747469747431;

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the same seed gives the same orders everywhere.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void shuffle(double *values, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)(next_random(state) % i);
        double swapped = values[i - 1];
        values[i - 1] = values[other];
        values[other] = swapped;
    }
}

// Mid-ranks, doubled and centred, so that U_t is their sum before t.
static void centred_ranks(const double *values, size_t count, double *ranks)
{
    for (size_t i = 0; i < count; i++) {
        double below = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            below += values[j] < values[i];
            equal += !(values[j] < values[i]) && !(values[j] > values[i]);
        }
        ranks[i] = 2 * below + equal - (double)count;
    }
}

// The largest |U_t| over cuts that leave `shortest` on both sides.
static double largest_step(const double *ranks, size_t count, size_t shortest)
{
    double sum = 0, largest = 0;
    for (size_t t = 1; t < count; t++) {
        sum += ranks[t - 1];
        if (t >= shortest && count - t >= shortest)
            largest = fmax(largest, fabs(sum));
    }
    return largest;
}

static double spread_around_median(const double *values, size_t count)
{
    double middle = tlc_median(values, count), sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(values[i] - middle);
    return sum;
}

// The cut whose two levels leave the least absolute distances. U_t alone draws a cut that is not in
// the middle towards it.
static size_t best_cut(const double *values, size_t count, size_t shortest)
{
    double least = INFINITY;
    size_t at = 0;
    for (size_t t = shortest; t + shortest <= count; t++) {
        double left = spread_around_median(values, t) + spread_around_median(values + t, count - t);
        if (left < least) {
            least = left;
            at = t;
        }
    }
    return at;
}

static struct tlc_change find_change(const double *values, size_t count, size_t shortest,
                                     unsigned orders, uint64_t seed)
{
    struct tlc_change change = {0, 1};
    double *ranks = malloc((count + 1) * sizeof *ranks);
    if (ranks && count >= 2 * shortest) {
        size_t as_large = 0;
        centred_ranks(values, count, ranks);
        double step = largest_step(ranks, count, shortest);
        for (unsigned i = 0; i < orders; i++) {
            shuffle(ranks, count, &seed);
            as_large += largest_step(ranks, count, shortest) >= step;
        }
        change.at = best_cut(values, count, shortest);
        change.p = (double)(1 + as_large) / (double)(1 + orders);
    }
    free(ranks);
    return change;
}

struct tlc_change tlc_pettitt(const double *values, size_t count, unsigned orders, uint64_t seed)
{
    return find_change(values, count, 1, orders, seed);
}

struct search {
    const double *values;
    double alpha;
    size_t shortest, found, capacity;
    struct tlc_change *changes;
};

static void search_part(struct search *search, size_t from, size_t until)
{
    if (until - from < 2 * search->shortest)
        return;
    struct tlc_change change =
        find_change(search->values + from, until - from, search->shortest, ORDERS, SEED);
    if (change.p > search->alpha)
        return;
    change.at += from;
    search_part(search, from, change.at);
    if (search->found < search->capacity)
        search->changes[search->found++] = change;
    search_part(search, change.at, until);
}

size_t tlc_change_points(const double *values, size_t count, double alpha, size_t shortest,
                         struct tlc_change *changes, size_t capacity)
{
    struct search search = {.values = values,
                            .alpha = alpha,
                            .shortest = shortest ? shortest : 1,
                            .capacity = capacity,
                            .changes = changes};
    search_part(&search, 0, count);
    return search.found;
}

void tlc_robust_scores(const double *values, size_t count, double *scores)
{
    double middle = tlc_median(values, count), *apart = malloc((count + 1) * sizeof *apart);
    size_t n = 0;
    for (size_t i = 0; apart && i < count; i++) {
        apart[i] = fabs(values[i] - middle);
        n += isfinite(values[i]) ? 1 : 0;
    }
    double spread = apart ? tlc_median(apart, count) : NAN;
    for (size_t i = 0; i < count; i++) {
        bool scored = n >= TLC_OUTLIER_UNITS && spread > 0;
        scores[i] = !isfinite(values[i]) ? NAN
                    : scored             ? 0.6745 * (values[i] - middle) / spread
                                         : 0;
    }
    free(apart);
}
