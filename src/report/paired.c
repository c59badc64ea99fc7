#include "report/paired.h"

#include <math.h>
#include <stdio.h>

#include "report/words.h"
#include "result/rounds.h"

enum { MOST_BLOCKS = 256 };

static double number_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) ? json_number_value(value) : 0;
}

struct tlc_interval tlc_paired_difference(const struct tlc_report_arm *more,
                                          const struct tlc_report_arm *less)
{
    double differences[MOST_BLOCKS];
    size_t count = 0, index;
    json_t *sample;
    json_array_foreach(more->sample_list, index, sample)
    {
        json_int_t block = json_integer_value(json_object_get(sample, "block"));
        const json_t *other = tlc_sample_of_block(less->sample_list, block);
        if (other && tlc_sample_of_block(more->sample_list, block) == sample && count < MOST_BLOCKS)
            differences[count++] = number_of(sample, "cost_us") - number_of(other, "cost_us");
    }
    return tlc_signed_rank_interval(differences, count, 0.95);
}

char *tlc_paired_words(struct tlc_interval interval, char *words)
{
    char estimate[TLC_WORDS], low[TLC_WORDS], high[TLC_WORDS];
    tlc_words_figure(interval.n ? interval.estimate : NAN, estimate);
    if (interval.n && isfinite(interval.low) && isfinite(interval.high))
        snprintf(words, TLC_WORDS, "%.40s (%.40s to %.40s)", estimate,
                 tlc_words_figure(interval.low, low), tlc_words_figure(interval.high, high));
    else
        snprintf(words, TLC_WORDS, "%.40s", estimate);
    return words;
}
