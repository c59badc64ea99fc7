// Server instances as values for statistics, and intervals as JSON.
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "report/compare_parts.h"
#include "result/rounds.h"
#include "stats/instances.h"

bool tlc_units_read(const json_t *arm, const json_t *reference, struct tlc_units *units)
{
    struct tlc_rounds rounds;
    *units = (struct tlc_units){0};
    bool whole = tlc_rounds_read(json_object_get(arm, "samples"),
                                 reference ? json_object_get(reference, "samples") : NULL, &rounds);
    units->value = whole ? calloc(rounds.instances + 1, sizeof *units->value) : NULL;
    if (units->value) {
        units->count = rounds.instances;
        tlc_instance_estimates(rounds.log_value, rounds.instance, rounds.count, rounds.instances,
                               units->value);
    }
    tlc_rounds_free(&rounds);
    return units->value != NULL;
}

void tlc_units_free(struct tlc_units *units)
{
    free(units->value);
    *units = (struct tlc_units){0};
}

struct tlc_interval tlc_exp_interval(struct tlc_interval of_logs)
{
    of_logs.estimate = exp(of_logs.estimate);
    // exp would turn -INFINITY into the finite 0.
    if (isfinite(of_logs.low) && isfinite(of_logs.high)) {
        of_logs.low = exp(of_logs.low);
        of_logs.high = exp(of_logs.high);
    }
    return of_logs;
}

json_t *tlc_ratio_json(struct tlc_interval of_logs)
{
    struct tlc_interval ratio = tlc_exp_interval(of_logs);
    if (!ratio.n || !isfinite(ratio.estimate))
        return json_null();
    return json_pack("{s:f, s:o, s:o, s:I}", "estimate", ratio.estimate, "low",
                     tlc_json_real(ratio.low), "high", tlc_json_real(ratio.high), "n",
                     (json_int_t)ratio.n);
}
