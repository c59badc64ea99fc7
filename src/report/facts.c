#include "report/facts.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"
#include "stats/stats.h"

// Arms that were tested together, and the most instances that any of them has.
static void count_tests(const struct tlc_report_model *model, size_t *tests, size_t *instances)
{
    *tests = *instances = 0;
    for (size_t i = 0; i < model->arm_count; i++) {
        const struct tlc_report_arm *arm = &model->arms[i];
        *tests += isfinite(arm->holm_p) ? 1 : 0;
        *instances = arm->instances > *instances ? arm->instances : *instances;
    }
}

static void tell_claims(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    size_t claims = 0, held = 0, tests, instances;
    for (size_t i = 0; i < model->arm_count; i++) {
        claims += json_is_boolean(model->arms[i].claim_holm);
        held += json_is_true(model->arms[i].claim_holm);
    }
    count_tests(model, &tests, &instances);
    size_t needed = tlc_holm_units(tests, 0.05);
    if (!claims)
        return;
    if (instances < needed) {
        tlc_tell_item(telling, "claims",
                      "each holds for its arm alone, at 5 %%; for claims over all %zu arms "
                      "together (Holm's adjustment) %zu blocks are too few, however large a "
                      "difference: at least %zu are needed",
                      tests, instances, needed);
        return;
    }
    tlc_tell_item(telling, "claims",
                  "%zu of %zu hold over all arms together at 5 %% (Holm's adjustment)%s", held,
                  claims, held < claims ? "; not these:" : "");
    for (size_t i = 0; i < model->arm_count; i++)
        if (json_is_false(model->arms[i].claim_holm))
            tlc_tell_item(telling, model->arms[i].name,
                          "adjusted p %.3f: taken alone its interval excludes 1; more blocks would "
                          "tell",
                          model->arms[i].holm_p);
}

static void tell_outliers(struct tlc_telling *telling, const struct tlc_report_arm *arm)
{
    for (size_t i = 0; i < json_array_size(arm->outliers); i++) {
        const json_t *outlier = json_array_get(arm->outliers, i);
        const char *of = json_string_value(json_object_get(outlier, "of"));
        bool ratio = of && !strcmp(of, "ratio");
        char value[TLC_WORDS];
        (ratio ? tlc_words_ratio : tlc_words_figure)(tlc_json_number(outlier, "value"), value);
        tlc_tell_item(telling, "outlier, kept", "%s in block %lld: %s %s, score %.1f", arm->name,
                      (long long)json_integer_value(json_object_get(outlier, "block")),
                      ratio ? "ratio" : "cost", value, tlc_json_number(outlier, "score"));
    }
}

// A change that the checks let pass, but that is larger than what is called the same.
static bool is_settling(const struct tlc_report_model *model, const struct tlc_report_arm *arm)
{
    const struct tlc_figure *settling = &arm->settling;
    return arm->accepted && model->margin > 0 &&
           (settling->high < 1 - model->margin || settling->low > 1 + model->margin);
}

static void tell_settling(struct tlc_telling *telling, const struct tlc_report_arm *arm)
{
    char estimate[TLC_WORDS], range[TLC_WORDS];
    tlc_words_ratio(arm->settling.estimate, estimate);
    tlc_words_ratio_range(arm->settling, range);
    tlc_tell_item(telling, "may not be warm",
                  "%s: cost late in a block over the whole: %s (95 %%: %s); a longer warm_up "
                  "would tell",
                  arm->name, estimate, range);
}

static void tell_order(struct tlc_telling *telling, const json_t *effect)
{
    struct tlc_figure figure = {tlc_json_number(effect, "estimate"), tlc_json_number(effect, "low"),
                                tlc_json_number(effect, "high")};
    char estimate[TLC_WORDS], range[TLC_WORDS];
    if (!isfinite(figure.estimate))
        return;
    tlc_words_ratio(figure.estimate, estimate);
    tlc_words_ratio_range(figure, range);
    const char *meaning = "";
    if (figure.low > 1 || figure.high < 1)
        meaning = ": the place in a round matters; the turning order gives each arm each place";
    else if (isfinite(figure.low))
        meaning = ": no effect of the place in a round is shown";
    tlc_tell_item(telling, "order effect", "cost late in a round over cost early: %s (95 %%: %s)%s",
                  estimate, range, meaning);
}

static bool any_fact(const struct tlc_report_model *model, const json_t *effect)
{
    bool any = json_is_object(effect);
    for (size_t i = 0; i < model->arm_count; i++)
        any = any || json_is_boolean(model->arms[i].claim_holm) ||
              json_array_size(model->arms[i].outliers) || is_settling(model, &model->arms[i]);
    return any;
}

bool tlc_facts_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    const json_t *effect =
        json_object_get(json_object_get(model->result, "campaign"), "order_effect");
    if (!any_fact(model, effect))
        return true;
    tlc_tell_heading(&telling, 2, "over all arms");
    tell_claims(&telling, model);
    for (size_t i = 0; i < model->arm_count; i++)
        tell_outliers(&telling, &model->arms[i]);
    for (size_t i = 0; i < model->arm_count; i++)
        if (is_settling(model, &model->arms[i]))
            tell_settling(&telling, &model->arms[i]);
    tell_order(&telling, effect);
    return !telling.broken;
}
