// A configuration that no client can shake hands with is refused before it listens, and not by a
// list of rules: the stack itself tries it, once, in memory.
#include <string.h>

#include "base/names.h"
#include "server/server.h"
#include "stacks/self_test.h"

// Of a table of thousands of names the first ones are tried: its certificates differ in names only.
enum { MOST_GROUPS = 32, MOST_CERTIFICATES = 32 };

static bool holds(const uint16_t *codes, size_t count, uint16_t code)
{
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code)
            return true;
    return false;
}

// A client that can do all that the server can. In TLS 1.2 it must also have the curve of an ECDSA
// certificate (RFC 8422, 5.1.1), which need not be among the server's groups.
static size_t client_groups(const struct tlc_server_options *options, uint16_t *groups)
{
    static const uint16_t curves[] = {TLC_GROUP_SECP256R1, TLC_GROUP_SECP384R1};
    const struct tlc_stack_config *config = &options->stack;
    struct tlc_stack_error ignored;
    size_t count = config->group_count < MOST_GROUPS - 2 ? config->group_count : MOST_GROUPS - 2;
    if (!count)
        return 0; // the library's own
    memcpy(groups, config->groups, count * sizeof *groups);
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        if (!holds(groups, count, curves[i]) &&
            options->plugin->stack->supports(TLC_FEATURE_GROUP, curves[i], &ignored))
            groups[count++] = curves[i];
    return count;
}

static enum tlc_status shake_hands(const struct tlc_server_options *options,
                                   struct tlc_stack_context *client,
                                   struct tlc_stack_context *server, struct tlc_error *error)
{
    const struct tlc_stack_connection_options names = {.server_name = "localhost"};
    struct tlc_reason reason = {""};
    struct tlc_pair pair;
    if (!tlc_pair_open(&pair, options->plugin->stack, false, client, server, &names, &reason))
        return TLC_OK; // it cannot be tried
    bool good = tlc_pair_handshake(&pair, &reason);
    tlc_pair_free(&pair);
    if (good)
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "serve: stack %s: no client can shake hands with these options (%s); choose "
                    "certificate, groups and ciphers that the versions have in common",
                    options->plugin->id, reason.text);
}

enum tlc_status tlc_server_trial(const struct tlc_server_options *options, struct tlc_error *error)
{
    const struct tlc_stack *stack = options->plugin->stack;
    const struct tlc_stack_config *config = &options->stack;
    uint16_t groups[MOST_GROUPS];
    if (config->client_auth == TLC_CLIENT_AUTH_REQUIRE)
        return TLC_OK; // it would need a certificate of a client
    struct tlc_stack_config client_config = {
        .min_version = config->min_version,
        .max_version = config->max_version,
        .groups = groups,
        .group_count = client_groups(options, groups),
        .ciphers = config->ciphers,
        .cipher_count = config->cipher_count,
        .alpn = config->alpn,
        .alpn_count = config->alpn_count,
        .tickets_per_handshake = -1,
    };
    struct tlc_stack_error ignored;
    struct tlc_stack_config tried = *config;
    enum tlc_status status = TLC_OK;
    if (tried.certificate_count > MOST_CERTIFICATES)
        tried.certificate_count = MOST_CERTIFICATES;
    struct tlc_stack_context *client =
        stack->context_new(TLC_STACK_CLIENT, &client_config, &ignored);
    struct tlc_stack_context *server =
        client ? stack->context_new(TLC_STACK_SERVER, &tried, &ignored) : NULL;
    if (server) // what is wrong with a server's context alone is told at its start
        status = shake_hands(options, client, server, error);
    if (server)
        stack->context_free(server);
    if (client)
        stack->context_free(client);
    return status;
}
