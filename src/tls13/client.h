// The lean TLS 1.3 client (RFC 8446), sans-I/O: bytes in, bytes out, no sockets, no clocks.
//
// A configuration is prepared once and shared, read only, by any number of clients of one thread. A
// client object is meant to be reused: tlc_tls13_start begins a fresh handshake without allocating
// on the hot path. It checks on every handshake: version, group, cipher, HelloRetryRequest, the
// certificate bytes against an expected hash when one is given, and always the server's Finished;
// CertificateVerify is verified in one of `verify_every` handshakes.
#ifndef TLC_TLS13_CLIENT_H
#define TLC_TLS13_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum tlc_share {
    TLC_SHARE_HONEST, // a fresh key pair for every handshake
    TLC_SHARE_REUSED, // one key pair per configuration, a real exchange each time
    TLC_SHARE_CHEAP,  // a valid share that costs the client almost nothing (docs/generator.md)
    // Shares that a server must refuse, for handshakes that stop at its answer:
    TLC_SHARE_UNREDUCED, // an ML-KEM key with a coefficient of q (FIPS 203, 7.2)
    TLC_SHARE_LOW_ORDER  // the X25519 point u = 0, whose secret is zero (RFC 7748, 6.1)
};

// Whether a server has to refuse such a share.
static inline bool tlc_share_is_invalid(enum tlc_share share)
{
    return share == TLC_SHARE_UNREDUCED || share == TLC_SHARE_LOW_ORDER;
}

enum tlc_tls13_stop { // where a handshake ends on purpose
    TLC_STOP_COMPLETE,
    TLC_STOP_AFTER_CLIENT_HELLO, // at the ServerHello, of which the client computes nothing
    TLC_STOP_AFTER_SERVER_FLIGHT,
    TLC_STOP_AFTER_HELLO_RETRY // at a HelloRetryRequest; without one at the ServerHello
};

struct tlc_tls13_options {
    const uint16_t *groups; // supported_groups in order; the first one gets the key share
    size_t group_count;
    const uint16_t *ciphers; // in order
    size_t cipher_count;
    enum tlc_share share;
    enum tlc_tls13_stop stop;
    const char *server_name; // NULL, or a literal address: no SNI (RFC 6066, 3)
    const char *const *alpn; // NULL-terminated; NULL: none
    unsigned verify_every;   // 0: never, 1: always, N: one in N
    const uint8_t
        *certificate_sha256; // expected SHA-256 of the leaf's DER; NULL: any (32 bytes, copied)
    bool wrong_share_first;  // send a key share for a group listed second, to force a
                             // HelloRetryRequest
    size_t padding_bytes;    // RFC 7685 padding extension of this many bytes
    unsigned psk_modes; // bit 0 psk_dhe_ke, bit 1 psk_ke; 0: no psk_key_exchange_modes extension
    bool count_tickets_only; // tickets are read and counted, none is kept to be offered
};

struct tlc_tls13_config;
enum tlc_status tlc_tls13_config_new(const struct tlc_tls13_options *options,
                                     struct tlc_tls13_config **config,
                                     struct tlc_error *error) TLC_CHECKED;
void tlc_tls13_config_free(struct tlc_tls13_config *config);

// A ticket ready to be offered: owned by whoever took it from a client.
struct tlc_tls13_ticket {
    uint8_t identity[2048];
    uint16_t identity_bytes;
    uint8_t psk[48]; // resumption PSK (RFC 8446, 4.6.1), `psk_bytes` long
    uint8_t psk_bytes;
    uint16_t cipher; // the suite whose hash it is bound to
    uint32_t lifetime_s;
    uint32_t age_add;
    uint64_t received_ms; // the clock value given to tlc_tls13_input
};

// A server name, and the certificate that must answer to it, instead of the configuration's.
struct tlc_tls13_name {
    const char *server_name;           // at most 255 bytes, no literal address
    const uint8_t *certificate_sha256; // of the leaf's DER, 32 bytes
};

enum tlc_tls13_state {
    TLC_TLS13_WAIT,    // needs bytes from the server
    TLC_TLS13_DONE,    // handshake complete; pending output holds the client's Finished until taken
    TLC_TLS13_STOPPED, // reached the configured stop point
    TLC_TLS13_FAILED   // see tlc_tls13_failure
};

struct tlc_tls13_evidence {
    uint16_t version, cipher, group,
        signature; // signature: scheme of CertificateVerify, 0 when resumed
    bool hello_retry_request;
    bool cookie; // the HelloRetryRequest had one
    bool resumed;
    int psk_mode; // -1 not resumed, 0 psk_ke, 1 psk_dhe_ke
    bool signature_verified;
    uint8_t certificate_sha256[32]; // of the leaf's DER; zero when none was sent
    unsigned chain_count;
    uint32_t server_flight_bytes; // ServerHello through Finished, as records on the wire
    unsigned tickets;             // NewSessionTickets read so far
    char alpn[256];
};

// Whether a ticket may still be offered: its lifetime is not over (RFC 8446, 4.6.1).
bool tlc_tls13_ticket_fresh(const struct tlc_tls13_ticket *ticket, uint64_t now_ms);

struct tlc_tls13_client;
struct tlc_tls13_client *tlc_tls13_client_new(void); // NULL when memory runs out
void tlc_tls13_client_free(struct tlc_tls13_client *client);

// Begins a handshake; pending output then holds the ClientHello. `ticket` (may be NULL) is offered
// as PSK and must live until the call returns; one whose lifetime is over is left out, so that the
// evidence tells. `now_ms` is any clock that ticket ages are measured on. At its stop point the
// client is STOPPED: the evidence holds what it read until there, and what follows is dropped.
enum tlc_status tlc_tls13_start(struct tlc_tls13_client *client,
                                const struct tlc_tls13_config *config,
                                const struct tlc_tls13_ticket *ticket, uint64_t now_ms,
                                struct tlc_error *error) TLC_CHECKED;
// From the next start on the client visits `name`, which must live until the handshake ends; NULL:
// what the configuration says. A configuration for such clients has no server name of its own.
void tlc_tls13_visit(struct tlc_tls13_client *client, const struct tlc_tls13_name *name);
// Bytes that must be sent; valid until the next call on the client. Zero when none.
const uint8_t *tlc_tls13_output(const struct tlc_tls13_client *client, size_t *count);
void tlc_tls13_output_sent(struct tlc_tls13_client *client, size_t count);
// Takes any number of bytes from the server, in any split. May be called after DONE for tickets,
// application data (discarded, counted) and close_notify. A failed client has a fatal alert as
// pending output where the protocol asks for one.
enum tlc_tls13_state tlc_tls13_input(struct tlc_tls13_client *client, const uint8_t *bytes,
                                     size_t count, uint64_t now_ms);
enum tlc_tls13_state tlc_tls13_state(const struct tlc_tls13_client *client);
// One line that names what failed ("server alert: handshake_failure", "certificate: not the
// expected one").
const char *tlc_tls13_failure(const struct tlc_tls13_client *client);
// A stable short word of the same for counting: "alert" (the server's), "certificate" (not the
// expected one, or none), "signature" (CertificateVerify), "finished", "version", "cipher", "group"
// (key share too), "psk", "extension", "decode" (malformed), "protocol" (a message or record where
// none may be), "record" (not TLS, or its protection does not verify), "internal" (libcrypto or
// memory). Empty unless the client failed.
const char *tlc_tls13_failure_kind(const struct tlc_tls13_client *client);
const struct tlc_tls13_evidence *tlc_tls13_evidence(const struct tlc_tls13_client *client);
// Whether bytes of the ServerHello have arrived (for the first-byte time).
bool tlc_tls13_server_hello_seen(const struct tlc_tls13_client *client);
// Moves the oldest unread ticket out; false when there is none.
bool tlc_tls13_take_ticket(struct tlc_tls13_client *client, struct tlc_tls13_ticket *ticket);
// True once the server's close_notify was read.
bool tlc_tls13_peer_closed(const struct tlc_tls13_client *client);
// Queues application data or close_notify as protected records in the pending output.
enum tlc_status tlc_tls13_write(struct tlc_tls13_client *client, const uint8_t *bytes, size_t count,
                                struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_tls13_close(struct tlc_tls13_client *client,
                                struct tlc_error *error) TLC_CHECKED;
// Application data received after DONE, for echo checks: the last up to 64 KiB; valid until the
// next call on the client. *count is how many are kept.
const uint8_t *tlc_tls13_application_data(const struct tlc_tls13_client *client, size_t *count);
// All bytes of application data since DONE, kept or not.
uint64_t tlc_tls13_application_bytes(const struct tlc_tls13_client *client);

#endif
