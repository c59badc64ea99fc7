#include "report/trace.h"

#include <stdio.h>
#include <string.h>

#include "report/telling.h"
#include "report/words.h"
#include "stats/stats.h"

enum { MAX_SAMPLES = 256, DEEPEST = 8 };

struct path { // from the outermost operation to the one meant
    const json_t *operations[DEEPEST];
    size_t length;
};

static const json_t *trace_of(const struct tlc_report_arm *arm, size_t sample)
{
    const json_t *stay = json_object_get(json_array_get(arm->sample_list, sample), "stay");
    return json_object_get(stay, "trace");
}

static const char *text_of(const json_t *operation, const char *member)
{
    const char *text = json_string_value(json_object_get(operation, member));
    return text ? text : "";
}

static bool alike(const json_t *left, const json_t *right)
{
    return !strcmp(text_of(left, "component"), text_of(right, "component")) &&
           !strcmp(text_of(left, "algorithm"), text_of(right, "algorithm"));
}

// The same operation in another sample; NULL: it did not happen there.
static const json_t *same_in(const json_t *trace, const struct path *path)
{
    const json_t *list = json_object_get(trace, "operations"), *found = NULL;
    for (size_t depth = 0; depth < path->length; depth++) {
        found = NULL;
        for (size_t i = 0; !found && i < json_array_size(list); i++)
            if (alike(json_array_get(list, i), path->operations[depth]))
                found = json_array_get(list, i);
        list = json_object_get(found, "nested");
    }
    return found;
}

// The median over samples.
static const char *figure(const struct tlc_report_arm *arm, const struct path *path,
                          const char *member, char words[TLC_WORDS])
{
    double values[MAX_SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(arm->sample_list) && count < MAX_SAMPLES; i++) {
        const json_t *value = json_object_get(same_in(trace_of(arm, i), path), member);
        if (json_is_number(value))
            values[count++] = json_number_value(value);
    }
    strcpy(words, "-");
    if (count)
        snprintf(words, TLC_WORDS, "%.2f", tlc_median(values, count));
    return words;
}

static void tell_operations(struct tlc_telling *telling, struct tlc_table *table,
                            const struct tlc_report_arm *arm, const json_t *list, struct path *path)
{
    for (size_t i = 0; path->length < DEEPEST && i < json_array_size(list); i++) {
        const json_t *operation = json_array_get(list, i);
        char words[6][TLC_WORDS];
        path->operations[path->length++] = operation;
        snprintf(words[0], TLC_WORDS, "%.*s%s %s", (int)(2 * (path->length - 1)),
                 "> > > > > > > > ", text_of(operation, "component"),
                 text_of(operation, "algorithm"));
        tlc_tell_row(telling, table,
                     (const char *const[]){
                         arm->name, words[0], figure(arm, path, "calls", words[1]),
                         figure(arm, path, "trimmed_us", words[2]),
                         figure(arm, path, "us", words[3]), figure(arm, path, "own_us", words[4]),
                         figure(arm, path, "median_us", words[5])});
        tell_operations(telling, table, arm, json_object_get(operation, "nested"), path);
        path->length--;
    }
}

static void tell_times(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},       {"operation", false, 0}, {"calls", true, 0},
        {"trimmed us", true, 0}, {"sum us", true, 0},     {"own us", true, 0},
        {"median us", true, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const struct tlc_report_arm *arm = &model->arms[i];
        struct path path = {.length = 0};
        for (size_t k = 0; k < json_array_size(arm->sample_list); k++) {
            const json_t *list = json_object_get(trace_of(arm, k), "operations");
            if (json_array_size(list)) {
                tell_operations(telling, &table, arm, list, &path);
                break;
            }
        }
    }
    tlc_tell_section(
        telling, "traced operations",
        "Of the server's cryptography, for one handshake, by the time stamp counter: "
        "medians over the samples. Sum: all that passed, preemption included. Trimmed: "
        "without the shortest and longest 5 % of each function's calls. Own: the sum "
        "without what is nested in it, which follows with > before it. Median: of a "
        "call that does the work itself.",
        &table);
}

static const json_t *allocated_by(const struct tlc_report_arm *arm)
{
    for (size_t i = 0; i < json_array_size(arm->sample_list); i++) {
        const json_t *stay = json_object_get(json_array_get(arm->sample_list, i), "stay");
        const json_t *server = json_object_get(json_object_get(stay, "allocations"), "server");
        const json_t *components = json_object_get(server, "components");
        if (json_object_size(components))
            return components;
    }
    return NULL;
}

static void tell_allocations(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0}, {"component", false, 0}, {"count", true, 0}, {"bytes", true, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const char *name;
        json_t *share;
        json_object_foreach((json_t *)(uintptr_t)allocated_by(&model->arms[i]), name, share)
        {
            char count[TLC_WORDS], bytes[TLC_WORDS];
            snprintf(count, sizeof count, "%.1f",
                     json_number_value(json_object_get(share, "count")));
            snprintf(bytes, sizeof bytes, "%.0f",
                     json_number_value(json_object_get(share, "bytes")));
            tlc_tell_row(telling, &table,
                         (const char *const[]){model->arms[i].name, name, count, bytes});
        }
    }
    tlc_tell_section(telling, "allocations by component",
                     "Of the server, for one handshake, by the innermost component at work; the "
                     "rest is the protocol itself: state machine, records, sessions.",
                     &table);
}

bool tlc_trace_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    tell_times(&telling, model);
    tell_allocations(&telling, model);
    return !telling.broken;
}
