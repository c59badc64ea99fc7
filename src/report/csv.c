// All samples as CSV (RFC 4180), one line each, refused ones too; and the whole document as JSON.
#include <math.h>
#include <stdlib.h>

#include "report/exporters.h"
#include "report/text.h"

static const char head[] =
    "arm,role,lever,block,accepted,refused,handshakes,cost_us,rate,client_us,version,cipher,group,"
    "key_type,errors,server_busy,generator_busy,steal,accounting,"
    "workload,operation,provider,arm_accepted,arm_refused\r\n";

static void put_text(FILE *to, const json_t *value, char end)
{
    const char *text = json_string_value(value);
    char *field = text ? tlc_text_csv(text) : NULL;
    if (field)
        fputs(field, to);
    free(field);
    fputc(end, to);
}

static void put_number(FILE *to, const json_t *value, char end)
{
    if (json_is_number(value))
        fprintf(to, "%.9g", json_number_value(value));
    fputc(end, to);
}

// Names of checks: texts of a sample, objects of an arm.
static void put_refused(FILE *to, const json_t *refused, char end)
{
    size_t index;
    json_t *one;
    json_array_foreach(refused, index, one)
    {
        const json_t *name = json_is_object(one) ? json_object_get(one, "check") : one;
        const char *text = json_string_value(name);
        char *field = text ? tlc_text_csv(text) : NULL;
        fprintf(to, "%s%s", index ? ";" : "", field ? field : "");
        free(field);
    }
    fputc(end, to);
}

static const char *truth(const json_t *object)
{
    return json_is_true(json_object_get(object, "accepted")) ? "true" : "false";
}

static void put_errors(FILE *to, const json_t *counters)
{
    json_t *errors = json_object_get(counters, "errors");
    json_int_t sum = 0;
    const char *kind;
    json_t *count;
    json_object_foreach(errors, kind, count) sum += json_integer_value(count);
    if (errors)
        fprintf(to, "%" JSON_INTEGER_FORMAT, sum);
    fputc(',', to);
}

static void put_sample(FILE *to, const json_t *arm, const json_t *settings, const json_t *sample)
{
    const json_t *evidence = json_object_get(sample, "evidence");
    const json_t *stay = json_object_get(sample, "stay");
    put_text(to, json_object_get(arm, "name"), ',');
    put_text(to, json_object_get(arm, "role"), ',');
    put_text(to, json_object_get(arm, "lever"), ',');
    put_number(to, json_object_get(sample, "block"), ',');
    fprintf(to, "%s,", truth(sample));
    put_refused(to, json_object_get(sample, "refused"), ',');
    put_number(to, json_object_get(sample, "handshakes"), ',');
    put_number(to, json_object_get(sample, "cost_us"), ',');
    put_number(to, json_object_get(sample, "rate"), ',');
    put_number(to, json_object_get(sample, "client_us"), ',');
    put_text(to, json_object_get(evidence, "version"), ',');
    put_text(to, json_object_get(evidence, "cipher"), ',');
    put_text(to, json_object_get(evidence, "group"), ',');
    put_text(to, json_object_get(json_object_get(evidence, "certificate"), "key_type"), ',');
    put_errors(to, json_object_get(sample, "counters"));
    put_number(to, json_object_get(stay, "server_busy"), ',');
    put_number(to, json_object_get(stay, "generator_busy"), ',');
    put_number(to, json_object_get(stay, "steal"), ',');
    put_number(to, json_object_get(stay, "accounting"), ',');
    put_text(to, json_object_get(settings, "workload"), ',');
    put_text(to, json_object_get(evidence, "operation"), ',');
    put_text(to, json_object_get(evidence, "provider"), ',');
    // Some checks judge an arm as a whole, whose samples stand.
    fprintf(to, "%s,", truth(arm));
    put_refused(to, json_object_get(arm, "refused"), '\r');
    fputc('\n', to);
}

enum tlc_status tlc_export_csv(const struct tlc_report_model *model,
                               const struct tlc_published *published,
                               const struct tlc_report_options *options, FILE *to,
                               struct tlc_error *error)
{
    (void)published, (void)options, (void)error;
    size_t index, k;
    json_t *arm, *sample;
    fputs(head, to);
    json_array_foreach(json_object_get(model->result, "arms"), index, arm)
    {
        json_array_foreach(json_object_get(arm, "samples"), k, sample)
            put_sample(to, arm, model->arms[index].settings, sample);
    }
    return TLC_OK;
}

enum tlc_status tlc_export_json(const struct tlc_report_model *model,
                                const struct tlc_published *published,
                                const struct tlc_report_options *options, FILE *to,
                                struct tlc_error *error)
{
    (void)published, (void)options;
    if (json_dumpf(model->result, to, JSON_INDENT(2)) < 0)
        return tlc_fail(error, TLC_ENVIRONMENT, "report: json: it cannot be written");
    fputc('\n', to);
    return TLC_OK;
}
