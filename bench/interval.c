#include "bench/interval.h"

#include <math.h>
#include <stdio.h>

void interval_add(json_t *object, struct tlc_interval interval)
{
    const struct {
        const char *name;
        double value;
    } members[] = {{"estimate", interval.estimate}, {"low", interval.low}, {"high", interval.high}};
    for (size_t i = 0; i < 3; i++)
        json_object_set_new(object, members[i].name,
                            isfinite(members[i].value) ? json_real(members[i].value) : json_null());
}

const char *interval_text(struct tlc_interval interval, int decimals, char text[INTERVAL_BYTES])
{
    if (!isfinite(interval.estimate))
        snprintf(text, INTERVAL_BYTES, "-");
    else if (!isfinite(interval.low) || !isfinite(interval.high))
        snprintf(text, INTERVAL_BYTES, "%.*f (too few rounds)", decimals, interval.estimate);
    else
        snprintf(text, INTERVAL_BYTES, "%.*f (%.*f to %.*f)", decimals, interval.estimate, decimals,
                 interval.low, decimals, interval.high);
    return text;
}
