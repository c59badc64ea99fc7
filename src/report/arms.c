#include "report/arms.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/telling.h"
#include "report/words.h"

// Published ratios shown for one arm, and names of checks in a table.
enum { MAX_MATCHES = 3, NAMES_IN_TABLE = 2 };

struct arms {
    const struct tlc_report_model *model;
    const struct tlc_published *published;
    struct tlc_telling telling;
    struct tlc_citations *citations;
};

struct layout {
    struct tlc_table table;
    struct tlc_table_column columns[TLC_TABLE_COLUMNS];
    char cost[32];
    bool divisors;
};

// Joins the names of the checks that refused an arm, at most `most` of them.
static void refused_names(const struct tlc_report_arm *arm, size_t most, char *names,
                          size_t capacity)
{
    size_t used = (size_t)snprintf(names, capacity, "refused");
    for (size_t i = 0; i < arm->refusal_count && used < capacity; i++) {
        if (i == most) {
            snprintf(names + used, capacity - used, " and %zu more", arm->refusal_count - most);
            return;
        }
        used += (size_t)snprintf(names + used, capacity - used, "%s%s", i ? ", " : ": ",
                                 arm->refusals[i].check);
    }
}

static unsigned number_of_source(struct arms *arms, size_t source, int lever)
{
    if (!arms->citations->numbers[source])
        arms->citations->numbers[source] = ++arms->citations->last;
    if (lever >= 0 && lever < TLC_MAX_LEVERS)
        arms->citations->used[source][lever] = true;
    return arms->citations->numbers[source];
}

// The one key in which two arms differ, however they are called and divided; NULL when it is not
// one.
static const char *differing_key(const json_t *one, const json_t *other)
{
    static const char *const apart[] = {"name", "lever", "against", "optional"};
    const char *key, *found = NULL;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)one, key, value)
    {
        bool skip = json_equal(value, json_object_get(other, key));
        for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
            skip = skip || !strcmp(key, apart[i]);
        if (skip)
            continue;
        if (found)
            return NULL;
        found = key;
    }
    return found;
}

// The published ratios of the same comparison, "5.18 [1], 0.75 [2]".
static void published_words(struct arms *arms, const struct tlc_report_arm *arm, const char *key,
                            char *words, size_t capacity)
{
    struct tlc_published_match matches[MAX_MATCHES];
    const struct tlc_report_arm *divisor = tlc_report_divisor(arms->model, arm);
    size_t used = 0, count = 0;
    *words = '\0';
    if (divisor)
        count = tlc_published_find(arms->published,
                                   key ? key : differing_key(arm->settings, divisor->settings),
                                   arm->settings, divisor->settings, matches, MAX_MATCHES);
    for (size_t i = 0; i < count && i < MAX_MATCHES && used < capacity; i++) {
        if (matches[i].source < TLC_MAX_SOURCES)
            used += (size_t)snprintf(words + used, capacity - used, "%s%.2f [%u]", used ? ", " : "",
                                     matches[i].ratio_cost,
                                     number_of_source(arms, matches[i].source, arm->lever));
    }
}

// The label of an arm's row: its name, and for the baseline what it is.
static void arm_label(const struct tlc_report_arm *arm, const char *key, char *label,
                      size_t capacity)
{
    if (!key && !strcmp(arm->workload, "primitive"))
        key = "operation";
    const char *value = arm->baseline ? tlc_report_setting(arm, key) : NULL;
    if (value)
        snprintf(label, capacity, "%s (%s)", value, arm->name);
    else
        snprintf(label, capacity, "%s", arm->name);
}

static void add_arm(struct arms *arms, struct layout *layout, const struct tlc_report_arm *arm,
                    const char *key)
{
    char label[256], rate[TLC_WORDS], cost[TLC_WORDS], range[TLC_WORDS], ratio[TLC_WORDS],
        ratio_range[TLC_WORDS], verdict[TLC_WORDS], published[256];
    const struct tlc_figure none = {NAN, NAN, NAN};
    const struct tlc_report_arm *divisor = tlc_report_divisor(arms->model, arm);
    arm_label(arm, key, label, sizeof label);
    published_words(arms, arm, key, published, sizeof published);
    if (arm->accepted)
        tlc_words_verdict(arm, arms->model->margin, verdict);
    else
        refused_names(arm, NAMES_IN_TABLE, verdict, sizeof verdict);
    tlc_words_rate(arm->accepted ? arm->rate.estimate : NAN, rate);
    tlc_words_figure(arm->accepted ? arm->cost_us.estimate : NAN, cost);
    tlc_words_figure_range(arm->accepted ? arm->cost_us : none, range);
    tlc_words_ratio(arm->accepted ? arm->ratio.estimate : NAN, ratio);
    tlc_words_ratio_range(arm->accepted ? arm->ratio : none, ratio_range);
    if (arm->baseline && arm->accepted) {
        strcpy(ratio, "1");
        strcpy(ratio_range, "");
    }
    const char *cells[TLC_TABLE_COLUMNS] = {label, rate, cost, range, ratio, ratio_range};
    size_t count = 6;
    if (layout->divisors)
        cells[count++] = divisor ? divisor->name : "";
    cells[count++] = verdict;
    cells[count] = published;
    tlc_tell_row(&arms->telling, &layout->table, cells);
}

static void tell_source(struct arms *arms, size_t source)
{
    const struct tlc_published *published = arms->published;
    char label[16], notes[2048] = "";
    size_t used = 0;
    snprintf(label, sizeof label, "[%u]", arms->citations->numbers[source]);
    for (size_t lever = 0; lever < arms->model->lever_count && lever < TLC_MAX_LEVERS; lever++) {
        const char *note =
            arms->citations->used[source][lever]
                ? tlc_published_note(published, source, arms->model->levers[lever].key)
                : "";
        if (*note && used < sizeof notes)
            used += (size_t)snprintf(notes + used, sizeof notes - used, " %s", note);
    }
    tlc_tell_item(&arms->telling, label, "%s, on %s (%s): %s.%s",
                  tlc_published_text(published, source, "system"),
                  tlc_published_text(published, source, "host"),
                  tlc_published_text(published, source, "title"),
                  tlc_published_text(published, source, "measures"), notes);
}

// The table of some arms: a column tells divisors only where one of them is not the baseline.
static void layout_begin(struct arms *arms, struct layout *layout)
{
    const struct tlc_report_model *model = arms->model;
    snprintf(layout->cost, sizeof layout->cost, "cost %s", arms->telling.emitter->microseconds);
    const struct tlc_table_column first[] = {{"arm", false, 0},       {"rate/s", true, 0},
                                             {layout->cost, true, 0}, {"cost 95 %", true, 0},
                                             {"ratio", true, 1},      {"ratio 95 %", true, 1}};
    size_t count = sizeof first / sizeof *first;
    layout->divisors = false;
    for (size_t i = 0; i < model->arm_count; i++)
        layout->divisors = layout->divisors || *model->arms[i].against;
    memcpy(layout->columns, first, sizeof first);
    if (layout->divisors)
        layout->columns[count++] = (struct tlc_table_column){"divided by", false, 1};
    layout->columns[count++] = (struct tlc_table_column){"verdict", false, 1};
    layout->columns[count++] = (struct tlc_table_column){"published", false, 1};
    tlc_table_init(&layout->table, layout->columns, count);
}

// Nothing published: no column for it.
static void layout_tell(struct arms *arms, struct layout *layout)
{
    struct tlc_table *table = &layout->table;
    bool any = false;
    for (size_t row = 0; row < table->row_count; row++)
        any = any || *table->rows[row][table->column_count - 1];
    table->column_count -= !any;
    arms->telling.emitter->table(arms->telling.emitter->user, table);
    table->column_count += !any;
    tlc_table_free(table);
}

static void write_bars(struct arms *arms, int lever, const char *key)
{
    const struct tlc_report_model *model = arms->model;
    struct tlc_bar *bars = calloc(model->arm_count + 1, sizeof *bars);
    char(*labels)[2][256] = calloc(model->arm_count + 1, sizeof *labels);
    size_t count = 0;
    arms->telling.broken = arms->telling.broken || !bars || !labels;
    for (size_t i = 0; bars && labels && i < model->arm_count; i++) {
        const struct tlc_report_arm *arm = &model->arms[i];
        if (arm->lever != lever && arm != model->baseline)
            continue;
        arm_label(arm, key, labels[count][0], sizeof labels[count][0]);
        refused_names(arm, SIZE_MAX, labels[count][1], sizeof labels[count][1]);
        bars[count] = (struct tlc_bar){.label = labels[count][0],
                                       .figure = arm->cost_us,
                                       .refused = arm->accepted ? NULL : labels[count][1]};
        count++;
    }
    if (count)
        arms->telling.emitter->bars(arms->telling.emitter->user, bars, count);
    free(bars);
    free(labels);
}

static void tell_lever(struct arms *arms, const struct tlc_report_lever *lever, int index)
{
    const struct tlc_report_model *model = arms->model;
    struct layout layout;
    layout_begin(arms, &layout);
    if (model->baseline)
        add_arm(arms, &layout, model->baseline, lever->key);
    for (size_t i = 0; i < model->arm_count; i++)
        if (model->arms[i].lever == index && &model->arms[i] != model->baseline)
            add_arm(arms, &layout, &model->arms[i], lever->key);
    layout_tell(arms, &layout);
    if (arms->telling.emitter->bars)
        write_bars(arms, index, lever->key);
}

static void tell_control(struct arms *arms)
{
    const struct tlc_report_model *model = arms->model;
    struct layout layout;
    layout_begin(arms, &layout);
    for (size_t i = 0; i < model->arm_count; i++)
        if (model->arms[i].control)
            add_arm(arms, &layout, &model->arms[i], NULL);
    if (layout.table.row_count) {
        tlc_tell_heading(&arms->telling, 2, "control");
        tlc_tell_paragraph(&arms->telling,
                           "Equal to the baseline but for what the name says, on %s of their own: "
                           "these must not differ from it.",
                           tlc_words_of_report(model)->own);
    }
    if (layout.table.row_count)
        layout_tell(arms, &layout);
    else
        tlc_table_free(&layout.table);
}

bool tlc_arms_write(const struct tlc_report_model *model, const struct tlc_published *published,
                    const struct tlc_emitter *emitter, struct tlc_citations *citations)
{
    struct arms arms = {model, published, {.emitter = emitter}, citations};
    for (size_t i = 0; i < model->lever_count; i++) {
        const struct tlc_report_lever *lever = &model->levers[i];
        tlc_tell_heading(&arms.telling, 2, "%s", lever->name);
        if (lever->pulls)
            tlc_tell_item(&arms.telling, "what it takes", "%s", lever->pulls);
        tell_lever(&arms, lever, (int)i);
    }
    tell_control(&arms);
    return !arms.telling.broken;
}

bool tlc_citations_write(const struct tlc_report_model *model,
                         const struct tlc_published *published, const struct tlc_emitter *emitter,
                         struct tlc_citations *citations)
{
    struct arms arms = {model, published, {.emitter = emitter}, citations};
    if (!citations->last)
        return true;
    tlc_tell_heading(&arms.telling, 2, "published results");
    tlc_tell_paragraph(&arms.telling,
                       "Ratios of cost of the same comparison, measured by others on "
                       "other systems. Absolute figures belong to their machine "
                       "and are not shown.");
    for (unsigned number = 1; number <= citations->last; number++)
        for (size_t source = 0; source < TLC_MAX_SOURCES; source++)
            if (citations->numbers[source] == number)
                tell_source(&arms, source);
    return !arms.telling.broken;
}
