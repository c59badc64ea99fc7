#include "server/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_int_t tlc_provider_operations(const char *text, json_t *operations)
{
    json_int_t most = 0;
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
        json_object_set_new(operations, word, json_integer(count));
        if (count > most)
            most = count;
    }
    return most;
}

json_t *tlc_server_provider(const struct tlc_host *host)
{
    struct tlc_stack_provider_use use;
    if (!host->stack->provider_use || !host->context ||
        !host->stack->provider_use(host->context, &use))
        return NULL;
    json_t *provider = json_pack("{s:s, s:s}", "name", use.name, "version", use.version);
    json_int_t work = (json_int_t)use.handshakes;
    if (use.operations[0]) {
        json_t *operations = json_object();
        work = tlc_provider_operations(use.operations, operations);
        json_object_set_new(provider, "operations", operations);
    } else {
        json_object_set_new(provider, "handshakes", json_integer(work));
    }
    json_object_set_new(provider, "work", json_integer(work));
    return provider;
}
