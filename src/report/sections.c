#include "report/sections.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/accounting.h"
#include "report/facts.h"
#include "report/words.h"

// Published ratios shown for one arm, sources that can be told, levers whose notes are remembered.
enum { MAX_MATCHES = 3, MAX_SOURCES = 32, MAX_LEVERS = 32, NAMES_IN_TABLE = 2 };

struct writer {
    const struct tlc_report_model *model;
    const struct tlc_published *published;
    const struct tlc_emitter *emitter;
    // The number of each source in brackets, 0: not used yet; and the levers it was used for.
    unsigned numbers[MAX_SOURCES], last_number;
    bool used[MAX_SOURCES][MAX_LEVERS];
    bool whole; // false: memory ran out
};

// Formats a text of any length; "" when memory runs out, which the writer remembers. Caller frees.
static char *format(struct writer *writer, const char *text, ...) TLC_PRINTF(2, 3);
static char *format(struct writer *writer, const char *text, ...)
{
    char *made = NULL;
    va_list arguments;
    va_start(arguments, text);
    if (vasprintf(&made, text, arguments) < 0)
        made = NULL;
    va_end(arguments);
    writer->whole = writer->whole && made;
    return made;
}

static void paragraph(struct writer *writer, char *text)
{
    if (text)
        writer->emitter->paragraph(writer->emitter->user, text);
    free(text);
}

static void alert(struct writer *writer, char *text)
{
    if (text)
        writer->emitter->alert(writer->emitter->user, text);
    free(text);
}

static void heading(struct writer *writer, unsigned level, const char *text)
{
    writer->emitter->heading(writer->emitter->user, level, text);
}

static void item(struct writer *writer, const char *label, char *text)
{
    if (text)
        writer->emitter->item(writer->emitter->user, label, text);
    free(text);
}

static void add_row(struct writer *writer, struct tlc_table *table, const char *const *cells)
{
    writer->whole = tlc_table_add(table, cells) && writer->whole;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text && *text ? text : "not told";
}

static void write_header(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    char took[TLC_WORDS];
    char *title = format(writer, "%s: %s", model->name, model->question);
    if (title)
        heading(writer, 1, title);
    free(title);
    item(writer, "machine",
         format(writer, "%s, %lld CPUs; servers on %s, generator on %s",
                text_of(model->environment, "cpu_model"),
                (long long)json_integer_value(json_object_get(model->environment, "cpus")),
                text_of(model->setup, "server_cpus"), text_of(model->setup, "generator_cpus")));
    size_t index;
    json_t *stack;
    json_array_foreach(model->stacks, index, stack)
    {
        item(writer, "stack",
             format(writer, "%s: %s", text_of(stack, "id"), text_of(stack, "version")));
    }
    tlc_words_duration(model->started, model->finished, took);
    item(writer, "run", format(writer, "%s%s%s", model->started, *took ? ", took " : "", took));
    if (*tlc_words_calibration(model, took))
        item(writer, "calibration", format(writer, "%s", took));
}

static void write_refused_arm(struct writer *writer, const struct tlc_report_arm *arm)
{
    for (size_t i = 0; i < arm->refusal_count; i++) {
        const struct tlc_refusal *refusal = &arm->refusals[i];
        const char *reason = refusal->reason ? refusal->reason : "";
        size_t named = strlen(refusal->check);
        // The reason may begin with the check's name, which is said already.
        if (!strncmp(reason, refusal->check, named) && !strncmp(reason + named, ": ", 2))
            reason += named + 2;
        item(writer, arm->name,
             format(writer, "%s, %zu of %zu samples%s%s", refusal->check, refusal->count,
                    arm->samples, *reason ? ": " : "", reason));
    }
    if (!arm->refusal_count)
        item(writer, arm->name,
             format(writer, arm->samples ? "refused" : "no sample was finished"));
}

// The remedy of each check that refused anything, once.
static void write_remedies(struct writer *writer)
{
    const char *told[64];
    size_t count = 0;
    for (size_t i = 0; i < writer->model->arm_count; i++)
        for (size_t k = 0; k < writer->model->arms[i].refusal_count; k++) {
            const struct tlc_refusal *refusal = &writer->model->arms[i].refusals[k];
            size_t at = 0;
            while (at < count && strcmp(told[at], refusal->check))
                at++;
            if (at < count || !refusal->remedy || count == sizeof told / sizeof *told)
                continue;
            told[count++] = refusal->check;
            item(writer, "what to do", format(writer, "%s: %s", refusal->check, refusal->remedy));
        }
}

static void write_status(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    size_t index;
    json_t *reason;
    if (model->interrupted)
        alert(writer, format(writer, "INTERRUPTED: the figures are over what was finished."));
    if (model->refused_arms)
        alert(writer, format(writer, "REFUSED: %zu of %zu arms have no figure.",
                             model->refused_arms, model->arm_count));
    else if (!model->accepted)
        alert(writer, format(writer, "REFUSED: the campaign as a whole."));
    json_array_foreach(model->reasons, index, reason)
    {
        if (json_is_string(reason))
            item(writer, "why", format(writer, "%s", json_string_value(reason)));
    }
    for (size_t i = 0; i < model->arm_count; i++)
        if (!model->arms[i].accepted || model->arms[i].refusal_count)
            write_refused_arm(writer, &model->arms[i]);
    write_remedies(writer);
    if (model->refused_samples)
        paragraph(writer,
                  format(writer, "%zu of %zu samples were refused and have no part in any figure.",
                         model->refused_samples, model->samples));
    else if (model->refused_arms)
        paragraph(writer, format(writer, "The %zu samples passed every check of a single sample.",
                                 model->samples));
    else
        paragraph(writer, format(writer, "All %zu samples passed every check.", model->samples));
}

static void write_legend(struct writer *writer)
{
    size_t instances = 0;
    for (size_t i = 0; i < writer->model->arm_count; i++)
        if (writer->model->arms[i].instances > instances)
            instances = writer->model->arms[i].instances;
    paragraph(writer,
              format(writer,
                     "cost: server CPU %s per completed handshake; ratio: cost of the arm / "
                     "cost of the baseline; intervals: 95 %%, over up to %zu server "
                     "instances of an arm.",
                     writer->emitter->microseconds, instances));
    if (writer->model->few)
        paragraph(writer,
                  format(writer, "'-' stands for an interval that cannot be given: 95 %% needs at "
                                 "least 6 instances. Without it there is no claim."));
}

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

static unsigned number_of_source(struct writer *writer, size_t source, int lever)
{
    if (!writer->numbers[source])
        writer->numbers[source] = ++writer->last_number;
    if (lever >= 0 && lever < MAX_LEVERS)
        writer->used[source][lever] = true;
    return writer->numbers[source];
}

// The published ratios of the same comparison, "5.18 [1], 0.75 [2]".
static void published_words(struct writer *writer, const struct tlc_report_arm *arm,
                            const char *key, char *words, size_t capacity)
{
    struct tlc_published_match matches[MAX_MATCHES];
    const struct tlc_report_arm *baseline = writer->model->baseline;
    size_t count = arm->baseline || !baseline
                       ? 0
                       : tlc_published_find(writer->published, key, arm->settings,
                                            baseline->settings, matches, MAX_MATCHES);
    size_t used = 0;
    *words = '\0';
    for (size_t i = 0; i < count && i < MAX_MATCHES && used < capacity; i++) {
        if (matches[i].source < MAX_SOURCES)
            used += (size_t)snprintf(words + used, capacity - used, "%s%.2f [%u]", used ? ", " : "",
                                     matches[i].ratio_cost,
                                     number_of_source(writer, matches[i].source, arm->lever));
    }
}

// The label of an arm's row: its name, and for the baseline what it is.
static void arm_label(const struct tlc_report_arm *arm, const char *key, char *label,
                      size_t capacity)
{
    const char *value = arm->baseline ? tlc_report_setting(arm, key) : NULL;
    if (value)
        snprintf(label, capacity, "%s (%s)", value, arm->name);
    else
        snprintf(label, capacity, "%s", arm->name);
}

static void add_arm(struct writer *writer, struct tlc_table *table,
                    const struct tlc_report_arm *arm, const char *key)
{
    char label[256], rate[TLC_WORDS], cost[TLC_WORDS], range[TLC_WORDS], ratio[TLC_WORDS],
        ratio_range[TLC_WORDS], verdict[TLC_WORDS], published[256];
    arm_label(arm, key, label, sizeof label);
    published_words(writer, arm, key, published, sizeof published);
    if (arm->accepted)
        tlc_words_verdict(arm, writer->model->margin, verdict);
    else
        refused_names(arm, NAMES_IN_TABLE, verdict, sizeof verdict);
    tlc_words_rate(arm->accepted ? arm->rate.estimate : NAN, rate);
    tlc_words_figure(arm->accepted ? arm->cost_us.estimate : NAN, cost);
    struct tlc_figure none = {NAN, NAN, NAN};
    tlc_words_figure_range(arm->accepted ? arm->cost_us : none, range);
    tlc_words_ratio(arm->accepted ? arm->ratio.estimate : NAN, ratio);
    tlc_words_ratio_range(arm->accepted ? arm->ratio : none, ratio_range);
    if (arm->baseline && arm->accepted) {
        strcpy(ratio, "1");
        strcpy(ratio_range, "");
    }
    add_row(
        writer, table,
        (const char *const[]){label, rate, cost, range, ratio, ratio_range, verdict, published});
}

static void write_source(struct writer *writer, size_t source)
{
    const struct tlc_published *published = writer->published;
    char label[16];
    snprintf(label, sizeof label, "[%u]", writer->numbers[source]);
    char *text =
        format(writer, "%s, on %s (%s): %s.", tlc_published_text(published, source, "system"),
               tlc_published_text(published, source, "host"),
               tlc_published_text(published, source, "title"),
               tlc_published_text(published, source, "measures"));
    for (size_t lever = 0; text && lever < writer->model->lever_count && lever < MAX_LEVERS;
         lever++) {
        const char *note =
            writer->used[source][lever]
                ? tlc_published_note(published, source, writer->model->levers[lever].key)
                : "";
        char *longer = *note ? format(writer, "%s %s", text, note) : NULL;
        if (longer) {
            free(text);
            text = longer;
        }
    }
    item(writer, label, text);
}

static void write_published(struct writer *writer)
{
    if (!writer->last_number)
        return;
    heading(writer, 2, "published results");
    paragraph(writer, format(writer, "Ratios of cost of the same comparison, measured by others on "
                                     "other systems. Absolute figures belong to their machine "
                                     "and are not shown."));
    for (unsigned number = 1; number <= writer->last_number; number++)
        for (size_t source = 0; source < MAX_SOURCES; source++)
            if (writer->numbers[source] == number)
                write_source(writer, source);
}

static const struct tlc_table_column *arm_columns(const struct tlc_emitter *emitter,
                                                  struct tlc_table_column *columns, char *cost,
                                                  size_t cost_bytes)
{
    snprintf(cost, cost_bytes, "cost %s", emitter->microseconds);
    const struct tlc_table_column all[TLC_TABLE_COLUMNS] = {
        {"arm", false, 0},      {"rate/s", true, 0},    {cost, true, 0},
        {"cost 95 %", true, 0}, {"ratio", true, 1},     {"ratio 95 %", true, 1},
        {"verdict", false, 1},  {"published", false, 1}};
    memcpy(columns, all, sizeof all);
    return columns;
}

static void write_bars(struct writer *writer, int lever, const char *key)
{
    const struct tlc_report_model *model = writer->model;
    struct tlc_bar *bars = calloc(model->arm_count + 1, sizeof *bars);
    char(*labels)[2][256] = calloc(model->arm_count + 1, sizeof *labels);
    size_t count = 0;
    writer->whole = writer->whole && bars && labels;
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
        writer->emitter->bars(writer->emitter->user, bars, count);
    free(bars);
    free(labels);
}

static bool anything_published(const struct tlc_table *table)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (*table->rows[row][TLC_TABLE_COLUMNS - 1])
            return true;
    return false;
}

static void write_arms(struct writer *writer, const struct tlc_report_lever *lever, int index)
{
    const struct tlc_report_model *model = writer->model;
    struct tlc_table_column columns[TLC_TABLE_COLUMNS];
    char cost[32];
    struct tlc_table table;
    tlc_table_init(&table, arm_columns(writer->emitter, columns, cost, sizeof cost),
                   TLC_TABLE_COLUMNS);
    if (model->baseline)
        add_arm(writer, &table, model->baseline, lever->key);
    for (size_t i = 0; i < model->arm_count; i++)
        if (model->arms[i].lever == index && &model->arms[i] != model->baseline)
            add_arm(writer, &table, &model->arms[i], lever->key);
    if (!anything_published(&table))
        table.column_count--;
    writer->emitter->table(writer->emitter->user, &table);
    table.column_count = TLC_TABLE_COLUMNS;
    tlc_table_free(&table);
    if (writer->emitter->bars)
        write_bars(writer, index, lever->key);
}

static void write_levers(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    for (size_t i = 0; i < model->lever_count; i++) {
        const struct tlc_report_lever *lever = &model->levers[i];
        heading(writer, 2, lever->name);
        if (lever->pulls)
            item(writer, "what it takes", format(writer, "%s", lever->pulls));
        write_arms(writer, lever, (int)i);
    }
}

static void write_control(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    struct tlc_table_column columns[TLC_TABLE_COLUMNS];
    char cost[32];
    struct tlc_table table;
    tlc_table_init(&table, arm_columns(writer->emitter, columns, cost, sizeof cost),
                   TLC_TABLE_COLUMNS);
    for (size_t i = 0; i < model->arm_count; i++)
        if (model->arms[i].control)
            add_arm(writer, &table, &model->arms[i], NULL);
    if (table.row_count) {
        heading(writer, 2, "control");
        paragraph(writer, format(writer, "Equal to the baseline but for what the name says, on "
                                         "servers of their own: these must not differ from it."));
        table.column_count--;
        writer->emitter->table(writer->emitter->user, &table);
        table.column_count++;
    }
    tlc_table_free(&table);
}

static void write_checks(struct writer *writer)
{
    static const struct tlc_table_column columns[] = {
        {"check", false, 0}, {"limit", true, 0}, {"worst", true, 0}, {"failed", true, 0}};
    struct tlc_table table;
    size_t index;
    json_t *check;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(writer->model->checks, index, check)
    {
        const char *name = text_of(check, "name");
        const json_t *limit_json = json_object_get(check, "limit");
        const json_t *worst_json = json_object_get(check, "worst");
        char limit[TLC_WORDS], worst[TLC_WORDS], failed[TLC_WORDS];
        bool applied = json_integer_value(json_object_get(check, "applied")) > 0;
        tlc_words_check_value(
            name, json_is_number(limit_json) ? json_number_value(limit_json) : NAN, limit);
        tlc_words_check_value(
            name, json_is_number(worst_json) ? json_number_value(worst_json) : NAN, worst);
        snprintf(failed, sizeof failed, "%lld",
                 (long long)json_integer_value(json_object_get(check, "failed")));
        add_row(writer, &table,
                (const char *const[]){name, limit, worst, applied ? failed : "not applied"});
    }
    heading(writer, 2, "checks");
    writer->emitter->table(writer->emitter->user, &table);
    tlc_table_free(&table);
}

static char *value_text(struct writer *writer, const json_t *value)
{
    if (json_is_string(value))
        return format(writer, "%s", json_string_value(value));
    if (json_is_null(value))
        return format(writer, "not told");
    if (json_is_boolean(value))
        return format(writer, json_is_true(value) ? "yes" : "no");
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    writer->whole = writer->whole && text;
    return text;
}

static void write_environment(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    const char *key, *inner;
    json_t *value, *part;
    heading(writer, 2, "environment");
    json_object_foreach(model->environment, key, value)
    {
        if (!json_is_object(value)) {
            item(writer, key, value_text(writer, value));
            continue;
        }
        json_object_foreach(value, inner, part)
        {
            char *label = format(writer, "%s %s", key, inner);
            if (label)
                item(writer, label, value_text(writer, part));
            free(label);
        }
    }
    size_t index;
    json_array_foreach(model->stacks, index, part)
    {
        item(writer, "stack",
             format(writer, "%s: %s; build %s; sha256 %s", text_of(part, "id"),
                    text_of(part, "version"), text_of(part, "build"), text_of(part, "sha256")));
    }
}

enum tlc_status tlc_sections_write(const struct tlc_report_model *model,
                                   const struct tlc_published *published,
                                   const struct tlc_emitter *emitter, struct tlc_error *error)
{
    struct writer writer = {
        .model = model, .published = published, .emitter = emitter, .whole = true};
    write_header(&writer);
    write_status(&writer);
    write_legend(&writer);
    write_levers(&writer);
    write_control(&writer);
    writer.whole = tlc_facts_write(model, emitter) && writer.whole;
    writer.whole = tlc_accounting_write(model, emitter) && writer.whole;
    write_published(&writer);
    write_checks(&writer);
    write_environment(&writer);
    return writer.whole ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "report: out of memory");
}
