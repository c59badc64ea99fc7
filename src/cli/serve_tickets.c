#include "cli/serve.h"

#include <string.h>

#include "cli/common.h"

enum tlc_status tlc_serve_tickets(const char *text, struct tlc_stack_config *config,
                                  struct tlc_error *error)
{
    uint64_t number = 0;
    config->tickets_per_handshake = -1;
    if (!strcmp(text, "stateful")) {
        config->ticket_mode = TLC_TICKETS_STATEFUL;
        return TLC_OK;
    }
    if (strcmp(text, "off") != 0 &&
        tlc_parse_number("--tickets", text, 0, 255, &number, error) != TLC_OK)
        return tlc_fail(error, TLC_USAGE,
                        "--tickets: '%s': not a number from 0 to 255, 'off' or 'stateful'", text);
    config->ticket_mode = number ? TLC_TICKETS_STATELESS : TLC_TICKETS_OFF;
    config->tickets_per_handshake = (int)number;
    return TLC_OK;
}

static enum tlc_status parse_period(const char *option, const char *text, uint64_t low_us,
                                    uint64_t *us, struct tlc_error *error)
{
    const uint64_t most_us = UINT64_C(366) * 24 * 3600 * 1000000;
    enum tlc_status status = tlc_parse_duration(text, us, error);
    if (status == TLC_OK && (*us < low_us || *us > most_us))
        status = tlc_fail(error, TLC_USAGE, "%s: '%s': not from %s to a year", option, text,
                          low_us < 1000000 ? "100ms" : "1s");
    return status;
}

enum tlc_status tlc_serve_rotate(const char *text, struct tlc_server_options *server,
                                 struct tlc_error *error)
{
    uint64_t us = 0;
    enum tlc_status status = parse_period("--rotate", text, 100000, &us, error);
    server->rotate_ms = us / 1000;
    return status;
}

enum tlc_status tlc_serve_ticket_lifetime(const char *text, uint32_t *seconds,
                                          struct tlc_error *error)
{
    uint64_t us = 0;
    enum tlc_status status = parse_period("--ticket-lifetime", text, 1000000, &us, error);
    *seconds = (uint32_t)(us / 1000000);
    return status;
}

enum tlc_status tlc_serve_mistake(const char *text, struct tlc_server_options *server,
                                  struct tlc_error *error)
{
    server->own_keys = true;
    if (!strcmp(text, "key-per-worker")) {
        server->key_per_worker = true;
        return TLC_OK;
    }
    if (!tlc_rotation_parse(text, &server->rotation) || server->rotation == TLC_ROTATE_SAFE)
        return tlc_fail(error, TLC_USAGE,
                        "--mistake: '%s': unknown; write abrupt, no-previous, trap or "
                        "key-per-worker",
                        text);
    return TLC_OK;
}
