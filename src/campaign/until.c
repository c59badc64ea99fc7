#include "campaign/until.h"

#include <math.h>

#include "base/json.h"
#include "campaign/campaign.h"
#include "stats/stopping.h"

// NaN where there is no interval.
static double half_width(const json_t *arm)
{
    const json_t *ratio = json_object_get(arm, "ratio");
    double low = tlc_json_number(ratio, "low"), high = tlc_json_number(ratio, "high");
    return low > 0 && isfinite(high) ? sqrt(high / low) - 1 : NAN;
}

static bool look_at_arm(const json_t *arm, double until, json_t *widths)
{
    double width = half_width(arm);
    json_array_append_new(widths, isfinite(width) ? json_real(width) : json_null());
    return width <= until;
}

bool tlc_until_look(const struct tlc_plan *plan, const json_t *samples, unsigned blocks,
                    json_t *looks)
{
    if (!(plan->schedule.until > 0) || !tlc_is_look(blocks))
        return false;
    json_t *document = json_object(), *widths = json_array();
    struct tlc_error ignored;
    enum tlc_status status = tlc_campaign_summarise(document, plan, samples, &ignored);
    const json_t *arms = json_object_get(document, "arms");
    bool narrow = status == TLC_OK || status == TLC_REFUSED;
    for (size_t i = 0; i < json_array_size(arms); i++) // the baseline has no ratio
        if (!look_at_arm(json_array_get(arms, i), plan->schedule.until, widths) && i)
            narrow = false;
    json_array_append_new(looks,
                          json_pack("{s:i, s:o}", "blocks", (int)blocks, "half_widths", widths));
    json_decref(document);
    return narrow && json_array_size(arms) > 1;
}

void tlc_until_tell(json_t *result, const json_t *looks, const char *stopped)
{
    size_t index, k;
    json_t *arm, *look;
    json_array_foreach(json_object_get(result, "arms"), index, arm)
    {
        json_t *mine = json_array();
        json_array_foreach((json_t *)(uintptr_t)looks, k, look) json_array_append_new(
            mine, json_pack("{s:O, s:O}", "blocks", json_object_get(look, "blocks"), "half_width",
                            json_array_get(json_object_get(look, "half_widths"), index)));
        json_object_set_new(arm, "looks", mine);
        json_object_set_new(arm, "stopped", json_string(stopped));
    }
}
