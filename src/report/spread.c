#include "report/spread.h"

#include <math.h>
#include <stdio.h>

#include "report/telling.h"
#include "report/words.h"

// Over all samples of an arm: the handshakes of the worker with the fewest, and with the most, of
// its own server process, as shares of that server's.
struct spread {
    size_t workers, servers;
    double least, most; // means over servers
};

static double handshakes_of(const json_t *worker)
{
    return (double)json_integer_value(json_object_get(worker, "handshakes"));
}

static void add_server(struct spread *spread, const json_t *workers)
{
    double least = INFINITY, most = 0, sum = 0;
    size_t count = json_array_size(workers);
    for (size_t i = 0; i < count; i++) {
        double here = handshakes_of(json_array_get(workers, i));
        least = fmin(least, here);
        most = fmax(most, here);
        sum += here;
    }
    if (count < 2 || !(sum > 0))
        return;
    spread->workers = count;
    spread->servers++;
    spread->least += least / sum;
    spread->most += most / sum;
}

static bool read_spread(const struct tlc_report_model *model, size_t arm, struct spread *spread)
{
    const json_t *samples =
        json_object_get(json_array_get(json_object_get(model->result, "arms"), arm), "samples");
    *spread = (struct spread){0};
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *stay = json_object_get(json_array_get(samples, i), "stay");
        add_server(spread, json_object_get(json_object_get(stay, "server_counters"), "workers"));
    }
    if (!spread->servers)
        return false;
    spread->least /= (double)spread->servers;
    spread->most /= (double)spread->servers;
    return true;
}

static void tell_row(struct tlc_telling *telling, struct tlc_table *table, const char *arm,
                     const struct spread *spread)
{
    char words[4][TLC_WORDS];
    snprintf(words[0], TLC_WORDS, "%zu", spread->workers);
    snprintf(words[1], TLC_WORDS, "%.1f %%", 100.0 / (double)spread->workers);
    snprintf(words[2], TLC_WORDS, "%.1f %%", 100 * spread->least);
    snprintf(words[3], TLC_WORDS, "%.1f %%", 100 * spread->most);
    tlc_tell_row(telling, table,
                 (const char *const[]){arm, words[0], words[1], words[2], words[3]});
}

bool tlc_spread_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    static const struct tlc_table_column columns[] = {{"arm", false, 0},
                                                      {"workers", true, 0},
                                                      {"even", true, 0},
                                                      {"least", true, 0},
                                                      {"most", true, 0}};
    struct tlc_telling telling = {.emitter = emitter};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        struct spread spread;
        if (read_spread(model, i, &spread))
            tell_row(&telling, &table, model->arms[i].name, &spread);
    }
    tlc_tell_section(
        &telling, "spread over workers",
        "Share of a server's handshakes that its least and its most busy worker made, mean over "
        "servers, warm-up included. A worker is a thread, which the kernel moves among the "
        "server's CPUs.",
        &table);
    return !telling.broken;
}
