// A stack plug-in that misbehaves on purpose: TLC_BROKEN_ABI has another ABI, TLC_BROKEN_EMPTY no
// functions, TLC_BROKEN_ASKED crashes when it is asked what it supports; else it claims TLS 1.3
// with X25519 and ECDSA and crashes when a server is made.
#include <signal.h>
#include <string.h>

#include "tlscost/stack.h"

#if defined(TLC_BROKEN_ABI) || defined(TLC_BROKEN_EMPTY)

#ifdef TLC_BROKEN_ABI
#define ABI 999
#else
#define ABI TLC_STACK_ABI
#endif

extern const struct tlc_stack tlc_stack;
const struct tlc_stack tlc_stack = {
    .abi = ABI, .table_bytes = sizeof(struct tlc_stack), .name = "broken"};

#else

static const char *version(void)
{
    return "1.0";
}

// As a wild pointer would end it; a sanitizer's own handler must not print a report.
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static bool supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    (void)why;
#ifdef TLC_BROKEN_ASKED
    crash();
#endif
    return (kind == TLC_FEATURE_VERSION && code == 0x0304) ||
           (kind == TLC_FEATURE_GROUP && code == 0x001d) ||
           (kind == TLC_FEATURE_SIGNATURE && code == 0x0403);
}

static struct tlc_stack_context *context_new(enum tlc_stack_role role,
                                             const struct tlc_stack_config *config,
                                             struct tlc_stack_error *error)
{
    (void)role;
    (void)config;
    strcpy(error->text, "no contexts here");
    if (config->alpn_count) // one case fails in words, the others crash
        return NULL;
    crash();
    return NULL;
}

static void context_free(struct tlc_stack_context *context)
{
    (void)context;
}

static struct tlc_stack_connection *
connection_on_socket(struct tlc_stack_context *context, int fd,
                     const struct tlc_stack_connection_options *options,
                     struct tlc_stack_error *error)
{
    (void)context;
    (void)fd;
    (void)options;
    (void)error;
    return NULL;
}

static enum tlc_stack_step step(struct tlc_stack_connection *connection,
                                struct tlc_stack_error *error)
{
    (void)connection;
    (void)error;
    return TLC_STEP_FAILED;
}

static enum tlc_stack_step read_bytes(struct tlc_stack_connection *connection, uint8_t *bytes,
                                      size_t capacity, size_t *done, struct tlc_stack_error *error)
{
    (void)bytes;
    (void)capacity;
    (void)done;
    return step(connection, error);
}

static enum tlc_stack_step write_bytes(struct tlc_stack_connection *connection,
                                       const uint8_t *bytes, size_t count, size_t *done,
                                       struct tlc_stack_error *error)
{
    (void)bytes;
    (void)count;
    (void)done;
    return step(connection, error);
}

static void connection_free(struct tlc_stack_connection *connection)
{
    (void)connection;
}

static bool evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *seen)
{
    (void)connection;
    (void)seen;
    return false;
}

extern const struct tlc_stack tlc_stack;
const struct tlc_stack tlc_stack = {
    .abi = TLC_STACK_ABI,
    .table_bytes = sizeof(struct tlc_stack),
    .name = "broken",
    .version = version,
    .build = version,
    .supports = supports,
    .context_new = context_new,
    .context_free = context_free,
    .connection_on_socket = connection_on_socket,
    .handshake = step,
    .read = read_bytes,
    .write = write_bytes,
    .close = step,
    .connection_free = connection_free,
    .evidence = evidence,
};

#endif
