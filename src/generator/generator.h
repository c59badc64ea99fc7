// The load generator: event loops that make handshakes against a target and count what happened.
// Knows no host and no campaign: the same object serves `load`, a campaign's slices and, later, MPI
// ranks.
#ifndef TLC_GENERATOR_GENERATOR_H
#define TLC_GENERATOR_GENERATOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stacks/loader.h"
#include "tls13/client.h"

enum tlc_engine {
    TLC_ENGINE_LEAN,
    TLC_ENGINE_FULL,
    TLC_ENGINE_TCP // no TLS: the byte counts of a handshake, against tlc_floor_serve
};

// Bytes of a handshake by sender and turn.
struct tlc_floor {
    uint32_t client_hello_bytes, server_flight_bytes, finished_bytes, ticket_bytes;
};
enum tlc_loop_choice {
    TLC_LOOP_AUTO, // io_uring where the kernel gives it, else epoll
    TLC_LOOP_EPOLL,
    TLC_LOOP_URING
};
enum tlc_close { TLC_CLOSE_RESET, TLC_CLOSE_FIN, TLC_CLOSE_NOTIFY };

// What every handshake toward a target must show; anything else counts as a mismatch.
struct tlc_expectation {
    uint16_t version, group, cipher; // 0: any
    bool allow_hello_retry_request;
    bool require_hello_retry_request;
    bool require_cookie;    // in a HelloRetryRequest
    bool refusal;           // an alert, or the end of the connection, instead of a ServerHello
    int resumed;            // -1: any, 0: never, 1: always
    bool certificate_known; // compare the leaf's hash
    uint8_t certificate_sha256[32];
    char alpn[64]; // empty: any
};

struct tlc_target_options {
    const char *address; // "127.0.0.1:4433", "[::1]:4433", "unix:/path"
    enum tlc_engine engine;
    const struct tlc_stack_plugin *plugin; // engine full: the client's stack
    uint16_t min_version, max_version;     // engine full; the lean engine speaks TLS 1.3 only
    uint16_t groups[16], ciphers[16];
    size_t group_count, cipher_count;
    enum tlc_share share;
    enum tlc_tls13_stop stop;
    const char *server_name;
    const char *const *alpn;                       // NULL-terminated
    const char *trust_pem;                         // engine full: verify the chain; NULL: do not
    const char *client_chain_pem, *client_key_pem; // engine full: client certificate
    unsigned verify_every; // lean: verify CertificateVerify in one of N handshakes
    double resume_ratio;   // 0 to 1: share of handshakes that offer a ticket
    // Lean, above 0: so many clients of each loop take turns, each with the ticket of its last
    // visit; their first visits are full handshakes. 0: the newest ticket is offered, whosever it
    // was.
    unsigned visitors;
    unsigned psk_modes; // TLC_PSK_* bits; 0: psk_dhe_ke, as ordinary clients
    enum tlc_close close;
    unsigned tickets_expected; // tickets to read before closing (the probe tells); 0: none
    // The same after a resumed handshake, where servers often send fewer; not known: 1, if any.
    unsigned tickets_expected_resumed;
    bool tickets_resumed_known;
    size_t echo_bytes;   // application data sent, echoed and compared after the handshake
    unsigned timeout_ms; // of one handshake; 0: 10 000
    struct tlc_expectation expect;
    enum tlc_loop_choice loop;
    // Lean, above 0: visits to so many names, the numbered certificates (certs.h) of the folder
    // with the key type; every handshake must show the certificate of its name. 0: server_name
    // alone.
    unsigned names;
    const char *names_folder, *names_key_type;
    bool visits_zipf; // by Zipf's law; else every name as often
    unsigned visits_seed;
    unsigned threads;       // event loops, each in a thread of its own; 0: 1
    bool allow_public;      // a target outside loopback, private and link-local addresses
    bool fresh_sockets;     // a new socket for every connection instead of a reused one
    bool wrong_share_first; // lean: a key share of the second group; see the option's help
    size_t padding_bytes;   // lean: ClientHello padding (RFC 7685)
    size_t split_at;        // the ClientHello in two writes, the first of this many bytes; 0: no
    size_t split_every;     // the ClientHello in writes of this many bytes; 0: no
    struct tlc_floor floor; // engine tcp
};

struct tlc_slice_options {
    uint64_t duration_us; // new handshakes start for this long; 0: `count` decides
    uint64_t count;       // stop after this many were started; 0: no limit
    unsigned concurrency; // connections open at once
    bool keep_latencies;  // keep every latency for exact percentiles
    double rate;          // handshakes started a second (open loop); 0: closed loop
    double rate_end;      // the rate at the end of duration_us, reached evenly; 0: `rate`
    // Batching of events: a loop sleeps until this many events are there, at most batch_wait_us.
    unsigned batch;         // 0: 32 in a closed loop, none in an open one; 1: none
    unsigned batch_wait_us; // 0: 6000
    bool hasty; // an interrupt gives up open connections at once instead of after a while
};

// Counters of one slice, mergeable: counts add, latency lists append (tlc_counters_merge). Every
// connection that was started ends as exactly one of: a handshake, an error, or stopped on purpose.
// A handshake that differs from the expectation is counted as handshake (or stopped), once as a
// mismatch, and in `errors` under "mismatch-" and what differs.
// Times: from the first connect to the last connection closed, so every handshake is counted whole.
struct tlc_counters {
    uint64_t started, handshakes, resumed, hello_retry_requests, cookies, mismatches, tickets,
        signatures_verified;
    uint64_t offered;   // handshakes that offered a ticket
    uint64_t stopped;   // connections that ended at the stop point asked for, or refused as asked
    uint64_t missed;    // open loop: starts that were due but found no free connection in time
    uint64_t in_window; // handshakes completed within duration_us
    uint64_t bytes_sent, bytes_received; // TLS bytes
    double window_s; // duration the starts were allowed for (or first to last when count decides)
    double span_s;   // from the slice's start until the last connection was closed
    double cpu_user_us, cpu_system_us; // of the generator's threads, inside the slice
    json_t *errors;                    // kind -> count
    json_t *negotiated; // {version:{name:count}, cipher:{}, group:{}, psk_mode:{}, alpn:{},
                        //  answer:{}}: answer, how the server answered those stopped
    uint32_t *latency_connect_us, *latency_hello_us,
        *latency_done_us; // from the start of the connect
    size_t latency_count, latency_capacity;
    size_t latency_connect_count; // fewer: a loop that batches does not see each connect
    uint32_t *latency_echo_us;    // until the echo was compared
    size_t latency_echo_count;    // 0: none was asked for
};

void tlc_counters_free(struct tlc_counters *counters);
enum tlc_status tlc_counters_merge(struct tlc_counters *into, const struct tlc_counters *from,
                                   struct tlc_error *error) TLC_CHECKED;
json_t *tlc_counters_to_json(const struct tlc_counters *counters); // lossless, latencies as arrays
// Connections that gave no handshake, over all kinds of errors; mismatches are not among them.
uint64_t tlc_counters_errors(const struct tlc_counters *counters);
enum tlc_status tlc_counters_from_json(const json_t *json, struct tlc_counters *counters,
                                       struct tlc_error *error) TLC_CHECKED;

struct tlc_target;
// Prepares everything that must not be paid inside a slice: keys, ClientHello template, addresses,
// contexts.
enum tlc_status tlc_target_new(const struct tlc_target_options *options, struct tlc_target **target,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_target_free(struct tlc_target *target);
// Whether a slice may run: bounded, with a rate toward public addresses, and enough open files (the
// limit is raised where it can be).
enum tlc_status tlc_target_check(const struct tlc_target *target,
                                 const struct tlc_slice_options *slice,
                                 struct tlc_error *error) TLC_CHECKED;
// Runs one slice to its end, all connections closed. Errors of single handshakes are counted, not
// returned.
enum tlc_status tlc_target_slice(struct tlc_target *target, const struct tlc_slice_options *slice,
                                 struct tlc_counters *counters,
                                 struct tlc_error *error) TLC_CHECKED;
// Makes one connection that ends in order, counts the tickets the server sends in it, and from then
// on waits for so many; with a resumption ratio the same for a resumed one. Either pointer may be
// NULL. A failed handshake is an error that names its kind.
enum tlc_status tlc_target_count_tickets(struct tlc_target *target, unsigned *tickets,
                                         unsigned *resumed_tickets,
                                         struct tlc_error *error) TLC_CHECKED;
struct tlc_hold;
// Keeps half-open connections to the target (hold.h).
enum tlc_status tlc_target_hold(const struct tlc_target *target, unsigned count,
                                struct tlc_hold **hold, struct tlc_error *error) TLC_CHECKED;
// What a result keeps of how the load was made: {engine, loop, threads, share, close, ...}. The
// caller owns the reference.
json_t *tlc_target_describe(const struct tlc_target *target);
// Makes running and later slices of this process start no new handshakes (async-signal-safe).
void tlc_generator_interrupt(void);

// The generator as a child of the orchestrator: serves control messages on `control` until "stop"
// or the peer's end (docs/control.md): prepare, slice, release, stop.
enum tlc_status tlc_generator_serve(int control, struct tlc_error *error) TLC_CHECKED;
// Serves the TCP floor on a near address, in the calling thread, until tlc_generator_interrupt.
// `burn_us` of CPU stand in for each handshake's. `ready` (may be NULL) is called when it listens.
enum tlc_status tlc_floor_serve(const char *listen_address, unsigned burn_us,
                                void (*ready)(void *user), void *user,
                                struct tlc_error *error) TLC_CHECKED;
// A target's options as JSON and back, for "prepare". Strings from JSON live as long as `json`.
json_t *tlc_target_options_to_json(const struct tlc_target_options *options);
enum tlc_status tlc_target_options_from_json(const json_t *json, struct tlc_target_options *options,
                                             struct tlc_error *error) TLC_CHECKED;
// Frees what tlc_target_options_from_json allocated (not the strings, which belong to the JSON).
void tlc_target_options_release(struct tlc_target_options *options);

#endif
