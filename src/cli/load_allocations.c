// Memory allocations for each handshake of a load.
#include <stdio.h>

#include "cli/load.h"

static enum tlc_status read_server(const struct tlc_load_options *options,
                                   struct tlc_allocations *counts, struct tlc_error *error)
{
    if (options->server_allocations)
        return tlc_allocations_read_file(options->server_allocations, counts, error);
    *counts = (struct tlc_allocations){0};
    return TLC_OK;
}

enum tlc_status tlc_load_allocations_begin(const struct tlc_load_options *options,
                                           struct tlc_load_allocations *before,
                                           struct tlc_error *error)
{
    tlc_allocations_read(&before->client);
    return read_server(options, &before->server, error);
}

enum tlc_status tlc_load_allocations_end(const struct tlc_load_options *options,
                                         const struct tlc_load_allocations *before,
                                         uint64_t handshakes, json_t **told,
                                         struct tlc_error *error)
{
    struct tlc_allocations client, server;
    bool full = options->target.engine == TLC_ENGINE_FULL && options->count_allocations;
    *told = NULL;
    tlc_allocations_read(&client);
    enum tlc_status status = read_server(options, &server, error);
    if (status == TLC_OK)
        *told = json_pack("{s:o, s:o}", "client",
                          full ? tlc_allocations_per_handshake(&before->client, &client, handshakes)
                               : json_null(),
                          "server",
                          options->server_allocations
                              ? tlc_allocations_per_handshake(&before->server, &server, handshakes)
                              : json_null());
    return status;
}

void tlc_load_allocations_print(const json_t *told)
{
    static const char *const sides[] = {"client", "server"};
    for (size_t i = 0; told && i < 2; i++) {
        const json_t *side = json_object_get(told, sides[i]);
        if (json_is_object(side))
            printf("  allocations of the %s a handshake: %.1f, %.0f bytes\n", sides[i],
                   json_real_value(json_object_get(side, "count")),
                   json_real_value(json_object_get(side, "bytes")));
    }
}
