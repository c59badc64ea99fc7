// The host that serves any stack: listeners, workers, SNI table, tickets, counters.
#ifndef TLC_SERVER_SERVER_H
#define TLC_SERVER_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stacks/loader.h"

#define TLC_SERVER_SCHEMA "https://tlscost.invalid/serve/1"
#define TLC_BURN_MAX_US   1000000

enum { TLC_TICKET_KEYS_MAX = 64 };

enum tlc_accept { TLC_ACCEPT_SHARED, TLC_ACCEPT_REUSEPORT };

// What a rotation of the ticket keys does with the keys before it. All but the first are mistakes
// on purpose, for tests and demonstrations.
enum tlc_rotation {
    TLC_ROTATE_SAFE,        // the key that encrypted until now stays as the first previous one
    TLC_ROTATE_ABRUPT,      // every key is replaced
    TLC_ROTATE_NO_PREVIOUS, // the key that encrypted until now is dropped
    TLC_ROTATE_TRAP         // a key that never encrypted anything is kept as the previous one
};

// Misbehaviour on purpose, for tests and demonstrations of the checks. Zero: none.
struct tlc_server_faults {
    uint64_t reset_1_in; // one connection in N is reset instead of answered
    uint64_t stall_1_in; // one connection in N is never answered
    uint64_t die_after;  // the process kills itself after N handshakes
};

struct tlc_server_options {
    const char *listen; // "127.0.0.1:0", "[::1]:4433", "unix:/path"
    const struct tlc_stack_plugin *plugin;
    struct tlc_stack_config
        stack; // certificates (borrowed until `ready`), groups, versions, ...; borrowed until stop
    unsigned workers; // threads, at least 1
    enum tlc_accept accept;
    int backlog;                   // listen(2) backlog; 0: 4096 (the kernel caps it at somaxconn)
    int control;                   // control socket; -1: none
    unsigned handshake_timeout_ms; // a connection that has not finished its handshake is closed; 0:
                                   // 10 000
    unsigned drain_ms; // open connections may end by themselves for so long at stop; 0: 1 000
    unsigned burn_us;  // CPU burnt in each handshake (part of calibration); 0: none
    bool http;         // answer HTTP/1.1 on every connection, not only where ALPN chose it
    // Read at start, again on SIGHUP, and when another file takes its place; NULL: no file.
    const char *ticket_keys_file;
    bool own_keys;      // random keys of the server's own instead of the library's, to be rotated
    uint64_t rotate_ms; // a fresh ticket key at each such period; 0: on request only
    unsigned keep;      // keys that stay behind the fresh one, below TLC_TICKET_KEYS_MAX
    enum tlc_rotation rotation; // how it is done at each period
    bool key_per_worker;        // each worker has keys of its own, as processes that share none
    struct tlc_server_faults faults;
    // Called from the serving thread once connections are accepted; `address` holds the real port.
    void (*ready)(const char *address, bool loopback, void *user);
    // Called for what a user should know while it serves (one line); NULL: nobody is told.
    void (*note)(const char *text, void *user);
    void *user;
};

// Counts of one worker or of all. Mergeable by addition.
struct tlc_server_counters {
    uint64_t accepted, closed, handshakes, resumed, hello_retry_requests;
    uint64_t client_certificates; // handshakes in which the client sent a verified certificate
    uint64_t failures;            // handshakes that did not complete, whatever the reason
    uint64_t broken;              // connections that ended in an error after the handshake;
                                  // a peer that resets or just closes is no error there
    uint64_t bytes_read, bytes_written; // application data
    uint64_t burnt_ns;                  // CPU time burnt on purpose, by the workers' own clocks
    json_t *failed; // reason -> count, over all workers; at most 64, the rest is "other"
};

// Parses "reset-1-in=N", "stall-1-in=N" or "die-after=N" into `faults` (others are kept).
enum tlc_status tlc_server_fault_parse(const char *text, struct tlc_server_faults *faults,
                                       struct tlc_error *error) TLC_CHECKED;
// Reads ticket keys: a file of 80-byte keys (name 16, AES-256 key 32, HMAC key 32), or of lines of
// 160 hexadecimal digits ('#' starts a comment). *keys is the caller's to free.
enum tlc_status tlc_ticket_keys_read(const char *path, struct tlc_ticket_key **keys, size_t *count,
                                     struct tlc_error *error) TLC_CHECKED;
// Writes them as lines of hexadecimal digits into a file of its owner only (0600) that takes the
// place of `path` at once.
enum tlc_status tlc_ticket_keys_write(const char *path, const struct tlc_ticket_key *keys,
                                      size_t count, struct tlc_error *error) TLC_CHECKED;
// Parses "safe", "abrupt", "no-previous" or "trap"; false for anything else.
bool tlc_rotation_parse(const char *text, enum tlc_rotation *rotation);

// Has the stack try one handshake of the configuration with itself, in memory, and refuses with the
// library's words what can never succeed. What cannot be tried passes.
enum tlc_status tlc_server_trial(const struct tlc_server_options *options,
                                 struct tlc_error *error) TLC_CHECKED;
// Serves until a stop message, SIGINT or SIGTERM, or the control peer's end; then closes the
// listeners, lets open connections end for up to drain_ms and returns. *counters gets the JSON that
// is printed at exit: {schema, command, stack, address, workers:[{...}], totals:{...},
// failed:{reason:count}}.
enum tlc_status tlc_server_run(const struct tlc_server_options *options, json_t **counters,
                               struct tlc_error *error) TLC_CHECKED;

#endif
