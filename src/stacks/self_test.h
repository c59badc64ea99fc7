// Shared by the files of the self-test: one client and one server of a plug-in joined in one
// process, and the cases that run over them.
#ifndef TLC_STACKS_SELF_TEST_H
#define TLC_STACKS_SELF_TEST_H

#include "base/error.h"
#include "certs/certs.h"
#include "tlscost/stack.h"

struct tlc_reason {
    char text[320]; // why a case failed; empty while it has not
};
// Sets the reason unless one is set; returns false.
bool tlc_because(struct tlc_reason *reason, const char *format, ...) TLC_PRINTF(2, 3);

struct tlc_pair {
    const struct tlc_stack *stack;
    struct tlc_stack_connection *client, *server;
    int fds[2]; // socket transport; -1 on memory
};
// Joins a client and a server over memory, or over a pair of sockets.
bool tlc_pair_open(struct tlc_pair *pair, const struct tlc_stack *stack, bool sockets,
                   struct tlc_stack_context *client, struct tlc_stack_context *server,
                   const struct tlc_stack_connection_options *options, struct tlc_reason *reason);
bool tlc_pair_handshake(struct tlc_pair *pair, struct tlc_reason *reason);
// Has the client read what the server sends without being asked: session tickets.
bool tlc_pair_take_tickets(struct tlc_pair *pair, struct tlc_reason *reason);
// Sends a text of several records each way and compares it; takes in session tickets on the way.
bool tlc_pair_echo(struct tlc_pair *pair, struct tlc_reason *reason);
// Sends close_notify from the client and waits until the server reads it.
bool tlc_pair_shut(struct tlc_pair *pair, struct tlc_reason *reason);
void tlc_pair_free(struct tlc_pair *pair);

enum tlc_self_test_feature {
    TLC_SELF_HANDSHAKE, // a full handshake, nothing else
    TLC_SELF_SOCKET,
    TLC_SELF_RETRY,
    TLC_SELF_STATELESS,
    TLC_SELF_STATEFUL,
    TLC_SELF_PSK_KE,
    TLC_SELF_TICKET_KEYS,
    TLC_SELF_CLIENT_AUTH,
    TLC_SELF_SNI,
    TLC_SELF_ALPN,
    TLC_SELF_COOKIE,
    TLC_SELF_OPERATION // a raw operation, and its check
};

struct tlc_self_test_case {
    enum tlc_self_test_feature feature;
    uint16_t version, group, signature;
    size_t certificate;    // index of a key type (tlc_certs_name_at)
    const char *operation; // TLC_SELF_OPERATION alone: its name
};

#define TLC_SELF_KEY_TYPES 16

// What all cases share, made before the first.
struct tlc_self_test_certificates {
    struct tlc_certs_pair pairs[TLC_SELF_KEY_TYPES]; // by key type; NULL text: not supported
    struct tlc_certs_pair client;                    // a client certificate and its CA
};

// The scheme each key type signs with when the peer takes all that OpenSSL, GnuTLS and others offer
// by default (RFC 8446, 4.2.3; draft-ietf-tls-mldsa).
uint16_t tlc_self_test_signature(const char *key_type);
const char *tlc_self_test_feature_name(enum tlc_self_test_feature feature);
bool tlc_self_test_run(const struct tlc_stack *stack, const struct tlc_self_test_case *one,
                       const struct tlc_self_test_certificates *certificates,
                       struct tlc_reason *reason);

#endif
