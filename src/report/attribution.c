#include "report/attribution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

enum { ARMS_A_TABLE = 4, BAR = 60 };

// A letter of its own for each component, for bars that any terminal and any Markdown can show.
static const char letters[TLC_PART_COUNT + 1] = "DGEPSKTRHNCYQUL*?";

static char *figure_words(struct tlc_interval figure, char *words)
{
    char estimate[TLC_WORDS];
    if (!isfinite(figure.estimate))
        snprintf(words, TLC_WORDS, "-");
    else if (!isfinite(figure.high))
        snprintf(words, TLC_WORDS, "%.1f", figure.estimate);
    else
        snprintf(words, TLC_WORDS, "%.50s \u00b1 %.1f",
                 (snprintf(estimate, sizeof estimate, "%.1f", figure.estimate), estimate),
                 figure.high - figure.estimate);
    return words;
}

static bool has_any(const struct tlc_parts *parts, size_t count, int component)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i].blocks; k++)
            if (parts[i].of[component][k] > 0)
                return true;
    return component == TLC_PART_UNKNOWN;
}

// ---- the parts of up to four arms

static void add_figures(struct tlc_telling *telling, struct tlc_table *table, const char *label,
                        const char *mark, const struct tlc_interval *figures, size_t count)
{
    char words[ARMS_A_TABLE][TLC_WORDS];
    const char *cells[ARMS_A_TABLE + 2] = {label, mark};
    for (size_t i = 0; i < count; i++)
        cells[i + 2] = figure_words(figures[i], words[i]);
    tlc_tell_row(telling, table, cells);
}

static void add_part(struct tlc_telling *telling, struct tlc_table *table,
                     const struct tlc_parts *parts, size_t count, int component)
{
    struct tlc_interval figures[ARMS_A_TABLE];
    const char mark[2] = {letters[component], '\0'};
    for (size_t i = 0; i < count; i++)
        figures[i] = tlc_parts_mean(parts[i].of[component], parts[i].blocks);
    add_figures(telling, table, tlc_part_name((enum tlc_part)component), mark, figures, count);
}

static void write_parts(struct tlc_telling *telling, const struct tlc_parts *parts, size_t count)
{
    struct tlc_table_column columns[ARMS_A_TABLE + 2] = {{"component", false, 0}, {"", false, 0}};
    struct tlc_interval total[ARMS_A_TABLE], allocation[ARMS_A_TABLE];
    struct tlc_table table;
    for (size_t i = 0; i < count; i++) {
        columns[i + 2] = (struct tlc_table_column){parts[i].name, true, (unsigned)i / 2};
        total[i] = tlc_parts_mean(parts[i].cost_us, parts[i].blocks);
        allocation[i] = tlc_parts_mean(parts[i].allocation, parts[i].blocks);
    }
    tlc_table_init(&table, columns, count + 2);
    for (int i = 0; i < TLC_PART_COUNT; i++)
        if (has_any(parts, count, i))
            add_part(telling, &table, parts, count, i);
    add_figures(telling, &table, "all", "", total, count);
    add_figures(telling, &table, "of which allocation", "", allocation, count);
    tlc_tell_table(telling, &table);
}

// ---- stacked bars

static double mean_of(const double *values, size_t count)
{
    return tlc_parts_mean(values, count).estimate;
}

// Ends of components are rounded, not their lengths, so that every bar is as long as its sum.
static void draw(const struct tlc_parts *parts, double largest, char bar[BAR + 1])
{
    double sum = 0;
    size_t used = 0;
    for (int i = 0; i < TLC_PART_COUNT; i++) {
        sum += mean_of(parts->of[i], parts->blocks);
        double end = largest > 0 ? sum / largest * BAR + 0.5 : 0;
        while (used < BAR && (double)used + 1 <= end)
            bar[used++] = letters[i];
    }
    bar[used] = '\0';
}

static void write_bars(struct tlc_telling *telling, const struct tlc_parts *parts, size_t count)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0}, {"us", true, 0}, {"a letter a part, in the table's order", false, 0}};
    struct tlc_table table;
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, mean_of(parts[i].cost_us, parts[i].blocks));
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        char us[TLC_WORDS], bar[BAR + 1];
        tlc_words_figure(mean_of(parts[i].cost_us, parts[i].blocks), us);
        draw(&parts[i], largest, bar);
        tlc_tell_row(telling, &table, (const char *const[]){parts[i].name, us, bar});
    }
    tlc_tell_table(telling, &table);
}

// ---- which part a lever moved

static void add_difference(struct tlc_telling *telling, struct tlc_table *table, const char *label,
                           struct tlc_interval difference, double whole)
{
    char us[TLC_WORDS], share[TLC_WORDS];
    bool shown = difference.low > 0 || difference.high < 0;
    figure_words(difference, us);
    snprintf(share, sizeof share, "%.0f %%", 100 * difference.estimate / whole);
    tlc_tell_row(telling, table,
                 (const char *const[]){label, us, isfinite(whole) && whole != 0 ? share : "-",
                                       !isfinite(difference.high) ? "no interval"
                                       : !shown                   ? "no difference shown"
                                       : difference.low > 0       ? "more"
                                                                  : "less"});
}

static void write_difference(struct tlc_telling *telling, const struct tlc_parts *arm,
                             const struct tlc_parts *other)
{
    static const struct tlc_table_column columns[] = {{"component", false, 0},
                                                      {"difference, us", true, 0},
                                                      {"of the whole", true, 0},
                                                      {"shown", false, 0}};
    const struct tlc_parts both[] = {*arm, *other};
    struct tlc_interval whole = tlc_parts_difference(arm, arm->cost_us, other, other->cost_us);
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < TLC_PART_COUNT; i++)
        if (has_any(both, 2, i))
            add_difference(telling, &table, tlc_part_name((enum tlc_part)i),
                           tlc_parts_difference(arm, arm->of[i], other, other->of[i]),
                           whole.estimate);
    add_difference(telling, &table, "all", whole, whole.estimate);
    tlc_tell_heading(telling, 2, "which part the change moved: %s against %s", arm->name,
                     other->name);
    tlc_tell_table(telling, &table);
}

static const struct tlc_parts *parts_of(const struct tlc_report_model *model,
                                        const struct tlc_parts *parts, size_t count,
                                        const struct tlc_report_arm *arm)
{
    for (size_t i = 0; arm && i < count; i++)
        if (&model->arms[parts[i].arm] == arm)
            return &parts[i];
    return NULL;
}

bool tlc_attribution_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    size_t count;
    struct tlc_parts *parts;
    telling.broken = !tlc_parts_read(model->result, &parts, &count);
    if (count) {
        tlc_tell_heading(&telling, 2, "where the server's CPU time goes");
        tlc_tell_paragraph(&telling,
                           "Server CPU %s per handshake by component: the cost of the slices "
                           "without samples, divided by the shares of the samples in slices of "
                           "their own (%.0f a second of CPU time). Mean over blocks and half of "
                           "its 95 %% interval, each block told at the speed that %s had on "
                           "average: its own cost is in the table of arms.",
                           emitter->microseconds, parts[0].frequency_hz, parts[0].name);
    }
    for (size_t i = 0; i < count; i += ARMS_A_TABLE)
        write_parts(&telling, parts + i, count - i < ARMS_A_TABLE ? count - i : ARMS_A_TABLE);
    if (count) {
        write_bars(&telling, parts, count);
        tlc_budget_write(&telling, model, parts, count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct tlc_parts *other =
            parts_of(model, parts, count, tlc_report_divisor(model, &model->arms[parts[i].arm]));
        if (other && other != &parts[i])
            write_difference(&telling, &parts[i], other);
    }
    tlc_parts_free(parts, count);
    return !telling.broken;
}
