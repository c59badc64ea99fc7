#include "report/pair.h"

#include <math.h>
#include <string.h>

#include "report/exporters.h"
#include "report/sides.h"
#include "report/telling.h"
#include "report/words.h"

static void tell_refusals(struct tlc_telling *telling, const struct tlc_report_arm *arm)
{
    for (size_t i = 0; i < arm->refusal_count; i++)
        tlc_tell_item(telling, arm->name, "%s, %zu of %zu samples: %s", arm->refusals[i].check,
                      arm->refusals[i].count, arm->samples,
                      arm->refusals[i].reason ? arm->refusals[i].reason : "see the result");
}

static void tell_ratio(struct tlc_telling *telling, const struct tlc_report_model *model,
                       const struct tlc_report_arm *arm)
{
    char ratio[TLC_WORDS], range[TLC_WORDS], verdict[TLC_WORDS];
    if (arm->baseline || !arm->accepted || !isfinite(arm->ratio.estimate))
        return;
    tlc_words_ratio(arm->ratio.estimate, ratio);
    tlc_words_ratio_range(arm->ratio, range);
    tlc_words_verdict(arm, model->margin, verdict);
    tlc_tell_item(telling, arm->name, "%s (95 %%: %s), %s", ratio, range, verdict);
}

static enum tlc_status tell_pair(const void *what, const struct tlc_emitter *emitter,
                                 struct tlc_error *error)
{
    const struct tlc_report_model *model = what;
    struct tlc_telling telling = {.emitter = emitter};
    if (model->refused_arms)
        tlc_tell_alert(&telling, "REFUSED: %zu of %zu arms have no figure.", model->refused_arms,
                       model->arm_count);
    for (size_t i = 0; i < model->arm_count; i++)
        tell_refusals(&telling, &model->arms[i]);
    telling.broken = !tlc_sides_write(model, emitter) || telling.broken;
    if (model->arm_count > 1 && model->baseline) {
        const char *side = tlc_report_setting(model->baseline, "side");
        tlc_tell_heading(&telling, 2, "ratios of cost to '%s' (side: %s)", model->baseline->name,
                         side ? side : "server");
        for (size_t i = 0; i < model->arm_count; i++)
            tell_ratio(&telling, model, &model->arms[i]);
    }
    if (model->few)
        tlc_tell_paragraph(&telling, "'-' stands for an interval that cannot be given: 95 %% needs "
                                     "at least 6 blocks.");
    return tlc_told(&telling, error);
}

enum tlc_status tlc_pair_report_write(const json_t *result, FILE *to, struct tlc_error *error)
{
    struct tlc_report_model *model;
    enum tlc_status status = tlc_report_model_new(result, &model, error);
    if (status != TLC_OK)
        return status;
    status = tlc_emit("terminal", tell_pair, model, to, error);
    tlc_report_model_free(model);
    return status;
}
