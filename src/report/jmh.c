// Arms as JMH's JSON results (org.openjdk.jmh.results.format.JSONResultFormat): average time mode,
// a fork for each block, an iteration for each slice. Arms and samples that were refused are left
// out.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/exporters.h"
#include "report/text.h"
#include "report/words.h"
#include "stats/stats.h"
#include "stats/student.h"

struct values {
    double *all;
    size_t count, forks, iterations; // iterations: the most of a fork
};

static double slice_cost(const json_t *slice)
{
    return tlc_json_number(slice, "cost_us") / tlc_json_number(slice, "handshakes");
}

// The costs of one sample's slices, and all of them one after the other.
static json_t *fork_data(const json_t *sample, struct values *values)
{
    const json_t *slices = json_object_get(sample, "slices");
    json_t *data = json_array();
    for (size_t i = 0; i < json_array_size(slices); i++) {
        double cost = slice_cost(json_array_get(slices, i));
        if (!isfinite(cost))
            continue;
        values->all[values->count++] = cost;
        json_array_append_new(data, json_real(cost));
    }
    return data;
}

static json_t *raw_data(const struct tlc_report_arm *arm, struct values *values)
{
    json_t *raw = json_array();
    size_t slices = 0, index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample) slices +=
        json_array_size(json_object_get(sample, "slices"));
    *values = (struct values){.all = calloc(slices + 1, sizeof *values->all)};
    json_array_foreach((json_t *)(uintptr_t)arm->sample_list, index, sample)
    {
        if (!values->all || !json_is_true(json_object_get(sample, "accepted")))
            continue;
        json_t *data = fork_data(sample, values);
        size_t iterations = json_array_size(data);
        values->iterations = iterations > values->iterations ? iterations : values->iterations;
        values->forks += iterations > 0;
        if (iterations)
            json_array_append(raw, data);
        json_decref(data);
    }
    return raw;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// By rank, between neighbours in proportion; sorts the values.
static json_t *percentiles(double *values, size_t count)
{
    static const struct {
        const char *name;
        double at;
    } wanted[] = {{"0.0", 0},        {"50.0", 0.5},       {"90.0", 0.9},
                  {"95.0", 0.95},    {"99.0", 0.99},      {"99.9", 0.999},
                  {"99.99", 0.9999}, {"99.999", 0.99999}, {"99.9999", 0.999999},
                  {"100.0", 1}};
    json_t *object = json_object();
    qsort(values, count, sizeof *values, ascending);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        double place = wanted[i].at * (double)(count - 1);
        size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
        double value = values[below] + (place - (double)below) * (values[above] - values[below]);
        json_object_set_new(object, wanted[i].name, json_real(value));
    }
    return object;
}

// JMH writes "NaN" as text where it has no number.
static json_t *number_or_nan(double value)
{
    return isfinite(value) ? json_real(value) : json_string("NaN");
}

static json_t *metric(struct values *values, json_t *raw)
{
    // The mean and the interval at 99.9 % by Student's t, as JMH makes them.
    struct tlc_interval mean = tlc_student_interval(values->all, values->count, 0.999);
    return json_pack("{s:o, s:o, s:[o, o], s:o, s:s, s:o}", "score", number_or_nan(mean.estimate),
                     "scoreError", number_or_nan(mean.high - mean.estimate), "scoreConfidence",
                     number_or_nan(mean.low), number_or_nan(mean.high), "scorePercentiles",
                     percentiles(values->all, values->count), "scoreUnit", "us/op", "rawData", raw);
}

static json_t *milliseconds(const json_t *schedule, const char *member)
{
    return json_sprintf("%g ms", tlc_json_number(schedule, member) / 1000);
}

// "tlscost.certificates.rsa-2048", which the visualiser parts at its last dots.
static json_t *benchmark_name(const struct tlc_report_model *model,
                              const struct tlc_report_arm *arm)
{
    char *plain = tlc_text_plain(tlc_report_arm_name(model, arm), true);
    for (char *at = plain; at && *at; at++)
        if (*at == ' ' || *at == '.')
            *at = *at == ' ' ? '_' : '-';
    json_t *name = json_sprintf("tlscost.%s.%s", model->name, plain ? plain : "arm");
    free(plain);
    return name ? name : json_string("tlscost.arm");
}

// What the arm's settings tell, as JMH's parameters.
static json_t *parameters(const struct tlc_report_arm *arm)
{
    static const char *const keys[] = {"stack", "certificate", "groups", "version", "resumption"};
    static const char *const of_primitive[] = {"stack", "provider", "operation"};
    bool primitive = !strcmp(arm->workload, "primitive");
    size_t count =
        primitive ? sizeof of_primitive / sizeof *of_primitive : sizeof keys / sizeof *keys;
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *key = primitive ? of_primitive[i] : keys[i];
        const char *value = tlc_report_setting(arm, key);
        if (value)
            json_object_set_new(object, key, json_string(value));
    }
    return object;
}

// NULL when no sample was accepted.
static json_t *result_of(const struct tlc_report_model *model, const struct tlc_report_arm *arm)
{
    const json_t *schedule = json_object_get(model->plan, "schedule");
    struct values values;
    json_t *raw = raw_data(arm, &values);
    if (!values.count) {
        free(values.all);
        json_decref(raw);
        return NULL;
    }
    json_t *result = json_pack(
        "{s:s, s:o, s:s, s:i, s:I, s:s, s:[], s:s, s:s, s:s}", "jmhVersion", "1.37", "benchmark",
        benchmark_name(model, arm), "mode", "avgt", "threads", 1, "forks", (json_int_t)values.forks,
        "jvm", "none", "jvmArgs", "jdkVersion", "none", "vmName", "none", "vmVersion", "none");
    json_t *rest =
        json_pack("{s:i, s:o, s:i, s:I, s:o, s:i, s:o, s:o, s:{}}", "warmupIterations", 1,
                  "warmupTime", milliseconds(schedule, "warm_up_us"), "warmupBatchSize", 1,
                  "measurementIterations", (json_int_t)values.iterations, "measurementTime",
                  milliseconds(schedule, "slice_us"), "measurementBatchSize", 1, "params",
                  parameters(arm), "primaryMetric", metric(&values, raw), "secondaryMetrics");
    json_object_update(result, rest);
    json_decref(rest);
    free(values.all);
    return result;
}

enum tlc_status tlc_export_jmh(const struct tlc_report_model *model,
                               const struct tlc_published *published,
                               const struct tlc_report_options *options, FILE *to,
                               struct tlc_error *error)
{
    (void)published, (void)options;
    json_t *results = json_array();
    for (size_t i = 0; i < model->arm_count; i++) {
        json_t *result = model->arms[i].accepted ? result_of(model, &model->arms[i]) : NULL;
        if (result)
            json_array_append_new(results, result);
    }
    if (json_dumpf(results, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) < 0)
        tlc_fail(error, TLC_ENVIRONMENT, "report: write");
    fputc('\n', to);
    json_decref(results);
    return TLC_OK;
}
