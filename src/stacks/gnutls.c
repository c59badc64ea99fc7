// The plug-in's table, errors, and what the library supports.
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "stacks/gnutls_plugin.h"
#include "stacks/plain_operations.h"

void gtls_explain(struct tlc_stack_error *error, const char *what, int code)
{
    if (!error)
        return;
    snprintf(error->text, sizeof error->text, "%s%s%s", what, code ? ": " : "",
             code ? gnutls_strerror(code) : "");
    error->text[strcspn(error->text, "\r\n")] = '\0';
}

static bool has_version(uint16_t code)
{
    gnutls_protocol_t wanted = code == TLC_TLS13   ? GNUTLS_TLS1_3
                               : code == TLC_TLS12 ? GNUTLS_TLS1_2
                                                   : GNUTLS_VERSION_UNKNOWN;
    for (const gnutls_protocol_t *one = gnutls_protocol_list(); *one; one++)
        if (*one == wanted)
            return true;
    return false;
}

static bool ask(enum tlc_stack_feature kind, uint16_t code)
{
    switch (kind) {
    case TLC_FEATURE_VERSION:
        return has_version(code);
    case TLC_FEATURE_GROUP:
        return gtls_has_group(code);
    case TLC_FEATURE_SIGNATURE:
        return gtls_has_signature(code);
    case TLC_FEATURE_CIPHER:
        return gtls_has_cipher(code);
    case TLC_FEATURE_PSK_MODE:
        return code <= 1;
    case TLC_FEATURE_TICKETS:
        return code == TLC_TICKETS_OFF || code == TLC_TICKETS_STATELESS;
    default:
        return tlc_neutral_supports(kind);
    }
}

static void say_why(struct tlc_stack_error *why, enum tlc_stack_feature kind, uint16_t code)
{
    bool post_quantum = (kind == TLC_FEATURE_GROUP && (code >> 8 == 0x02 || code >> 8 == 0x11)) ||
                        (kind == TLC_FEATURE_SIGNATURE && code >> 8 == 0x09);
    tlc_neutral_lacks(why, "GnuTLS", gnutls_check_version(NULL), kind, code,
                      post_quantum ? "; one with leancrypto has it, and so has OpenSSL 3.5" : "");
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    bool yes = ask(kind, code);
    if (!yes && why)
        say_why(why, kind, code);
    return yes;
}

static const char *version(void)
{
    return gnutls_check_version(NULL);
}

// The library tells what it was built with and, for this processor, which assembly it takes.
static const char *build(void)
{
    static char text[160];
    const gnutls_library_config_st *entry = gnutls_get_library_config();
    size_t used = (size_t)snprintf(text, sizeof text, "GnuTLS %s", gnutls_check_version(NULL));
    for (; entry && entry->name && used < sizeof text; entry++)
        if (strstr(entry->name, "hardware") || !strcmp(entry->name, "fips-module-name"))
            used += (size_t)snprintf(text + used, sizeof text - used, "; %s: %s", entry->name,
                                     entry->value);
    return text;
}

__attribute__((visibility("default"))) extern const struct tlc_stack tlc_stack;

const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "gnutls",
    .version = version,
    .build = build,
    .supports = supports,
    .context_new = gtls_context_new,
    .context_free = gtls_context_free,
    .connection_on_socket = gtls_connection_on_socket,
    .connection_on_memory = gtls_connection_on_memory,
    .memory_feed = gtls_memory_feed,
    .memory_take = gtls_memory_take,
    .handshake = gtls_step_handshake,
    .read = gtls_step_read,
    .write = gtls_step_write,
    .close = gtls_step_close,
    .connection_free = gtls_connection_free,
    .evidence = gtls_evidence,
    .tickets_received = gtls_tickets_received,
    .session_export = gtls_session_export,
    .ticket_keys_replace = gtls_ticket_keys_replace,
    .operations = &tlc_plain_operations,
};
