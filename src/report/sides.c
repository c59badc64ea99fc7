#include "report/sides.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/telling.h"
#include "report/words.h"
#include "stats/student.h"

static const double JMH_CONFIDENCE = 0.999; // of the errors that JMH prints

static bool has_sides(const struct tlc_report_arm *arm)
{
    return arm->accepted && isfinite(arm->server_us.estimate);
}

const char *tlc_sides_cost(const struct tlc_report_model *model)
{
    const char *workload = tlc_report_setting(model->baseline, "workload");
    const char *side = tlc_report_setting(model->baseline, "side");
    if (!workload || strcmp(workload, "memory") != 0 || !side || !strcmp(side, "server"))
        return "server CPU";
    return !strcmp(side, "both")     ? "CPU of both sides,"
           : !strcmp(side, "client") ? "client CPU"
                                     : "server CPU up to its first flight,";
}

// ---- both sides

static bool is_flight(const struct tlc_report_arm *arm)
{
    const char *side = tlc_report_setting(arm, "side");
    return side && !strcmp(side, "flight");
}

// Bytes that one idle connection takes of the server's memory, `member` being the heap's growth or
// the resident set's; "" when nobody asked.
static void idle_words(const struct tlc_report_arm *arm, const char *member, char *words,
                       size_t capacity)
{
    size_t index;
    json_t *sample;
    *words = '\0';
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample)
    {
        const json_t *idle = json_object_get(json_object_get(sample, "stay"), "idle_connections");
        double count = tlc_json_number(idle, "connections"), bytes = tlc_json_number(idle, member);
        if (count > 0 && bytes > 0)
            snprintf(words, capacity, "%.0f", bytes / count);
    }
}

static void add_sides(struct tlc_telling *telling, struct tlc_table *table,
                      const struct tlc_report_arm *arm)
{
    char server[TLC_WORDS], server_range[TLC_WORDS], client[TLC_WORDS], client_range[TLC_WORDS];
    char rate[TLC_WORDS], heap[64], resident[64];
    struct tlc_figure none = {NAN, NAN, NAN};
    struct tlc_figure of_client = is_flight(arm) ? none : arm->client_us;
    tlc_words_figure(arm->server_us.estimate, server);
    tlc_words_figure_range(arm->server_us, server_range);
    tlc_words_figure(of_client.estimate, client);
    tlc_words_figure_range(of_client, client_range);
    tlc_words_rate(is_flight(arm) ? NAN : arm->rate.estimate, rate);
    idle_words(arm, "heap_bytes", heap, sizeof heap);
    idle_words(arm, "rss_bytes", resident, sizeof resident);
    tlc_tell_row(telling, table,
                 (const char *const[]){arm->name, server, server_range, client, client_range, rate,
                                       heap, resident});
}

static void write_table(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    char server[32], client[32];
    struct tlc_table table;
    snprintf(server, sizeof server, "server %s", telling->emitter->microseconds);
    snprintf(client, sizeof client, "client %s", telling->emitter->microseconds);
    const struct tlc_table_column columns[] = {{"arm", false, 0},
                                               {server, true, 0},
                                               {"server 95 %", true, 0},
                                               {client, true, 0},
                                               {"client 95 %", true, 0},
                                               {"handshakes/s", true, 0},
                                               {"idle heap bytes", true, 1},
                                               {"idle resident bytes", true, 1}};
    enum { COLUMNS = sizeof columns / sizeof *columns, OF_IDLE = 2 };
    tlc_table_init(&table, columns, COLUMNS);
    bool any_idle = false;
    for (size_t i = 0; i < model->arm_count; i++)
        if (has_sides(&model->arms[i])) {
            add_sides(telling, &table, &model->arms[i]);
            any_idle = any_idle || (table.row_count && *table.rows[table.row_count - 1][7]);
        }
    table.column_count -= any_idle ? 0 : OF_IDLE;
    telling->emitter->table(telling->emitter->user, &table);
    table.column_count = COLUMNS;
    tlc_table_free(&table);
    if (any_idle)
        tlc_tell_paragraph(telling, "idle: what the server's side of one finished connection takes "
                                    "of the heap, and of resident memory.");
}

// ---- throughput

struct iterations {
    double *rate; // handshakes a second of each slice
    size_t count, forks;
};

static bool collect(const struct tlc_report_arm *arm, struct iterations *of)
{
    size_t index, k, slices = 0;
    json_t *sample, *slice;
    *of = (struct iterations){.count = 0};
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample) slices +=
        json_array_size(json_object_get(sample, "slices"));
    of->rate = malloc((slices + 1) * sizeof *of->rate);
    if (!of->rate)
        return false;
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample)
    {
        if (!json_is_true(json_object_get(sample, "accepted")))
            continue;
        of->forks++;
        json_array_foreach(json_object_get(sample, "slices"), k, slice) of->rate[of->count++] =
            tlc_json_number(slice, "handshakes") / tlc_json_number(slice, "span_s");
    }
    return true;
}

static void add_throughput(struct tlc_telling *telling, struct tlc_table *table,
                           const struct tlc_report_arm *arm)
{
    struct iterations of;
    char count[64], score[64], error[64];
    if (!collect(arm, &of)) {
        telling->broken = true;
        return;
    }
    struct tlc_interval mean = tlc_student_interval(of.rate, of.count, JMH_CONFIDENCE);
    snprintf(count, sizeof count, "%zu x %zu", of.forks, of.forks ? of.count / of.forks : 0);
    snprintf(score, sizeof score, "%.3f", mean.estimate);
    if (isfinite(mean.high))
        snprintf(error, sizeof error, "%.3f", mean.high - mean.estimate);
    else
        snprintf(error, sizeof error, "-");
    tlc_tell_row(telling, table,
                 (const char *const[]){arm->name, "thrpt", count, score, error, "ops/s"});
    free(of.rate);
}

static void write_throughput(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"benchmark", false, 0}, {"mode", false, 0},          {"forks x iterations", true, 0},
        {"score", true, 0},      {"error (99.9 %)", true, 0}, {"units", false, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++)
        if (has_sides(&model->arms[i]) && !is_flight(&model->arms[i]))
            add_throughput(telling, &table, &model->arms[i]);
    tlc_tell_table(telling, &table);
}

bool tlc_sides_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    size_t arms = 0;
    for (size_t i = 0; i < model->arm_count; i++)
        arms += has_sides(&model->arms[i]);
    if (!arms)
        return true;
    tlc_tell_heading(&telling, 2, "both sides");
    tlc_tell_paragraph(&telling,
                       "CPU %s per handshake of each side, both in one process over "
                       "memory; the client verifies the chain and the name.",
                       emitter->microseconds);
    write_table(&telling, model);
    tlc_tell_heading(&telling, 2, "throughput of both sides, as JMH tells it");
    tlc_tell_paragraph(&telling, "Score: mean of the iterations (slices) of all forks (processes); "
                                 "error: half of Student's 99.9 %% interval over iterations, which "
                                 "takes those of one process for independent.");
    write_throughput(&telling, model);
    return !telling.broken;
}
