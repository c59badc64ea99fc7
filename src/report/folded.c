// Folded stacks of attributed arms, "arm;component;outermost;...;leaf samples", as flame graph
// tools read them.
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/exporters.h"

// Spaces part the count, semicolons the frames; what a result holds may be anybody's.
static void put_name(FILE *to, const char *name)
{
    for (; name && *name; name++)
        fputc(*name == ';' || (unsigned char)*name < ' ' ? '_' : *name, to);
}

static void put_stack(FILE *to, const char *arm, const json_t *frames, const char *numbers,
                      json_int_t count)
{
    char *rest;
    put_name(to, arm);
    while (*numbers) {
        long number = strtol(numbers, &rest, 10);
        if (rest == numbers)
            break;
        const char *name =
            number < 0 ? NULL : json_string_value(json_array_get(frames, (size_t)number));
        fputc(';', to);
        put_name(to, name ? name : "unknown");
        numbers = rest;
    }
    fprintf(to, " %" JSON_INTEGER_FORMAT "\n", count);
}

enum tlc_status tlc_export_folded(const struct tlc_report_model *model,
                                  const struct tlc_published *published,
                                  const struct tlc_report_options *options, FILE *to,
                                  struct tlc_error *error)
{
    (void)published;
    (void)options;
    size_t stacks = 0, index;
    json_t *sample, *count;
    const char *numbers;
    for (size_t i = 0; i < model->arm_count; i++)
        json_array_foreach((json_t *)(uintptr_t)model->arms[i].sample_list, index, sample)
        {
            const json_t *told = json_object_get(json_object_get(sample, "stay"), "attribution");
            json_object_foreach(json_object_get(told, "stacks"), numbers, count)
            {
                put_stack(to, model->arms[i].name, json_object_get(told, "frames"), numbers,
                          json_integer_value(count));
                stacks++;
            }
        }
    return stacks ? TLC_OK
                  : tlc_fail(error, TLC_USAGE,
                             "report: format 'folded': no arm was attributed; measure with "
                             "attribute: true, or tlscost attribute");
}
