// A count in words.
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/count.h"

const char *tlc_count_unit(const json_t *document)
{
    const char *event = json_string_value(json_object_get(document, "event"));
    const struct tlc_event_kind *kind = event ? tlc_event_kind(event) : NULL;
    return kind ? kind->unit : "events";
}

// Names come from programs and libraries; only what can be printed is.
static void print_name(const char *name, int width)
{
    for (; *name && width > 0; name++, width--)
        putchar(isprint((unsigned char)*name) ? *name : '?');
    printf("%*s", width, "");
}

static void print_functions(const json_t *functions)
{
    size_t index;
    const json_t *function;
    json_array_foreach(functions, index, function)
    {
        printf("  %12.0f  %5.1f %%  ", tlc_json_number(function, "instructions"),
               100 * tlc_json_number(function, "share"));
        print_name(json_string_value(json_object_get(function, "name")), 44);
        printf("  ");
        print_name(json_string_value(json_object_get(function, "object")), 30);
        putchar('\n');
    }
}

static void print_side(const json_t *document, const char *name)
{
    const json_t *side = tlc_count_side(document, name);
    const json_t *against = json_object_get(json_object_get(document, "against"), name);
    printf("%s: %.0f %s a handshake (counts apart by %.2f %%)\n", name,
           tlc_json_number(side, "per_handshake"), tlc_count_unit(document),
           100 * tlc_json_number(side, "spread"));
    if (isfinite(tlc_json_number(side, "kernel")))
        printf("  user space %.0f, kernel %.0f\n", tlc_json_number(side, "user"),
               tlc_json_number(side, "kernel"));
    if (against)
        printf("  %.4f times what was stored (%.4f to %.4f)\n",
               tlc_json_number(against, "estimate"), tlc_json_number(against, "low"),
               tlc_json_number(against, "high"));
    print_functions(json_object_get(side, "functions"));
    putchar('\n');
}

static void print_scope(const json_t *document)
{
    const char *space = json_string_value(json_object_get(document, "space"));
    const char *without = json_string_value(json_object_get(document, "kernel_reason"));
    if (space && !strcmp(space, "undivided"))
        printf("User space and kernel together; this event does not tell them apart.\n");
    else if (space && !strcmp(space, "user"))
        printf("User space only; the kernel's work is in no count.\n");
    if (without)
        printf("The kernel's share: %s.\n", without);
}

static void print_hint(const json_t *document)
{
    const json_t *perf = json_object_get(document, "perf");
    const char *method = json_string_value(json_object_get(document, "method"));
    if (method && !strcmp(method, "perf"))
        printf("Functions are not told by perf; --by callgrind tells them.\n");
    else if (!json_is_true(json_object_get(perf, "available")))
        printf("Hardware counters: %s.\n", json_string_value(json_object_get(perf, "reason")));
    else
        printf("--by perf counts with this machine's hardware counters.\n");
}

void tlc_count_print(const json_t *document)
{
    const json_t *configuration = json_object_get(document, "configuration");
    printf("stack %s, certificate %s, group %s, share %s\n\n",
           json_string_value(json_object_get(configuration, "stack")),
           json_string_value(json_object_get(configuration, "certificate")),
           json_string_value(json_object_get(configuration, "groups")),
           json_string_value(json_object_get(configuration, "share")));
    for (int i = 0; i < 2; i++)
        print_side(document, tlc_count_sides[i]);
    print_scope(document);
    print_hint(document);
}
