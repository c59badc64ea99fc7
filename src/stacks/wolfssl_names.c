// Certificates by server name (RFC 6066, 3). wolfSSL's own callback changes the certificate of a
// connection whose cipher suites and curve were already chosen for the default one, so that a name
// with another key type is not served. Here the ClientHello is read first, and the connection is
// made of the context that its name asks for.
#include "stacks/wolfssl_plugin.h"

#include <stdlib.h>
#include <strings.h>

enum { RECORD_HEADER = 5, RECORD_MOST = 1 << 14 }; // RFC 8446, 5.1

int wolfssl_compare_names(const void *left, const void *right)
{
    const struct wolfssl_named_context *a = left, *b = right;
    return strcasecmp(a->name, b->name);
}

// An unknown name gets the default certificate.
static WOLFSSL_CTX *ctx_of_name(const struct tlc_stack_context *context, char *name)
{
    const struct wolfssl_named_context wanted = {.name = name};
    const struct wolfssl_named_context *found =
        bsearch(&wanted, context->named, context->named_count, sizeof *context->named,
                wolfssl_compare_names);
    return found ? found->ctx : context->ctx;
}

// The bytes of the first record once it is whole. A ClientHello of several records gets the default
// certificate: no client sends one.
static enum tlc_stack_step first_record(struct tlc_transport *transport, const uint8_t **record,
                                        size_t *size)
{
    for (;;) {
        const uint8_t *bytes = tlc_transport_peek(transport, size);
        if (*size >= RECORD_HEADER) {
            size_t whole = RECORD_HEADER + ((size_t)bytes[3] << 8 | bytes[4]);
            if (whole > RECORD_HEADER + RECORD_MOST || *size >= whole) {
                *record = bytes;
                return TLC_STEP_DONE;
            }
        }
        ssize_t got = tlc_transport_fill(transport);
        if (got == TLC_WOULD_BLOCK)
            return TLC_STEP_WANT_READ;
        if (got <= 0)
            return TLC_STEP_FAILED;
    }
}

enum tlc_stack_step wolfssl_choose(struct tlc_stack_connection *connection, WOLFSSL_CTX **ctx)
{
    const uint8_t *record = NULL;
    size_t size;
    char name[256];
    word32 length = sizeof name - 1;
    enum tlc_stack_step step = first_record(&connection->transport, &record, &size);
    if (step != TLC_STEP_DONE)
        return step;
    *ctx = connection->context->ctx;
    if (size <= RECORD_HEADER + RECORD_MOST &&
        wolfSSL_SNI_GetFromBuffer(record, (word32)size, WOLFSSL_SNI_HOST_NAME, (byte *)name,
                                  &length) == WOLFSSL_SUCCESS) {
        name[length] = '\0';
        *ctx = ctx_of_name(connection->context, name);
    }
    return TLC_STEP_DONE;
}

// The name is stored for evidence only where a callback wants it.
// NOLINTNEXTLINE(readability-non-const-parameter): the signature is wolfSSL's
int wolfssl_accept_name(WOLFSSL *ssl, int *alert, void *argument)
{
    (void)ssl;
    (void)alert;
    (void)argument;
    return 0;
}
