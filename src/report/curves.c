#include "report/curves.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/telling.h"
#include "report/words.h"

enum { MOST_BUCKETS = 60, GLYPH_BYTES = 4, CURVE_BYTES = (MOST_BUCKETS + 2) * GLYPH_BYTES };
enum { ARMS_IN_TABLE = TLC_TABLE_COLUMNS - 1 };

static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};

static const json_t *curve_of(const struct tlc_report_arm *arm)
{
    return json_object_get(arm->curve, "resumed") ? arm->curve : NULL;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double member(const json_t *object, const char *name)
{
    return number_of(json_object_get(object, name));
}

// The place of the event; SIZE_MAX: there is none.
static size_t event_of(const json_t *curve)
{
    const json_t *event = json_object_get(curve, "event_bucket");
    return json_is_integer(event) ? (size_t)json_integer_value(event) : SIZE_MAX;
}

static double largest_of(const json_t *values)
{
    double largest = 0;
    for (size_t i = 0; i < json_array_size(values); i++)
        largest = fmax(largest, number_of(json_array_get(values, i)));
    return largest;
}

// Draws values from 0 to `top`, a bucket a character, a bar where the event is.
static void draw(const json_t *curve, const char *what, double top, bool utf8, char *into)
{
    const json_t *values = json_object_get(curve, what);
    size_t event = event_of(curve), count = json_array_size(values);
    const char *const *glyphs = utf8 ? blocks : ascii;
    *into = '\0';
    for (size_t i = 0; i < count && i < MOST_BUCKETS; i++) {
        double level = number_of(json_array_get(values, i)) / top * 8;
        if (i == event)
            into = stpcpy(into, "|");
        // An eighth is reached when it is whole, so that only a whole share fills a character.
        int step = isfinite(level) ? (int)floor(level + 1e-9) - 1 : 0;
        into = stpcpy(into, glyphs[step < 0 ? 0 : step > 7 ? 7 : step]);
    }
}

static void share_words(double share, char *words)
{
    if (isfinite(share))
        snprintf(words, TLC_WORDS, "%.1f %%", 100 * share);
    else
        snprintf(words, TLC_WORDS, "-");
}

static void time_words(const json_t *curve, char *words)
{
    double ms = member(curve, "recovered_ms");
    if (event_of(curve) == SIZE_MAX)
        snprintf(words, TLC_WORDS, "-");
    else if (!isfinite(ms))
        snprintf(words, TLC_WORDS, "not in the slice");
    else
        snprintf(words, TLC_WORDS, ms > 0 ? "%.0f ms" : "never gone", ms);
}

static void extra_words(const json_t *curve, char *words, char *range)
{
    const json_t *extra = json_object_get(curve, "extra_cpu_s");
    double estimate = member(extra, "estimate"), low = member(extra, "low"),
           high = member(extra, "high");
    snprintf(words, TLC_WORDS, isfinite(estimate) ? "%.3f" : "-", estimate);
    snprintf(range, TLC_WORDS, isfinite(low) && isfinite(high) ? "%.3f to %.3f" : "-", low, high);
}

static void tell_shares(struct tlc_telling *telling, const struct tlc_report_model *model,
                        bool utf8)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},        {"resumed", false, 0},   {"before", true, 0},
        {"least", true, 0},       {"back after", true, 1}, {"extra full", true, 1},
        {"extra CPU s", true, 1}, {"95 %", true, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *curve = curve_of(&model->arms[i]);
        char line[CURVE_BYTES], before[TLC_WORDS], least[TLC_WORDS], back[TLC_WORDS],
            full[TLC_WORDS], extra[TLC_WORDS], range[TLC_WORDS];
        if (!curve)
            continue;
        draw(curve, "resumed", 1, utf8, line);
        share_words(member(curve, "resumed_before"), before);
        share_words(member(curve, "resumed_least"), least);
        time_words(curve, back);
        double more = member(curve, "extra_full");
        snprintf(full, sizeof full, isfinite(more) ? "%.0f" : "-", more);
        extra_words(curve, extra, range);
        tlc_tell_row(telling, &table,
                     (const char *const[]){model->arms[i].name, line, before, least, back, full,
                                           extra, range});
    }
    tlc_tell_table(telling, &table);
}

static void tell_costs(struct tlc_telling *telling, const struct tlc_report_model *model, bool utf8)
{
    char title[64];
    snprintf(title, sizeof title, "largest %s", telling->emitter->microseconds);
    const struct tlc_table_column columns[] = {
        {"arm", false, 0}, {"cost of a handshake", false, 0}, {title, true, 0}};
    struct tlc_table table;
    double top = 0;
    for (size_t i = 0; i < model->arm_count; i++)
        top = fmax(top, largest_of(json_object_get(model->arms[i].curve, "cost_us")));
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; top > 0 && i < model->arm_count; i++) {
        const json_t *curve = curve_of(&model->arms[i]);
        char line[CURVE_BYTES], largest[TLC_WORDS];
        if (!curve)
            continue;
        draw(curve, "cost_us", top, utf8, line);
        tlc_words_figure(largest_of(json_object_get(curve, "cost_us")), largest);
        tlc_tell_row(telling, &table, (const char *const[]){model->arms[i].name, line, largest});
    }
    tlc_tell_table(telling, &table);
}

// "100.0 %, 212.4" of one bucket.
static void bucket_words(const json_t *curve, size_t index, char *words)
{
    char share[TLC_WORDS], cost[TLC_WORDS];
    share_words(number_of(json_array_get(json_object_get(curve, "resumed"), index)), share);
    tlc_words_figure(number_of(json_array_get(json_object_get(curve, "cost_us"), index)), cost);
    snprintf(words, TLC_WORDS, "%.60s, %.60s", share, cost);
}

// Figures for documents that cannot show a line of characters well: up to seven arms side by side.
static void tell_figures(struct tlc_telling *telling, const struct tlc_report_model *model,
                         size_t *from)
{
    struct tlc_table_column columns[TLC_TABLE_COLUMNS] = {{"ms", true, 0}};
    const json_t *curves[ARMS_IN_TABLE];
    size_t count = 0, buckets = 0;
    for (; *from < model->arm_count && count < ARMS_IN_TABLE; ++*from) {
        const json_t *curve = curve_of(&model->arms[*from]);
        size_t size = json_array_size(json_object_get(curve, "resumed"));
        if (!curve)
            continue;
        columns[count + 1] = (struct tlc_table_column){model->arms[*from].name, true, 0};
        curves[count++] = curve;
        buckets = size > buckets ? size : buckets;
    }
    struct tlc_table table;
    tlc_table_init(&table, columns, count + 1);
    for (size_t i = 0; count && i < buckets; i++) {
        char words[TLC_TABLE_COLUMNS][TLC_WORDS];
        const char *cells[TLC_TABLE_COLUMNS];
        snprintf(words[0], TLC_WORDS, "%.0f", (double)i * member(curves[0], "bucket_ms"));
        cells[0] = words[0];
        for (size_t k = 0; k < count; k++) {
            bucket_words(curves[k], i, words[k + 1]);
            cells[k + 1] = words[k + 1];
        }
        tlc_tell_row(telling, &table, cells);
    }
    tlc_tell_table(telling, &table);
}

bool tlc_curves_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    bool utf8 = strcmp(emitter->microseconds, "us") != 0, any = false;
    for (size_t i = 0; i < model->arm_count; i++)
        any = any || curve_of(&model->arms[i]);
    if (!any)
        return true;
    tlc_tell_heading(&telling, 2, "over time");
    tlc_tell_paragraph(&telling,
                       "Each character is 100 ms of the slices, over all accepted samples; '|' is "
                       "the event. extra full, extra CPU: full handshakes and server CPU time "
                       "behind the event in one slice, beyond the share and the price before it "
                       "(derived).");
    tell_shares(&telling, model, utf8);
    tell_costs(&telling, model, utf8);
    for (size_t from = 0; !emitter->bars && from < model->arm_count;)
        tell_figures(&telling, model, &from);
    return !telling.broken;
}
