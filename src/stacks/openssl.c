// The plug-in's table, start-up, errors and lists of names.
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "stacks/openssl_plugin.h"

void openssl_start(void)
{
    // The system's openssl.cnf belongs to another version and would make figures depend on the
    // machine. No exit handler: it would free what other threads still use while the process ends.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
}

void openssl_explain(struct tlc_stack_error *error, const char *what)
{
    const char *data = NULL;
    int flags = 0;
    unsigned long code = ERR_peek_error_all(NULL, NULL, NULL, &data, &flags);
    if (error) {
        const char *reason = ERR_reason_error_string(code);
        char number[32] = "";
        if (code && !reason)
            snprintf(number, sizeof number, "error %lx", code);
        bool detail = data && *data && (flags & ERR_TXT_STRING);
        snprintf(error->text, sizeof error->text, "%s%s%s%s%s", what, code ? ": " : "",
                 reason ? reason : number, detail ? ": " : "", detail ? data : "");
        error->text[strcspn(error->text, "\r\n")] = '\0';
    }
    ERR_clear_error();
}

// Joins the names of codes with ':' as OpenSSL's lists want them; false when they do not fit.
static bool join_names(enum tlc_name_kind kind, const uint16_t *codes, size_t count, char *list,
                       size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        int wrote =
            snprintf(list + used, capacity - used, "%s%s", i ? ":" : "", tlc_name(kind, codes[i]));
        if (wrote < 0 || (size_t)wrote >= capacity - used)
            return false;
        used += (size_t)wrote;
    }
    return true;
}

bool openssl_set_groups(SSL_CTX *ctx, const uint16_t *groups, size_t count)
{
    char list[1024];
    return join_names(TLC_NAME_GROUP, groups, count, list, sizeof list) &&
           SSL_CTX_set1_groups_list(ctx, list) == 1;
}

bool openssl_set_signatures(SSL_CTX *ctx, const uint16_t *schemes, size_t count)
{
    char list[1024];
    return join_names(TLC_NAME_SIGNATURE, schemes, count, list, sizeof list) &&
           SSL_CTX_set1_sigalgs_list(ctx, list) == 1;
}

static const char *version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static char build_text[2048];

static void make_build_text(void)
{
    // What it sees of the processor, less what OPENSSL_ia32cap takes away; other processors than
    // x86-64 and Arm give none.
    const char *processor = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
    snprintf(build_text, sizeof build_text, "%s; %s; %s%s%s", OpenSSL_version(OPENSSL_VERSION),
             OpenSSL_version(OPENSSL_PLATFORM), OpenSSL_version(OPENSSL_CFLAGS),
             processor ? "; " : "", processor ? processor : "");
}

static const char *build(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_build_text);
    return build_text;
}

__attribute__((visibility("default"))) extern const struct tlc_stack tlc_stack;

const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "openssl",
    .version = version,
    .build = build,
    .supports = openssl_supports,
    .context_new = openssl_context_new,
    .context_free = openssl_context_free,
    .connection_on_socket = openssl_connection_on_socket,
    .connection_on_memory = openssl_connection_on_memory,
    .memory_feed = openssl_memory_feed,
    .memory_take = openssl_memory_take,
    .handshake = openssl_handshake,
    .read = openssl_read,
    .write = openssl_write,
    .close = openssl_close,
    .connection_free = openssl_connection_free,
    .evidence = openssl_evidence,
    .tickets_received = openssl_tickets_received,
    .session_export = openssl_session_export,
    .ticket_keys_replace = openssl_ticket_keys_replace,
    .provider_use = openssl_provider_use,
    .operations = &openssl_operations,
};
