#include "report/accounting.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"

enum side { SERVER, GENERATOR, SIDES };

static const char *const members[SIDES] = {"server_cpu", "generator_cpu"};

// Sums over samples of one set of CPUs. What a sample does not tell makes a sum NaN.
struct set {
    double busy_us, softirq_us, net_rx, switches, cycles, instructions;
};

struct figures {
    struct set sets[SIDES];
    double handshakes, gap, clock_gap; // the largest gaps, NaN: not told
    size_t samples;
};

static void add_set(struct set *set, const json_t *cpu)
{
    double softirq_us = tlc_json_number(cpu, "softirq_us");
    set->softirq_us += softirq_us;
    set->busy_us += tlc_json_number(cpu, "user_us") + tlc_json_number(cpu, "system_us") +
                    tlc_json_number(cpu, "irq_us") + softirq_us;
    set->net_rx += tlc_json_number(cpu, "net_rx");
    set->switches += tlc_json_number(cpu, "context_switches");
    set->cycles += tlc_json_number(cpu, "cycles");
    set->instructions += tlc_json_number(cpu, "instructions");
}

static double larger(double value, double than)
{
    return value <= than || isnan(value) ? than : value;
}

// Refused samples count too: here the machine is told of, not the arm's cost.
static void add_samples(struct figures *figures, const json_t *samples)
{
    size_t index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)samples, index, sample)
    {
        const json_t *stay = json_object_get(sample, "stay");
        double handshakes = tlc_json_number(sample, "handshakes");
        if (!json_is_number(json_object_get(json_object_get(stay, members[SERVER]), "net_rx")) ||
            !(handshakes > 0))
            continue;
        for (int side = 0; side < SIDES; side++)
            add_set(&figures->sets[side], json_object_get(stay, members[side]));
        figures->handshakes += handshakes;
        figures->gap = larger(tlc_json_number(stay, "accounting"), figures->gap);
        figures->clock_gap = larger(tlc_json_number(stay, "clock_gap"), figures->clock_gap);
        figures->samples++;
    }
}

static const json_t *samples_of(const struct tlc_report_model *model, size_t arm)
{
    return json_object_get(json_array_get(json_object_get(model->result, "arms"), arm), "samples");
}

static char *words(char *to, int digits, const char *unit, double value)
{
    if (isfinite(value))
        snprintf(to, TLC_WORDS, "%.*f%s", digits, value, unit);
    else
        snprintf(to, TLC_WORDS, "-");
    return to;
}

static double share_of(const struct set *set)
{
    return set->busy_us > 0 ? 100 * set->softirq_us / set->busy_us : NAN;
}

static void tell_arm(struct tlc_telling *telling, struct tlc_table *table,
                     const struct tlc_report_arm *arm, const struct figures *figures)
{
    char cells[5][TLC_WORDS];
    const char *network = tlc_report_setting(arm, "network");
    for (int side = 0; side < SIDES; side++) {
        const struct set *set = &figures->sets[side];
        words(cells[2 * side], 1, " %", share_of(set));
        words(cells[2 * side + 1], 1, "", set->net_rx / figures->handshakes);
    }
    words(cells[4], 1, " %", 100 * figures->gap);
    tlc_tell_row(telling, table,
                 (const char *const[]){arm->name, network ? network : "loopback", cells[0],
                                       cells[1], cells[2], cells[3], cells[4]});
}

static void tell_set(struct tlc_telling *telling, const char *label, const char *cpus,
                     const struct figures *figures, const struct set *set)
{
    char share[TLC_WORDS], rx[TLC_WORDS], switches[TLC_WORDS], hardware[TLC_WORDS + 64];
    words(share, 1, " %", share_of(set));
    words(rx, 1, "", set->net_rx / figures->handshakes);
    words(switches, 2, "", set->switches / figures->handshakes);
    if (isfinite(set->instructions) && isfinite(set->cycles))
        snprintf(hardware, sizeof hardware, "%.0f instructions, %.0f cycles",
                 set->instructions / figures->handshakes, set->cycles / figures->handshakes);
    else
        snprintf(hardware, sizeof hardware, "hardware counters: none here");
    tlc_tell_item(telling, label,
                  "%s: softirq %s of their busy time; a handshake: %s times NET_RX, %s context "
                  "switches; %s",
                  cpus ? cpus : "not told", share, rx, switches, hardware);
}

static void tell_limits(struct tlc_telling *telling, const struct tlc_report_model *model,
                        const struct figures *all)
{
    const char *kind = json_string_value(json_object_get(model->environment, "cpu_accounting"));
    if (isfinite(all->clock_gap))
        tlc_tell_item(telling, "third accounting",
                      "/proc/stat misses at most %.1f %% of what the CPUs' clock (perf events) "
                      "counted, beyond its ticks",
                      100 * all->clock_gap);
    else
        tlc_tell_item(telling, "third accounting",
                      "none: perf events over whole CPUs may not be counted here");
    if (kind && !strcmp(kind, "tick"))
        tlc_tell_item(
            telling, "not seen",
            "this kernel keeps CPU time by ticks: softirq shares are samples of a few ms, "
            "right only over many; time in interrupts is charged to the process that was "
            "interrupted, whoever's packets they were, so it is in the cost of a busy "
            "server");
    else if (kind && !strcmp(kind, "irq-time"))
        tlc_tell_item(telling, "not seen",
                      "this kernel takes interrupts and softirqs out of processes' run time: costs "
                      "leave them out, and the shares above say how much that is");
    else if (!kind)
        tlc_tell_item(telling, "not seen",
                      "whether this kernel charges softirqs to the process they interrupt: the "
                      "result does not tell how it keeps CPU time (cpu_accounting)");
}

bool tlc_accounting_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},   {"network", false, 0},           {"server: softirq", true, 0},
        {"NET_RX", true, 0}, {"generator: softirq", true, 0}, {"NET_RX", true, 0},
        {"apart", true, 0},
    };
    struct tlc_telling telling = {.emitter = emitter};
    struct figures all = {.gap = NAN, .clock_gap = NAN};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        struct figures figures = {.gap = NAN, .clock_gap = NAN};
        add_samples(&figures, samples_of(model, i));
        add_samples(&all, samples_of(model, i));
        if (figures.samples)
            tell_arm(&telling, &table, &model->arms[i], &figures);
    }
    if (!all.samples) {
        tlc_table_free(&table);
        return !telling.broken;
    }
    tlc_tell_heading(&telling, 2, "accounting");
    tlc_tell_paragraph(&telling, "softirq: share of the busy time of the CPUs of either side; "
                                 "NET_RX: receive softirqs for one "
                                 "handshake; apart: /proc/stat against the server's run time, at "
                                 "worst.");
    tlc_tell_table(&telling, &table);
    tell_set(&telling, "server's CPUs",
             json_string_value(json_object_get(model->setup, "server_cpus")), &all,
             &all.sets[SERVER]);
    tell_set(&telling, "generator's CPUs",
             json_string_value(json_object_get(model->setup, "generator_cpus")), &all,
             &all.sets[GENERATOR]);
    tell_limits(&telling, model, &all);
    return !telling.broken;
}
