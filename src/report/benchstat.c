// Samples in Go's benchmark data format (golang.org/design/14313-benchmark-format), one line each,
// for benchstat. Refused samples are left out; a configuration line tells how many.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/exporters.h"
#include "report/text.h"
#include "report/words.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text && *text ? text : "not told";
}

static void put_plain(FILE *to, const char *text)
{
    char *plain = tlc_text_plain(text, true);
    fputs(plain ? plain : "?", to);
    free(plain);
}

// A key begins with a small letter and holds no space, colon or capital.
static void put_setting(FILE *to, const char *key, const char *suffix, const char *value)
{
    fputs(key, to);
    for (const char *at = suffix; *at; at++)
        fputc(isalnum((unsigned char)*at) || strchr(".-_", *at) ? tolower((unsigned char)*at) : '-',
              to);
    fputs(": ", to);
    put_plain(to, value);
    fputc('\n', to);
}

static const char *go_architecture(const char *machine)
{
    return !strcmp(machine, "x86_64") ? "amd64" : !strcmp(machine, "aarch64") ? "arm64" : machine;
}

static void put_head(const struct tlc_report_model *model, FILE *to)
{
    size_t index;
    json_t *stack;
    const char *machine = json_string_value(json_object_get(model->environment, "architecture"));
    put_setting(to, "goos", "", "linux");
    if (machine)
        put_setting(to, "goarch", "", go_architecture(machine));
    put_setting(to, "pkg", "", model->name);
    put_setting(to, "cpu", "", text_of(model->environment, "cpu_model"));
    json_array_foreach(model->stacks, index, stack)
    {
        put_setting(to, "stack-", text_of(stack, "id"), text_of(stack, "version"));
    }
    fprintf(to, "refused-samples: %zu\n", model->refused_samples);
    // CPU time of the arm for one handshake or operation; the samples may have any distribution.
    fputs("Unit ns/op better=lower assume=nothing\nUnit op/s better=higher assume=nothing\n", to);
}

// "BenchmarkHandshake/arm=ed25519": no space may stand in a name.
static void put_name(FILE *to, const struct tlc_report_model *model,
                     const struct tlc_report_arm *arm)
{
    char *plain = tlc_text_plain(tlc_report_arm_name(model, arm), true);
    fprintf(to, "Benchmark%s/arm=", strcmp(arm->workload, "primitive") ? "Handshake" : "Operation");
    for (const char *at = plain ? plain : "?"; *at; at++)
        fputc(*at == ' ' ? '_' : *at, to);
    free(plain);
}

static void put_sample(FILE *to, const struct tlc_report_model *model,
                       const struct tlc_report_arm *arm, const json_t *sample)
{
    double cost_us = tlc_json_number(sample, "cost_us"),
           count = tlc_json_number(sample, "handshakes");
    double rate = tlc_json_number(sample, "rate");
    if (!json_is_true(json_object_get(sample, "accepted")) || !isfinite(cost_us) || !(count >= 1))
        return;
    put_name(to, model, arm);
    fprintf(to, "\t%.0f\t%.6g ns/op", count, cost_us * 1000);
    if (rate > 0)
        fprintf(to, "\t%.6g op/s", rate);
    fputc('\n', to);
}

enum tlc_status tlc_export_benchstat(const struct tlc_report_model *model,
                                     const struct tlc_published *published,
                                     const struct tlc_report_options *options, FILE *to,
                                     struct tlc_error *error)
{
    (void)published, (void)options, (void)error;
    put_head(model, to);
    // Every accepted sample is told; that its arm has no figure here is, too.
    for (size_t i = 0; i < model->arm_count; i++)
        if (!model->arms[i].accepted)
            put_setting(to, "refused-", "arm", tlc_report_arm_name(model, &model->arms[i]));
    for (size_t i = 0; i < model->arm_count; i++)
        for (size_t k = 0; k < json_array_size(model->arms[i].sample_list); k++)
            put_sample(to, model, &model->arms[i], json_array_get(model->arms[i].sample_list, k));
    return TLC_OK;
}
