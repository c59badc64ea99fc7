// Whether the attribution closes: sums, what samples cost, other instruments beside it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/budget.h"
#include "attribute/timed.h"
#include "base/json.h"
#include "report/attribution.h"
#include "report/words.h"

static const double SHARED_OUT = 0.01;

static struct tlc_figure figure_of(struct tlc_interval interval)
{
    return (struct tlc_figure){interval.estimate, interval.low, interval.high};
}

// A figure and its interval in words.
struct shown {
    char us[TLC_WORDS], range[TLC_WORDS];
};

static struct shown show(struct tlc_figure figure)
{
    struct shown shown;
    tlc_words_figure(figure.estimate, shown.us);
    tlc_words_figure_range(figure, shown.range);
    return shown;
}

// ---- one arm's sums

static void write_sums(struct tlc_telling *telling, const struct tlc_parts *parts)
{
    const char *name = parts->name;
    struct tlc_budget_sums sums = tlc_budget_sums(parts);
    tlc_tell_item(telling, name,
                  "%.0f samples; by their number a handshake took %.1f us in their slices, by the "
                  "kernel's clock %.1f us (apart by %+.1f %%); sampling took %.1f us of it (%.1f "
                  "%%); unknown %.1f %%",
                  parts->samples, sums.counted_us, sums.sampled_us, 100 * sums.gap,
                  sums.sampled_us - sums.total_us, 100 * (sums.sampled_us / sums.total_us - 1),
                  100 * sums.unknown);
    if (parts->cut > SHARED_OUT * parts->samples)
        tlc_tell_item(telling, name,
                      "derived: %.1f %% of the samples were in functions that hide their callers, "
                      "and are shared out as those are whose callers show",
                      100 * parts->cut / parts->samples);
    if (!sums.closed)
        tlc_tell_item(telling, name,
                      "NOT CLOSED: samples and clock are apart by more than %.0f %%: samples were "
                      "lost, or too few were taken; raise the plan's sampling or rounds",
                      100 * tlc_budget_closed);
    if (!sums.known)
        tlc_tell_item(telling, name,
                      "UNKNOWN: more than %.0f %% of the time has no name: bring the symbols of "
                      "the server, or add a table to components (docs/attribute.md)",
                      100 * tlc_budget_known);
}

// ---- the same work in two arms

static void add_same(struct tlc_telling *telling, struct tlc_table *table,
                     const struct tlc_same_work *work)
{
    char difference[TLC_WORDS];
    struct shown its = show(figure_of(work->us)), other = show(figure_of(work->other_us));
    tlc_words_figure(work->difference.estimate, difference);
    tlc_tell_row(telling, table,
                 (const char *const[]){tlc_part_name(work->component), work->arm->name, its.us,
                                       its.range, work->other->name, other.us, other.range,
                                       difference, work->apart ? "DIFFERS" : "agrees"});
}

static void alert_same(struct tlc_telling *telling, const struct tlc_same_work *work)
{
    tlc_tell_alert(telling,
                   "NOT THE SAME: %s is the same work in %s and in %s, and took %.1f us and %.1f "
                   "us, apart by more than their intervals: samples were put to the wrong part, or "
                   "the machine changed between the two",
                   tlc_part_name(work->component), work->arm->name, work->other->name,
                   work->us.estimate, work->other_us.estimate);
}

static void write_same(struct tlc_telling *telling, const struct tlc_parts *parts, size_t count)
{
    static const struct tlc_table_column columns[] = {
        {"component", false, 0}, {"arm", false, 0},       {"us", true, 0},
        {"95 %", true, 0},       {"as in", false, 1},     {"its us", true, 1},
        {"its 95 %", true, 1},   {"difference", true, 1}, {"", false, 1}};
    struct tlc_same_work *list;
    size_t list_count;
    struct tlc_table table;
    telling->broken = !tlc_same_work(parts, count, &list, &list_count) || telling->broken;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < list_count; i++)
        add_same(telling, &table, &list[i]);
    tlc_tell_section(telling, "the same work in two arms",
                     "Components that do in both arms what the same raw operation does, such as "
                     "the curve's part of a hybrid group. DIFFERS: the two intervals lie apart.",
                     &table);
    for (size_t i = 0; i < list_count; i++)
        if (list[i].apart)
            alert_same(telling, &list[i]);
    free(list);
}

// ---- raw operations beside their components

static bool is(const struct tlc_report_arm *arm, const char *key, const char *value)
{
    const char *setting = tlc_report_setting(arm, key);
    return !value || (setting && !strcmp(setting, value));
}

static bool does(const struct tlc_report_arm *arm, const struct tlc_parts *parts,
                 const struct tlc_part_operation *operation, const struct tlc_report_arm *primitive)
{
    const char *stack = tlc_report_setting(primitive, "stack");
    return tlc_parts_do(parts, operation) && stack && is(arm, "stack", stack) &&
           !tlc_report_setting(arm, "server");
}

static void add_operation(struct tlc_telling *telling, struct tlc_table *table,
                          const struct tlc_parts *parts, const struct tlc_part_operation *operation,
                          const struct tlc_report_arm *primitive)
{
    struct tlc_figure figure =
        figure_of(tlc_parts_mean(parts->of[operation->component], parts->blocks));
    struct shown part = show(figure), alone = show(primitive->cost_us);
    bool apart = figure.low > primitive->cost_us.high || figure.high < primitive->cost_us.low;
    tlc_tell_row(telling, table,
                 (const char *const[]){parts->name, tlc_part_name(operation->component), part.us,
                                       part.range, operation->name, alone.us, alone.range,
                                       apart ? "DIFFERS" : "agrees"});
}

// The components of an arm that this operation does.
static void add_operations(struct tlc_telling *telling, struct tlc_table *table,
                           const struct tlc_report_model *model, const struct tlc_parts *parts,
                           const struct tlc_report_arm *primitive)
{
    const struct tlc_report_arm *arm = &model->arms[parts->arm];
    const struct tlc_part_operation *operation;
    for (size_t i = 0; (operation = tlc_part_operation_at(i)); i++)
        if (is(primitive, "operation", operation->name) && does(arm, parts, operation, primitive))
            add_operation(telling, table, parts, operation, primitive);
}

static void write_operations(struct tlc_telling *telling, const struct tlc_report_model *model,
                             const struct tlc_parts *parts, size_t count)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},       {"component", false, 0}, {"us", true, 0},
        {"95 %", true, 0},       {"operation", false, 1}, {"alone, us", true, 1},
        {"95 % alone", true, 1}, {"", false, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        for (size_t arm = 0; arm < model->arm_count; arm++)
            if (model->arms[arm].accepted && is(&model->arms[arm], "workload", "primitive"))
                add_operations(telling, &table, model, &parts[i], &model->arms[arm]);
    tlc_tell_section(telling, "parts beside the library's raw operations",
                     "A raw operation runs by itself, in a warm cache; what it includes is in "
                     "docs/speed.md. DIFFERS: the two intervals lie apart.",
                     &table);
}

// ---- the tracing provider's times beside their components

static void add_timed(struct tlc_telling *telling, struct tlc_table *table,
                      const struct tlc_timed_part *part)
{
    char where[TLC_WORDS];
    struct shown its = show(figure_of(part->us)), timed = show(figure_of(part->timed_us));
    snprintf(where, sizeof where, "%.30s, %.30s", tlc_part_name(part->component), part->arm);
    tlc_tell_row(telling, table,
                 (const char *const[]){part->parts->name, tlc_part_name(part->component), its.us,
                                       its.range, where, timed.us, timed.range,
                                       part->apart ? "DIFFERS" : "agrees"});
}

static void write_timed(struct tlc_telling *telling, const struct tlc_report_model *model,
                        const struct tlc_parts *parts, size_t count)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},          {"component", false, 0}, {"us", true, 0},
        {"95 %", true, 0},          {"timed, in", false, 1}, {"timed, us", true, 1},
        {"95 % of times", true, 1}, {"", false, 1}};
    struct tlc_timed_part *list;
    size_t list_count;
    struct tlc_table table;
    telling->broken =
        !tlc_timed_parts(model->result, parts, count, &list, &list_count) || telling->broken;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < list_count; i++)
        add_timed(telling, &table, &list[i]);
    tlc_tell_section(telling, "parts beside the tracing provider's times",
                     "What the library's provider took for a handshake in a server of the same "
                     "settings, by the time stamp counter around each call, its middle 90 %; what "
                     "is and is not in it is in docs/attribute.md. DIFFERS: the two intervals lie "
                     "apart.",
                     &table);
    free(list);
}

// ---- everything that the CPUs did

struct machine {
    double handshakes, server_us, client_us, busy_us[2], softirq_us[2];
};

static struct machine machine_of(const struct tlc_report_arm *arm)
{
    static const char *const sets[] = {"server_cpu", "generator_cpu"};
    struct machine machine = {0};
    size_t index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample)
    {
        double handshakes = tlc_json_number(sample, "handshakes");
        if (!json_is_true(json_object_get(sample, "accepted")))
            continue;
        machine.handshakes += handshakes;
        machine.server_us += tlc_json_number(sample, "cost_us") * handshakes;
        machine.client_us += tlc_json_number(sample, "client_us") * handshakes;
        for (int i = 0; i < 2; i++) {
            const json_t *set = json_object_get(json_object_get(sample, "stay"), sets[i]);
            machine.softirq_us[i] += tlc_json_number(set, "softirq_us");
            machine.busy_us[i] +=
                tlc_json_number(set, "user_us") + tlc_json_number(set, "system_us") +
                tlc_json_number(set, "irq_us") + tlc_json_number(set, "softirq_us");
        }
    }
    return machine;
}

static void add_machine(struct tlc_telling *telling, struct tlc_table *table,
                        const struct tlc_report_arm *arm)
{
    struct machine machine = machine_of(arm);
    const double figures[] = {machine.server_us,
                              machine.softirq_us[0],
                              machine.busy_us[0] - machine.server_us,
                              machine.busy_us[0],
                              machine.client_us,
                              machine.softirq_us[1],
                              machine.busy_us[1] - machine.client_us,
                              machine.busy_us[1]};
    char words[8][32];
    const char *cells[9] = {arm->name};
    for (int i = 0; i < 8; i++) {
        snprintf(words[i], sizeof words[i], "%.1f", figures[i] / machine.handshakes);
        cells[i + 1] = words[i];
    }
    tlc_tell_row(telling, table, cells);
}

static void write_machine(struct tlc_telling *telling, const struct tlc_report_model *model,
                          const struct tlc_parts *parts, size_t count)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},        {"server", true, 0},     {"softirq", true, 0},
        {"others", true, 0},      {"busy", true, 0},       {"client", true, 1},
        {"its softirq", true, 1}, {"its others", true, 1}, {"its busy", true, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        add_machine(telling, &table, &model->arms[parts[i].arm]);
    tlc_tell_section(
        telling, "everything the CPUs did, us per handshake",
        "Of the server's CPUs and of the client's, by /proc/stat in steps of its tick: "
        "the process, softirq time (some of it within the process), what is neither "
        "(kernel threads, other programs; a negative figure is the tick's error), and "
        "all that the CPUs were busy.",
        &table);
}

void tlc_budget_write(struct tlc_telling *telling, const struct tlc_report_model *model,
                      const struct tlc_parts *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_sums(telling, &parts[i]);
    write_same(telling, parts, count);
    write_operations(telling, model, parts, count);
    write_timed(telling, model, parts, count);
    write_machine(telling, model, parts, count);
}
