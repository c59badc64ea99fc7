// The probe: one fully verified connection that collects what was really negotiated and served.
#ifndef TLC_EVIDENCE_PROBE_H
#define TLC_EVIDENCE_PROBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stacks/loader.h"

// Makes the probe's socket as socket(2) does, for one that must lie elsewhere.
struct tlc_socket_maker {
    int (*make)(const void *user, int domain, int type, int protocol);
    const void *user;
};

// A session that a probe leaves with, in the client stack's own format.
struct tlc_probe_session {
    uint8_t *bytes; // the caller frees it; NULL: the server offers none
    size_t count;
    // TLS 1.2 only; TLS 1.3 encrypts them.
    bool ticket;         // a NewSessionTicket came (RFC 5077), not a session id alone
    uint32_t lifetime_s; // the ticket's lifetime hint
};

struct tlc_probe_options {
    const char *address;                   // "HOST:PORT", "[::1]:PORT", "unix:/path"
    const struct tlc_stack_plugin *plugin; // the client
    uint16_t min_version, max_version;
    const uint16_t *groups;
    size_t group_count;
    const uint16_t *ciphers;
    size_t cipher_count;
    const char *server_name; // SNI and name to verify; NULL: the host of the address
    const char *const *alpn; // NULL-terminated
    const char *trust_pem;   // NULL: the chain is reported but not verified
    const char *client_chain_pem, *client_key_pem; // for servers that demand one; NULL: none
    // Stop taking in tickets once so many have come; 0: wait until none comes for 100 ms.
    unsigned tickets_awaited;
    unsigned timeout_ms;                   // 0: 5000
    const struct tlc_socket_maker *socket; // NULL: socket(2)
    const uint8_t *session;                // from an earlier probe, to be offered; NULL: none
    size_t session_bytes;
    struct tlc_probe_session *session_kept; // NULL: not wanted
};

// The evidence of one connection, also a sample's `evidence` (docs/probe.md):
// {address, client, version, cipher, group, hello_retry_request, resumed, alpn, server_name,
//  verified, verification, signature,
//  certificate:{subject, issuer, key_type, key_bits, signature_algorithm, sha256, not_after},
//  chain:{depth, bytes}, tickets,
//  bytes:{client_hello, hello_retry_request, server_flight, client_flight, server_finished,
//  tickets}, time_us:{connect, server_hello, finished, tickets}}
// A server that answers but whose chain or name cannot be verified is no error: a second, not
// verifying connection gives the evidence, `verified` is false and `verification` says why.
enum tlc_status tlc_probe(const struct tlc_probe_options *options, json_t **evidence,
                          struct tlc_error *error) TLC_CHECKED;

#endif
