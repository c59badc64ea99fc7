// What the counters say of the crypto provider in a library.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/loader.h"

// Adds "NAME=COUNT NAME=COUNT" to what an object counts already.
static void add_operations(const char *text, json_t *operations)
{
    char copy[sizeof((struct tlc_stack_provider_use *)0)->operations], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strsep(&rest, " "));) {
        char *equals = strchr(word, '='), *end = NULL;
        if (!equals || equals == word)
            continue;
        *equals = '\0';
        json_int_t count = strtoll(equals + 1, &end, 10);
        if (end == equals + 1 || *end || count < 0)
            continue;
        count += json_integer_value(json_object_get(operations, word));
        json_object_set_new(operations, word, json_integer(count));
    }
}

static json_int_t largest(const json_t *operations)
{
    json_int_t most = 0;
    const char *name;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)operations, name, count)
    {
        if (json_integer_value(count) > most)
            most = json_integer_value(count);
    }
    return most;
}

// Every context has the provider loaded in a library context of its own, with counts of its own.
json_t *tlc_provider_describe_use(const struct tlc_stack *stack,
                                  struct tlc_stack_context *const *contexts, size_t count)
{
    struct tlc_stack_provider_use use = {0};
    json_t *operations = json_object();
    json_int_t handshakes = 0;
    bool used = false;
    for (size_t i = 0; stack->provider_use && i < count; i++)
        if (stack->provider_use(contexts[i], &use)) {
            used = true;
            handshakes += (json_int_t)use.handshakes;
            add_operations(use.operations, operations);
        }
    json_t *provider = NULL;
    if (used && json_object_size(operations))
        provider = json_pack("{s:s, s:s, s:O, s:I}", "name", use.name, "version", use.version,
                             "operations", operations, "work", largest(operations));
    else if (used)
        provider = json_pack("{s:s, s:s, s:I, s:I}", "name", use.name, "version", use.version,
                             "handshakes", handshakes, "work", handshakes);
    json_decref(operations);
    return provider;
}
