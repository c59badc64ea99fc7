#include "report/evidence.h"

#include <stdio.h>
#include <string.h>

#include "report/telling.h"
#include "report/words.h"
#include "stats/stats.h"

enum { MAX_SAMPLES = 256 };

static const json_t *samples_of(const struct tlc_report_model *model, size_t arm)
{
    return json_object_get(json_array_get(json_object_get(model->result, "arms"), arm), "samples");
}

// The first sample that has evidence; NULL when none has.
static const json_t *sample_with(const json_t *samples, const char *member)
{
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (json_is_object(json_object_get(json_array_get(samples, i), member)))
            return json_array_get(samples, i);
    return NULL;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text && *text ? text : "-";
}

// The names that all handshakes of the samples negotiated, with their shares when they are several.
static const char *negotiated(const json_t *samples, const char *what, char words[TLC_WORDS])
{
    json_t *counts = json_object(), *count;
    const char *name;
    double total = 0;
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *counters = json_object_get(json_array_get(samples, i), "counters");
        json_t *seen = json_object_get(json_object_get(counters, "negotiated"), what);
        json_object_foreach(seen, name, count)
        {
            json_int_t now = json_integer_value(count);
            total += (double)now;
            now += json_integer_value(json_object_get(counts, name));
            json_object_set_new(counts, name, json_integer(now));
        }
    }
    strcpy(words, total > 0 ? "" : "-");
    json_object_foreach(counts, name, count)
    {
        double share = (double)json_integer_value(count) / total;
        int wrote = json_object_size(counts) == 1
                        ? snprintf(words, TLC_WORDS, "%s", name)
                        : snprintf(words + used, TLC_WORDS - used, "%s%s %.1f %%", used ? ", " : "",
                                   name, 100 * share);
        if (wrote < 0 || (size_t)wrote >= TLC_WORDS - used)
            break;
        used += (size_t)wrote;
    }
    json_decref(counts);
    return words;
}

static const char *resumed(const json_t *samples, char words[TLC_WORDS])
{
    double sum = 0, handshakes = 0;
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i);
        const json_t *counters = json_object_get(sample, "counters");
        sum += json_number_value(json_object_get(counters, "resumed"));
        handshakes += json_number_value(json_object_get(sample, "handshakes"));
    }
    snprintf(words, TLC_WORDS, handshakes > 0 ? "%.1f %%" : "-", 100 * sum / handshakes);
    return words;
}

static const char *certificate(const json_t *evidence, char words[TLC_WORDS])
{
    const json_t *certificate = json_object_get(evidence, "certificate");
    const json_t *chain = json_object_get(evidence, "chain");
    if (!json_is_object(certificate)) {
        strcpy(words, "-");
        return words;
    }
    snprintf(words, TLC_WORDS, "%s, chain of %lld, %lld bytes, %s",
             text_of(certificate, "key_type"),
             (long long)json_integer_value(json_object_get(chain, "depth")),
             (long long)json_integer_value(json_object_get(chain, "bytes")),
             json_is_true(json_object_get(evidence, "verified")) ? "verified" : "not verified");
    return words;
}

static const char *provider(const json_t *sample, char words[TLC_WORDS])
{
    const json_t *stay = json_object_get(sample, "stay");
    const json_t *used = json_object_get(json_object_get(stay, "server_counters"), "provider");
    snprintf(words, TLC_WORDS, "%s", used ? text_of(used, "name") : "none");
    return words;
}

static void tell_negotiated(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},    {"version", false, 0},     {"cipher", false, 0},  {"group", false, 0},
        {"resumed", true, 0}, {"certificate", false, 1}, {"provider", false, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *samples = samples_of(model, i), *sample = sample_with(samples, "evidence");
        char words[6][TLC_WORDS];
        if (!sample || !strcmp(model->arms[i].workload, "primitive"))
            continue;
        tlc_tell_row(telling, &table,
                     (const char *const[]){
                         model->arms[i].name, negotiated(samples, "version", words[0]),
                         negotiated(samples, "cipher", words[1]),
                         negotiated(samples, "group", words[2]), resumed(samples, words[3]),
                         certificate(json_object_get(sample, "evidence"), words[4]),
                         provider(sample, words[5])});
    }
    tlc_tell_section(telling, "negotiated",
                     "Version, cipher, group and resumption as counted over all "
                     "handshakes; the certificate as the probe verified it, and its "
                     "hash compared in every full handshake.",
                     &table);
}

// The median over samples of a percentile of a latency; "-" when it was not taken.
static const char *latency(const json_t *samples, const char *point, const char *percentile,
                           char words[TLC_WORDS])
{
    double values[MAX_SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(samples) && count < MAX_SAMPLES; i++) {
        const json_t *counters = json_object_get(json_array_get(samples, i), "counters");
        const json_t *of = json_object_get(json_object_get(counters, "latency_us"), point);
        const json_t *value = json_object_get(of, percentile);
        if (json_is_number(value))
            values[count++] = json_number_value(value) / 1000;
    }
    if (!count)
        strcpy(words, "-");
    else
        snprintf(words, TLC_WORDS, "%.3f", tlc_median(values, count));
    return words;
}

static void tell_echoes(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},        {"bytes", true, 0},     {"connected ms", true, 0},
        {"finished ms", true, 0}, {"echoed ms", true, 0}, {"echoed p99 ms", true, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *samples = samples_of(model, i);
        json_int_t bytes = json_integer_value(json_object_get(model->arms[i].settings, "echo"));
        char words[5][TLC_WORDS];
        if (!bytes)
            continue;
        snprintf(words[0], TLC_WORDS, "%lld", (long long)bytes);
        tlc_tell_row(telling, &table,
                     (const char *const[]){model->arms[i].name, words[0],
                                           latency(samples, "connect", "p50", words[1]),
                                           latency(samples, "finished", "p50", words[2]),
                                           latency(samples, "echoed", "p50", words[3]),
                                           latency(samples, "echoed", "p99", words[4])});
    }
    tlc_tell_section(telling, "echo",
                     "From the start of the connect until the connection was there, the "
                     "handshake finished and the echo compared: medians (and the 99th "
                     "percentile) of each sample, and their median over the samples.",
                     &table);
}

static const char *allocation(const json_t *allocations, const char *side, const char *what,
                              char words[TLC_WORDS])
{
    const json_t *value = json_object_get(json_object_get(allocations, side), what);
    if (json_is_number(value))
        snprintf(words, TLC_WORDS, strcmp(what, "count") ? "%.0f" : "%.1f",
                 json_number_value(value));
    else
        strcpy(words, "-");
    return words;
}

static const json_t *allocations_of(const json_t *samples)
{
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *stay = json_object_get(json_array_get(samples, i), "stay");
        const json_t *allocations = json_object_get(stay, "allocations");
        if (json_is_object(allocations))
            return allocations;
    }
    return NULL;
}

static void tell_allocations(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {{"arm", false, 0},
                                                      {"server count", true, 0},
                                                      {"server bytes", true, 0},
                                                      {"client count", true, 0},
                                                      {"client bytes", true, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *allocations = allocations_of(samples_of(model, i));
        char words[4][TLC_WORDS];
        if (!allocations)
            continue;
        tlc_tell_row(telling, &table,
                     (const char *const[]){model->arms[i].name,
                                           allocation(allocations, "server", "count", words[0]),
                                           allocation(allocations, "server", "bytes", words[1]),
                                           allocation(allocations, "client", "count", words[2]),
                                           allocation(allocations, "client", "bytes", words[3])});
    }
    tlc_tell_section(telling, "allocations",
                     "Memory allocations for one handshake and the bytes asked for, "
                     "counted in processes of their own, one handshake after the other; "
                     "the client is the stack's (engine full).",
                     &table);
}

bool tlc_evidence_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    tell_negotiated(&telling, model);
    tell_echoes(&telling, model);
    tell_allocations(&telling, model);
    return !telling.broken;
}
