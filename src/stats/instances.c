#include "stats/instances.h"

#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

void tlc_instance_estimates(const double *values, const unsigned *instance, size_t count,
                            unsigned instances, double *estimates)
{
    double *rounds = malloc((count + 1) * sizeof *rounds);
    for (unsigned which = 0; which < instances; which++) {
        size_t n = 0;
        for (size_t i = 0; rounds && i < count; i++)
            if (instance[i] == which)
                rounds[n++] = values[i];
        estimates[which] = rounds ? tlc_signed_rank_interval(rounds, n, 0.5).estimate : NAN;
    }
    free(rounds);
}
