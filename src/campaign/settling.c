#include "campaign/settling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/rounds.h"

enum { FEWEST_SLICES = 4 };
static const double CONFIDENCE = 0.95;

static const struct tlc_interval UNKNOWN = {NAN, NAN, NAN, 0};

// Log ratio of the medians of the halves of one block's slices; the one in the middle is in
// neither.
static double late_over_early(const double *values, size_t count)
{
    size_t half = count / 2;
    return tlc_median(values + count - half, half) - tlc_median(values, half);
}

static struct tlc_interval over_blocks(const struct tlc_rounds *rounds)
{
    double *effects = calloc(rounds->instances + 1, sizeof *effects);
    size_t count = 0, begin = 0;
    if (!effects)
        return UNKNOWN;
    while (begin < rounds->count) {
        size_t end = begin;
        while (end < rounds->count && rounds->instance[end] == rounds->instance[begin])
            end++;
        if (end - begin >= FEWEST_SLICES)
            effects[count++] = late_over_early(rounds->log_value + begin, end - begin);
        begin = end;
    }
    struct tlc_interval interval = tlc_signed_rank_interval(effects, count, CONFIDENCE);
    free(effects);
    interval.estimate = exp(interval.estimate);
    interval.low = exp(interval.low);
    interval.high = exp(interval.high);
    return interval;
}

struct tlc_interval tlc_settling(const json_t *samples, const json_t *baseline)
{
    struct tlc_rounds rounds;
    struct tlc_interval interval = UNKNOWN;
    if (tlc_rounds_read(samples, baseline, &rounds))
        interval = over_blocks(&rounds);
    tlc_rounds_free(&rounds);
    return interval;
}

double tlc_settling_least(struct tlc_interval settling)
{
    double least = fmax(settling.low - 1, 1 - settling.high);
    return isfinite(settling.low) && isfinite(settling.high) && least > 0 ? least : 0;
}

const char *tlc_settling_words(struct tlc_interval settling)
{
    static char words[128];
    bool fell = settling.estimate < 1;
    double ends[2] = {fabs(1 - settling.low), fabs(1 - settling.high)};
    snprintf(words, sizeof words,
             "its cost %s by %.0f %% within a block (95 %%: %.0f %% to %.0f %%)",
             fell ? "fell" : "rose", 100 * fabs(1 - settling.estimate),
             100 * fmin(ends[0], ends[1]), 100 * fmax(ends[0], ends[1]));
    return words;
}
