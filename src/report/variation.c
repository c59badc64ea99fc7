#include "report/variation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"

static void percent(double share, bool with_sign, char *words)
{
    if (isfinite(share))
        snprintf(words, TLC_WORDS, with_sign ? "%+.1f %%" : "%.1f %%", 100 * share);
    else
        strcpy(words, "-");
}

static const char *claim_of(const json_t *variation)
{
    const json_t *exceeds = json_object_get(variation, "exceeds");
    return json_is_true(exceeds) ? "a signal" : json_is_false(exceeds) ? "no claim" : "";
}

static void add_arm(struct tlc_telling *telling, struct tlc_table *table,
                    const struct tlc_report_model *model, const struct tlc_report_arm *arm)
{
    char median[TLC_WORDS], deviation[TLC_WORDS], difference[TLC_WORDS], samples[32];
    const struct tlc_report_arm *divisor = tlc_report_divisor(model, arm);
    tlc_words_figure(tlc_json_number(arm->variation, "median_us"), median);
    percent(tlc_json_number(arm->variation, "relative_deviation"), false, deviation);
    percent(tlc_json_number(arm->variation, "difference"), true, difference);
    snprintf(samples, sizeof samples, "%zu", arm->instances);
    tlc_tell_row(telling, table,
                 (const char *const[]){tlc_report_arm_name(model, arm), samples, median, deviation,
                                       divisor ? difference : "", divisor ? divisor->name : "",
                                       claim_of(arm->variation)});
}

bool tlc_variation_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    char median[32];
    snprintf(median, sizeof median, "median %s", emitter->microseconds);
    const struct tlc_table_column columns[] = {{"arm", false, 0},
                                               {"samples", true, 0},
                                               {median, true, 0},
                                               {"deviation", true, 0},
                                               {"difference", true, 0},
                                               {"from", false, 0},
                                               {"by the deviations", false, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++)
        if (json_is_object(model->arms[i].variation))
            add_arm(&telling, &table, model, &model->arms[i]);
    tlc_tell_section(&telling, "variation",
                     "Medians over process samples and their relative standard deviation. A "
                     "difference of medians is a signal only where it is larger than the "
                     "deviation of both arms: the plain rule of studies of raw operations, "
                     "beside the intervals above.",
                     &table);
    return !telling.broken;
}
