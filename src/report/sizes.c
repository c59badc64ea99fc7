#include "report/sizes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"
#include "stats/stats.h"

enum { MAX_SAMPLES = 256 };

struct sizes {
    double sent, received; // TLS bytes of the client for a handshake, tickets included
    double memory_bytes;   // of the server at the end of a block, median over blocks
    double names;          // 0: one certificate for all
    const char *key_type;
    size_t arm;
};

// Samples without a completed handshake tell nothing.
static bool read_sizes(const struct tlc_report_model *model, size_t arm, struct sizes *sizes)
{
    const json_t *samples =
        json_object_get(json_array_get(json_object_get(model->result, "arms"), arm), "samples");
    double memory[MAX_SAMPLES], handshakes = 0;
    size_t count = 0;
    *sizes = (struct sizes){.arm = arm};
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        const json_t *counters = json_object_get(sample, "counters");
        double received = tlc_json_number(counters, "bytes_received");
        double bytes = tlc_json_number(json_object_get(sample, "stay"), "memory_bytes");
        double here = tlc_json_number(sample, "handshakes");
        if (!(received > 0) || !(here > 0))
            continue;
        handshakes += here;
        sizes->received += received;
        sizes->sent += tlc_json_number(counters, "bytes_sent");
        if (bytes > 0 && count < MAX_SAMPLES)
            memory[count++] = bytes;
    }
    if (!(handshakes > 0))
        return false;
    sizes->sent /= handshakes;
    sizes->received /= handshakes;
    sizes->memory_bytes = count ? tlc_median(memory, count) : NAN;
    sizes->names = tlc_json_number(model->arms[arm].settings, "names");
    sizes->key_type = tlc_report_setting(&model->arms[arm], "certificate");
    return true;
}

static void whole(double value, char words[TLC_WORDS])
{
    snprintf(words, TLC_WORDS, isfinite(value) ? "%.0f" : "-", value);
}

// The arm with the fewest names whose server is otherwise of the same certificate.
static const struct sizes *fewest(const struct sizes *all, size_t count, const struct sizes *of)
{
    const struct sizes *found = of;
    for (size_t i = 0; i < count; i++)
        if (all[i].names > 0 && all[i].names < found->names && all[i].key_type && of->key_type &&
            !strcmp(all[i].key_type, of->key_type))
            found = &all[i];
    return found;
}

static void tell_row(struct tlc_telling *telling, struct tlc_table *table,
                     const struct tlc_report_model *model, const struct sizes *of,
                     const struct sizes *least)
{
    char words[5][TLC_WORDS] = {"", "", "", "-", "-"};
    whole(of->sent, words[0]);
    whole(of->received, words[1]);
    snprintf(words[2], TLC_WORDS, isfinite(of->memory_bytes) ? "%.2f" : "-",
             of->memory_bytes / (1 << 20));
    if (of->names > 0)
        whole(of->names, words[3]);
    if (of->names > least->names)
        whole((of->memory_bytes - least->memory_bytes) / (of->names - least->names), words[4]);
    tlc_tell_row(telling, table,
                 (const char *const[]){model->arms[of->arm].name, words[0], words[1], words[2],
                                       words[3], words[4]});
}

bool tlc_sizes_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},       {"client sends", true, 0}, {"server sends", true, 0},
        {"server MiB", true, 0}, {"names", true, 0},        {"bytes a name", true, 0}};
    struct tlc_telling telling = {.emitter = emitter};
    struct tlc_table table;
    struct sizes *all = calloc(model->arm_count + 1, sizeof *all);
    size_t count = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < model->arm_count; i++)
        count += read_sizes(model, i, &all[count]);
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        tell_row(&telling, &table, model, &all[i], fewest(all, count, &all[i]));
    if (count) {
        tlc_tell_heading(&telling, 2, "bytes and memory");
        tlc_tell_paragraph(
            &telling,
            "TLS bytes of a handshake, tickets included, as the client counted them; "
            "server MiB: proportional memory at the end of a block, median; bytes a name: "
            "derived, memory beyond the arm with the fewest names for each name beyond "
            "its.");
        tlc_tell_table(&telling, &table);
    } else {
        tlc_table_free(&table);
    }
    free(all);
    return !telling.broken;
}
