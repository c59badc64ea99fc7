#include "server/support.h"

#include "base/names.h"
#include "server/keys.h"

static enum tlc_status need(const struct tlc_server_options *options,
                            enum tlc_stack_feature feature, uint16_t code, const char *what,
                            struct tlc_error *error)
{
    struct tlc_stack_error why = {.text = ""};
    if (options->plugin->stack->supports(feature, code, &why))
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "serve: stack %s: %s: %s; 'tlscost stacks' lists what each stack has",
                    options->plugin->id, what, why.text[0] ? why.text : "not supported");
}

static enum tlc_status need_all(const struct tlc_server_options *options,
                                enum tlc_stack_feature feature, enum tlc_name_kind kind,
                                const uint16_t *codes, size_t count, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; i < count && status == TLC_OK; i++)
        if (codes[i])
            status = need(options, feature, codes[i], tlc_name(kind, codes[i]), error);
    return status;
}

static bool has_server_names(const struct tlc_stack_config *config)
{
    for (size_t i = 0; i < config->certificate_count; i++)
        if (config->certificates[i].server_name)
            return true;
    return false;
}

static enum tlc_status check_codes(const struct tlc_server_options *options,
                                   struct tlc_error *error)
{
    const struct tlc_stack_config *config = &options->stack;
    const uint16_t versions[] = {config->min_version, config->max_version};
    enum tlc_status status =
        need_all(options, TLC_FEATURE_VERSION, TLC_NAME_VERSION, versions, 2, error);
    if (status == TLC_OK)
        status = need_all(options, TLC_FEATURE_GROUP, TLC_NAME_GROUP, config->groups,
                          config->group_count, error);
    if (status == TLC_OK)
        status = need_all(options, TLC_FEATURE_CIPHER, TLC_NAME_CIPHER, config->ciphers,
                          config->cipher_count, error);
    if (status == TLC_OK)
        status = need_all(options, TLC_FEATURE_SIGNATURE, TLC_NAME_SIGNATURE, config->signatures,
                          config->signature_count, error);
    return status;
}

static enum tlc_status check_features(const struct tlc_server_options *options,
                                      struct tlc_error *error)
{
    const struct tlc_stack_config *config = &options->stack;
    const struct {
        const char *what;
        enum tlc_stack_feature feature;
        uint16_t code;
        bool asked;
    } wanted[] = {
        {"psk_ke", TLC_FEATURE_PSK_MODE, 0, config->psk_modes & TLC_PSK_KE},
        {"psk_dhe_ke", TLC_FEATURE_PSK_MODE, 1, config->psk_modes & TLC_PSK_DHE_KE},
        {"session tickets", TLC_FEATURE_TICKETS, TLC_TICKETS_STATELESS,
         config->ticket_mode == TLC_TICKETS_STATELESS},
        {"stateful sessions", TLC_FEATURE_TICKETS, TLC_TICKETS_STATEFUL,
         config->ticket_mode == TLC_TICKETS_STATEFUL},
        {"ticket keys", TLC_FEATURE_TICKET_KEYS, 0,
         config->ticket_key_count || tlc_keys_wanted(options)},
        {"client certificates", TLC_FEATURE_CLIENT_AUTH, 0,
         config->client_auth != TLC_CLIENT_AUTH_NONE},
        {"a cookie in HelloRetryRequests", TLC_FEATURE_COOKIE, 0, config->cookie},
        {"certificates by server name", TLC_FEATURE_SNI_TABLE, 0, has_server_names(config)},
    };
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == TLC_OK; i++)
        if (wanted[i].asked)
            status = need(options, wanted[i].feature, wanted[i].code, wanted[i].what, error);
    return status;
}

enum tlc_status tlc_server_check(const struct tlc_server_options *options, struct tlc_error *error)
{
    const struct tlc_stack *stack = options->plugin->stack;
    if (!stack->connection_on_socket || !stack->handshake || !stack->read || !stack->write ||
        !stack->close || !stack->evidence)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "serve: stack %s: it cannot serve on sockets; choose another stack",
                        options->plugin->id);
    enum tlc_status status = check_codes(options, error);
    return status == TLC_OK ? check_features(options, error) : status;
}
