#include "report/overload.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"

static const json_t *overload_of(const struct tlc_report_model *model, size_t index)
{
    const json_t *arm = json_array_get(json_object_get(model->result, "arms"), index);
    const json_t *overload = json_object_get(arm, "overload");
    return json_is_object(overload) ? overload : NULL;
}

static char *percent(double share, char *words)
{
    snprintf(words, TLC_WORDS, isfinite(share) ? "%.1f %%" : "-", 100 * share);
    return words;
}

static char *rate(double value, char *words)
{
    return tlc_words_rate(value, words);
}

static void tell_arm(struct tlc_telling *telling, const struct tlc_report_arm *arm,
                     const json_t *overload, struct tlc_table *table)
{
    char words[8][TLC_WORDS];
    snprintf(words[0], TLC_WORDS, "%.0f %%", 100 * tlc_json_number(overload, "offered"));
    tlc_tell_row(telling, table,
                 (const char *const[]){
                     arm->name, words[0], rate(tlc_json_number(overload, "offered_rate"), words[1]),
                     rate(tlc_json_number(overload, "verified_rate"), words[2]),
                     percent(tlc_json_number(overload, "verified"), words[3]),
                     percent(tlc_json_number(overload, "given_up"), words[4]),
                     percent(tlc_json_number(overload, "missed"), words[5]),
                     tlc_words_figure(arm->accepted ? arm->cost_us.estimate : NAN, words[6]),
                     tlc_words_figure_range(arm->cost_us, words[7])});
}

// The curve: one bar an arm, in the plan's order.
static void draw(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    enum { MOST_BARS = 32 };
    struct tlc_bar bars[MOST_BARS];
    size_t count = 0;
    for (size_t i = 0; i < model->arm_count && count < MOST_BARS; i++)
        if (overload_of(model, i) && model->arms[i].accepted)
            bars[count++] =
                (struct tlc_bar){.label = model->arms[i].name, .figure = model->arms[i].cost_us};
    if (emitter->bars && count > 1)
        emitter->bars(emitter->user, bars, count);
}

bool tlc_overload_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},       {"offered", true, 0},  {"/s", true, 0},
        {"verified/s", true, 0}, {"verified", true, 0}, {"given up", true, 0},
        {"not begun", true, 1},  {"cost", true, 0},     {"95 %", true, 0}};
    struct tlc_telling telling = {.emitter = emitter};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++)
        if (overload_of(model, i))
            tell_arm(&telling, &model->arms[i], overload_of(model, i), &table);
    bool any = table.row_count > 0;
    tlc_tell_section(
        &telling, "overload",
        "offered: handshakes begun in an open loop, as a share of what the same server "
        "did in a closed one before; verified: completed and checked by the client; "
        "given up: by the client, whose time was over; not begun: all connections "
        "allowed were open. Cost: server CPU per verified handshake, all that the "
        "given-up ones took included.",
        &table);
    if (any)
        draw(model, emitter);
    return !telling.broken;
}
