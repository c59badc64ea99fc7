// tlscost tickets: the audit of running servers' resumption.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/tickets.h"
#include "evidence/audit.h"
#include "measure/machine.h"
#include "result/result.h"

enum {
    KEY_JSON = 256,
    KEY_SNI,
    KEY_GROUPS,
    KEY_VISITS,
    KEY_AFTER,
    KEY_ROTATE_COMMAND,
    KEY_ROTATE_WAIT,
    KEY_WATCH,
    KEY_PAUSE,
    KEY_TIMEOUT
};

enum { GROUPS = 16, WORDS = 32, DAY_S = 24 * 3600 };

struct options {
    const char *addresses[TLC_AUDIT_SERVERS];
    uint16_t groups[GROUPS];
    uint64_t after_us[TLC_AUDIT_TIMES];
    char *command, *words[WORDS + 1];
    struct tlc_audit_options audit;
    bool json;
    struct tlc_error error;
};

static const struct argp_option argp_options[] = {
    {"sni", KEY_SNI, "NAME", 0, "Server name to send (default: the host of each address)", 0},
    {"groups", KEY_GROUPS, "A:B", 0,
     "Groups to offer in TLS 1.3 (default X25519:P-256:P-384:X25519MLKEM768)", 0},
    {"visits", KEY_VISITS, "N", 0,
     "Visits in a row, each with the ticket of the one before (default 10)", 0},
    {"after", KEY_AFTER, "TIME", 0, "Offer a ticket again after this long (may be repeated)", 0},
    {"rotate-command", KEY_ROTATE_COMMAND, "COMMAND", 0,
     "Run COMMAND (split at spaces, without a shell) and offer a ticket from before it", 0},
    {"rotate-wait", KEY_ROTATE_WAIT, "TIME", 0, "What the command gets to take effect (default 1s)",
     0},
    {"watch", KEY_WATCH, "TIME", 0,
     "Offer a ticket from the start again and again for this long, while keys may be rotated", 0},
    {"pause", KEY_PAUSE, "TIME", 0, "Between two visits of one server (default 50ms)", 0},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Give up on a visit after this long (default 5s)", 0},
    {"json", KEY_JSON, NULL, 0, "Print a JSON document instead of text", 0},
    {0},
};

static const char documentation[] =
    "Visit running TLS servers and find out whether resumption works: tickets, their lifetime, PSK "
    "modes, whether a ticket is accepted twice, later, by the other servers and after a rotation; "
    "and what to do where it does not."
    "\vThe visits are single connections, few in number, and the certificate is not verified.\n\n"
    "Examples:\n"
    "  tlscost tickets example.org:443\n"
    "  tlscost tickets --sni example.org --after 60s 192.0.2.1:443 192.0.2.2:443\n"
    "  tlscost tickets --rotate-command 'systemctl reload nginx' localhost:443\n"
    "  tlscost tickets --watch 60s --json localhost:443\n\n"
    "A server that cannot be visited is named, and the others are audited.\n\n"
    "Exit code 0 means that the audit was made, whatever it found; 2 that a server could not be "
    "reached; 3 that one refused the handshake.";

static enum tlc_status parse_time(const char *option, const char *text, uint64_t low_us,
                                  uint64_t *us, struct tlc_error *error)
{
    enum tlc_status status = tlc_parse_duration(text, us, error);
    if (status == TLC_OK && (*us < low_us || *us > DAY_S * UINT64_C(1000000)))
        status = tlc_fail(error, TLC_USAGE, "%s: '%s': not from %s to a day", option, text,
                          low_us ? "1ms" : "0");
    return status;
}

// Times come in any order and are needed in rising order.
static enum tlc_status add_time(const char *text, struct options *options)
{
    struct tlc_audit_options *audit = &options->audit;
    uint64_t us = 0;
    if (audit->after_count == TLC_AUDIT_TIMES)
        return tlc_fail(&options->error, TLC_USAGE, "--after: at most %d times", TLC_AUDIT_TIMES);
    enum tlc_status status = parse_time("--after", text, 1000, &us, &options->error);
    size_t at = audit->after_count++;
    for (; at && options->after_us[at - 1] > us; at--)
        options->after_us[at] = options->after_us[at - 1];
    options->after_us[at] = us;
    return status;
}

static enum tlc_status split_command(const char *text, struct options *options)
{
    size_t count = 0;
    char *rest = NULL;
    free(options->command);
    options->command = strdup(text);
    for (char *word = strtok_r(options->command, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        if (count == WORDS)
            return tlc_fail(&options->error, TLC_USAGE, "--rotate-command: at most %d words",
                            WORDS);
        options->words[count++] = word;
    }
    options->words[count] = NULL;
    if (!count)
        return tlc_fail(&options->error, TLC_USAGE, "--rotate-command: no command");
    options->audit.rotate_command = (const char *const *)options->words;
    return TLC_OK;
}

static enum tlc_status parse_number(const char *argument, struct options *options)
{
    uint64_t visits = 0;
    enum tlc_status status =
        tlc_parse_number("--visits", argument, 1, TLC_AUDIT_VISITS, &visits, &options->error);
    options->audit.visits = (unsigned)visits;
    return status;
}

static enum tlc_status parse_timeout(const char *argument, struct options *options)
{
    uint64_t us = 0;
    enum tlc_status status = parse_time("--timeout", argument, 1000, &us, &options->error);
    options->audit.timeout_ms = (unsigned)(us / 1000);
    return status;
}

static enum tlc_status parse_value(int key, const char *argument, struct options *options)
{
    struct tlc_audit_options *audit = &options->audit;
    struct tlc_error *error = &options->error;
    switch (key) {
    case KEY_GROUPS:
        return tlc_codes_parse(TLC_NAME_GROUP, argument, options->groups, GROUPS,
                               &audit->group_count, error);
    case KEY_VISITS:
        return parse_number(argument, options);
    case KEY_AFTER:
        return add_time(argument, options);
    case KEY_ROTATE_COMMAND:
        return split_command(argument, options);
    case KEY_ROTATE_WAIT:
        return parse_time("--rotate-wait", argument, 0, &audit->rotate_wait_us, error);
    case KEY_WATCH:
        return parse_time("--watch", argument, 1000, &audit->watch_us, error);
    case KEY_PAUSE:
        return parse_time("--pause", argument, 0, &audit->pause_us, error);
    case KEY_TIMEOUT:
        return parse_timeout(argument, options);
    default:
        return TLC_OK;
    }
}

static void add_address(const char *argument, struct options *options, struct argp_state *state)
{
    if (options->audit.address_count == TLC_AUDIT_SERVERS)
        argp_error(state, "at most %d servers at a time", TLC_AUDIT_SERVERS);
    options->addresses[options->audit.address_count++] = argument;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    if (key == ARGP_KEY_ARG)
        add_address(argument, options, state);
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "no address; write HOST:PORT, [IPV6]:PORT or unix:/path");
    else if (key == KEY_JSON)
        options->json = true;
    else if (key == KEY_SNI)
        options->audit.server_name = argument;
    else if (key < KEY_JSON || key > KEY_TIMEOUT)
        return ARGP_ERR_UNKNOWN;
    else if (parse_value(key, argument, options) != TLC_OK)
        argp_error(state, "%s", options->error.text);
    return 0;
}

static void say_progress(const char *text, void *user)
{
    (void)user;
    fprintf(stderr, "tlscost: %s\n", text);
}

static enum tlc_status print_audit(json_t *audit, bool json, struct tlc_error *error)
{
    if (!json) {
        tlc_tickets_print(audit);
        return TLC_OK;
    }
    json_t *document = tlc_result_new("tickets", tlc_machine_describe());
    if (!document || json_object_update(document, audit))
        return tlc_fail(error, TLC_ENVIRONMENT, "tickets: out of memory");
    enum tlc_status status = tlc_result_write(document, "-", error);
    json_decref(document);
    return status;
}

int tlc_cmd_tickets(int argc, char **argv)
{
    struct options options = {.groups = {TLC_GROUP_X25519, TLC_GROUP_SECP256R1, TLC_GROUP_SECP384R1,
                                         TLC_GROUP_X25519MLKEM768},
                              .audit = {.group_count = 4,
                                        .visits = 10,
                                        .rotate_wait_us = 1000000,
                                        .pause_us = 50000,
                                        .timeout_ms = 5000,
                                        .progress = say_progress}};
    const struct argp argp = {argp_options, parse_option, "HOST:PORT...", documentation, NULL,
                              NULL,         NULL};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    options.audit.addresses = options.addresses;
    options.audit.groups = options.groups;
    options.audit.after_us = options.after_us;
    json_t *audit = NULL;
    struct tlc_error *error = &options.error;
    enum tlc_status status = tlc_stack_load("openssl", &options.audit.plugin, error);
    if (status == TLC_OK)
        status = tlc_audit_tickets(&options.audit, &audit, error);
    struct tlc_error printing = {0};
    if (audit && print_audit(audit, options.json, &printing) != TLC_OK) {
        status = printing.status;
        *error = printing;
    }
    json_decref(audit);
    free(options.command);
    return status == TLC_OK ? TLC_OK : tlc_report_error(error);
}
