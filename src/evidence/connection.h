// The evidence of a finished connection as JSON (docs/probe.md), whichever transport it used.
#ifndef TLC_EVIDENCE_CONNECTION_H
#define TLC_EVIDENCE_CONNECTION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "evidence/wire.h"
#include "tlscost/stack.h"

struct tlc_connection_facts {
    const struct tlc_stack *stack;
    struct tlc_stack_connection *connection; // a client's, its handshake finished
    const char *address;
    const char *server_name; // asked for; "" for none
    bool verification_asked;
    const struct tlc_wire *wire;
};

// The members of tlc_probe's evidence but `time_us`.
enum tlc_status tlc_evidence_of_connection(const struct tlc_connection_facts *facts,
                                           json_t **evidence, struct tlc_error *error) TLC_CHECKED;
// {subject, issuer, key_type, ...} of the first certificate that the peer sent; null without one.
json_t *tlc_evidence_certificate(const struct tlc_stack_evidence *seen);

#endif
