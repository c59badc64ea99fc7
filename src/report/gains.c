#include "report/gains.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/telling.h"
#include "report/words.h"

enum { MAX_MATCHES = 4, MAX_SOURCES = 32, KEY_BYTES = 64 };

struct gains {
    const struct tlc_report_model *model;
    const struct tlc_published *published;
    struct tlc_telling telling;
    bool used[MAX_SOURCES];
};

static const struct tlc_report_arm *arm_named(const struct tlc_report_model *model,
                                              const char *name)
{
    for (size_t i = 0; *name && i < model->arm_count; i++)
        if (!strcmp(model->arms[i].name, name))
            return &model->arms[i];
    return model->baseline;
}

// The key in which the arm differs from the one it is divided by. False when it is divided by a
// name, or has the value itself.
static bool key_of(const struct tlc_report_arm *arm, char key[KEY_BYTES])
{
    const char *against = tlc_report_setting(arm, "against");
    const char *equals = against ? strchr(against, '=') : NULL;
    if (!equals || equals - against >= KEY_BYTES || arm->baseline || arm->control)
        return false;
    snprintf(key, KEY_BYTES, "%.*s", (int)(equals - against), against);
    const char *own = tlc_report_setting(arm, key);
    return own && strcmp(own, equals + 1) != 0;
}

bool tlc_gains_any(const struct tlc_report_model *model)
{
    char key[KEY_BYTES];
    for (size_t i = 0; i < model->arm_count; i++)
        if (key_of(&model->arms[i], key))
            return true;
    return false;
}

// "+53.8 %": how many more handshakes the same CPU time gives.
static void gain_words(double ratio, char *words, size_t capacity)
{
    if (isfinite(ratio) && ratio > 0)
        snprintf(words, capacity, "%+.1f %%", 100 * (1 / ratio - 1));
    else
        snprintf(words, capacity, "-");
}

static void gain_range_words(struct tlc_figure ratio, char *words, size_t capacity)
{
    char low[32], high[32];
    if (!isfinite(ratio.low) || !isfinite(ratio.high)) {
        snprintf(words, capacity, "-");
        return;
    }
    gain_words(ratio.high, low, sizeof low);
    gain_words(ratio.low, high, sizeof high);
    snprintf(words, capacity, "%s to %s", low, high);
}

static void published_words(struct gains *gains, const char *key, const struct tlc_report_arm *arm,
                            const struct tlc_report_arm *divisor, char *words, size_t capacity)
{
    struct tlc_published_match matches[MAX_MATCHES];
    size_t used = 0, count = tlc_published_find(gains->published, key, arm->settings,
                                                divisor->settings, matches, MAX_MATCHES);
    *words = '\0';
    for (size_t i = 0; i < count && i < MAX_MATCHES && used < capacity; i++) {
        char gain[32];
        gain_words(matches[i].ratio_cost, gain, sizeof gain);
        used +=
            (size_t)snprintf(words + used, capacity - used, "%s%s on %s", used ? ", " : "", gain,
                             tlc_published_text(gains->published, matches[i].source, "host"));
        if (matches[i].source < MAX_SOURCES)
            gains->used[matches[i].source] = true;
    }
}

static void add_gain(struct gains *gains, struct tlc_table *table, const char *key,
                     const struct tlc_report_arm *arm)
{
    const struct tlc_report_arm *divisor = arm_named(gains->model, arm->against);
    char gain[32], range[80], saved[32] = "-", verdict[TLC_WORDS] = "refused", published[256] = "";
    if (!divisor)
        return;
    struct tlc_figure none = {NAN, NAN, NAN}, ratio = arm->accepted ? arm->ratio : none;
    gain_words(ratio.estimate, gain, sizeof gain);
    gain_range_words(ratio, range, sizeof range);
    if (arm->accepted && divisor->accepted)
        snprintf(saved, sizeof saved, "%+.3f",
                 (divisor->cost_us.estimate - arm->cost_us.estimate) / 1000);
    if (arm->accepted)
        tlc_words_verdict(arm, gains->model->margin, verdict);
    published_words(gains, key, arm, divisor, published, sizeof published);
    tlc_tell_row(
        &gains->telling, table,
        (const char *const[]){arm->name, divisor->name, gain, range, saved, verdict, published});
}

static void write_sources(struct gains *gains)
{
    const struct tlc_published *published = gains->published;
    for (size_t i = 0; i < MAX_SOURCES; i++)
        if (gains->used[i])
            tlc_tell_item(&gains->telling, tlc_published_text(published, i, "host"), "%s, %s: %s.",
                          tlc_published_text(published, i, "system"),
                          tlc_published_text(published, i, "title"),
                          tlc_published_text(published, i, "measures"));
}

bool tlc_gains_write(const struct tlc_report_model *model, const struct tlc_published *published,
                     const struct tlc_emitter *emitter)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},        {"against", false, 0}, {"gained", true, 0},
        {"gained 95 %", true, 0}, {"ms saved", true, 0}, {"verdict", false, 1},
        {"published", false, 1}};
    struct gains gains = {.model = model, .published = published, .telling = {.emitter = emitter}};
    struct tlc_table table;
    char key[KEY_BYTES];
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++)
        if (key_of(&model->arms[i], key))
            add_gain(&gains, &table, key, &model->arms[i]);
    if (table.row_count) {
        tlc_tell_heading(&gains.telling, 2, "pairs");
        tlc_tell_paragraph(&gains.telling,
                           "gained: handshakes more for the same CPU time than the arm divided by "
                           "gives; ms saved: CPU time less for one handshake. Of the published "
                           "figures only the gain is set beside ours.");
        emitter->table(emitter->user, &table);
        write_sources(&gains);
    }
    tlc_table_free(&table);
    return !gains.telling.broken;
}
