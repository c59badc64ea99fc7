#include "report/sections.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/accounting.h"
#include "report/arms.h"
#include "report/attribution.h"
#include "report/curves.h"
#include "report/environment.h"
#include "report/evidence.h"
#include "report/facts.h"
#include "report/gains.h"
#include "report/overload.h"
#include "report/pre_authentication.h"
#include "report/resumption.h"
#include "report/sides.h"
#include "report/sizes.h"
#include "report/spread.h"
#include "report/trace.h"
#include "report/variation.h"
#include "report/words.h"

struct writer {
    const struct tlc_report_model *model;
    const struct tlc_emitter *emitter;
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
    const struct tlc_workload_words *words = tlc_words_of_report(model);
    char took[TLC_WORDS];
    char *title = format(writer, "%s: %s", model->name, model->question);
    if (title)
        heading(writer, 1, title);
    free(title);
    item(writer, "machine",
         format(writer, "%s, %lld CPUs; %s on %s, %s on %s",
                text_of(model->environment, "cpu_model"),
                (long long)json_integer_value(json_object_get(model->environment, "cpus")),
                words->servers, text_of(model->setup, "server_cpus"), words->generator,
                text_of(model->setup, "generator_cpus")));
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
    json_array_foreach(json_object_get(model->plan, "left_out"), index, reason)
    {
        item(writer, "left out",
             format(writer, "%s: %s", text_of(reason, "arm"), text_of(reason, "reason")));
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

static bool has_divisors(const struct tlc_report_model *model)
{
    for (size_t i = 0; i < model->arm_count; i++)
        if (*model->arms[i].against)
            return true;
    return false;
}

// What cost means for the arms of one workload; the first arm of a workload tells it for all.
static void write_meaning(struct writer *writer, size_t arm)
{
    const struct tlc_report_model *model = writer->model;
    const struct tlc_workload_words *words = tlc_words_of_arm(&model->arms[arm]);
    size_t instances = 0;
    for (size_t i = 0; i < model->arm_count; i++) {
        if (tlc_words_of_arm(&model->arms[i]) != words)
            continue;
        if (i < arm)
            return;
        if (model->arms[i].instances > instances)
            instances = model->arms[i].instances;
    }
    paragraph(writer, format(writer,
                             "cost%s%s: %s %s per %s; ratio: cost of the arm / cost of %s; "
                             "intervals: 95 %%, over up to %zu %s of an arm.",
                             model->mixed ? " of " : "", model->mixed ? words->arms : "",
                             strcmp(words->workload, "memory") ? words->cpu : tlc_sides_cost(model),
                             writer->emitter->microseconds, words->each,
                             has_divisors(model) ? "the arm that it is divided by" : "the baseline",
                             instances, words->instances));
}

static void write_legend(struct writer *writer)
{
    const struct tlc_report_model *model = writer->model;
    for (size_t i = 0; i < model->arm_count; i++)
        write_meaning(writer, i);
    if (model->few)
        paragraph(writer,
                  format(writer, "'-' stands for an interval that cannot be given: 95 %% needs at "
                                 "least 6 instances. Without it there is no claim."));
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

enum tlc_status tlc_sections_write(const struct tlc_report_model *model,
                                   const struct tlc_published *published,
                                   const struct tlc_emitter *emitter, struct tlc_error *error)
{
    struct writer writer = {.model = model, .emitter = emitter, .whole = true};
    struct tlc_citations citations = {0};
    write_header(&writer);
    write_status(&writer);
    write_legend(&writer);
    writer.whole = tlc_arms_write(model, published, emitter, &citations) && writer.whole;
    writer.whole = tlc_attribution_write(model, emitter) && writer.whole;
    writer.whole = tlc_gains_write(model, published, emitter) && writer.whole;
    writer.whole = tlc_resumption_write(model, emitter) && writer.whole;
    writer.whole = tlc_pre_authentication_write(model, published, emitter) && writer.whole;
    writer.whole = tlc_overload_write(model, emitter) && writer.whole;
    writer.whole = tlc_sides_write(model, emitter) && writer.whole;
    writer.whole = tlc_curves_write(model, emitter) && writer.whole;
    writer.whole = tlc_evidence_write(model, emitter) && writer.whole;
    writer.whole = tlc_trace_write(model, emitter) && writer.whole;
    writer.whole = tlc_sizes_write(model, emitter) && writer.whole;
    writer.whole = tlc_spread_write(model, emitter) && writer.whole;
    writer.whole = tlc_variation_write(model, emitter) && writer.whole;
    writer.whole = tlc_facts_write(model, emitter) && writer.whole;
    writer.whole = tlc_accounting_write(model, emitter) && writer.whole;
    writer.whole = tlc_citations_write(model, published, emitter, &citations) && writer.whole;
    write_checks(&writer);
    writer.whole = tlc_environment_write(model, emitter) && writer.whole;
    return writer.whole ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "report: out of memory");
}
