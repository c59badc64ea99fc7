// The parts of `tlscost load`: its options and its output.
#ifndef TLC_CLI_LOAD_H
#define TLC_CLI_LOAD_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "generator/generator.h"
#include "measure/allocations.h"

struct tlc_load_options {
    struct tlc_target_options target;
    struct tlc_slice_options slice;
    const char *stack;
    char **alpn;
    char *trust_pem, *client_chain_pem, *client_key_pem;
    uint64_t warm_up_us;
    double probe_rate; // 0: no latency probe beside the load
    bool tickets_known, json, control;
    bool count_allocations;
    const char *server_allocations; // file; NULL: the server's are not counted
    const char *floor_listen;       // serve the TCP floor there instead
    unsigned burn_us;
    json_t *allocations; // of the load, when they were counted
    struct tlc_error error;
};

extern const struct argp tlc_load_argp; // its input is a struct tlc_load_options
void tlc_load_options_free(struct tlc_load_options *options);

// Allocations a handshake of a load, {client: {count, bytes} or null, server: the same}; begun
// before it, told after it.
struct tlc_load_allocations {
    struct tlc_allocations client, server;
};
enum tlc_status tlc_load_allocations_begin(const struct tlc_load_options *options,
                                           struct tlc_load_allocations *before,
                                           struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_load_allocations_end(const struct tlc_load_options *options,
                                         const struct tlc_load_allocations *before,
                                         uint64_t handshakes, json_t **told,
                                         struct tlc_error *error) TLC_CHECKED;
void tlc_load_allocations_print(const json_t *told);

// Why the figures are not what was asked for; an empty text when they are.
void tlc_load_verdict(const struct tlc_load_options *options, const struct tlc_counters *counters,
                      char *why, size_t capacity);
// Says on standard error what was offered when `kind` is a server's refusal of it.
void tlc_load_hint(const struct tlc_load_options *options, const char *kind);
// `probe` holds the counters of the latency probe; NULL: there was none.
void tlc_load_print(const struct tlc_load_options *options, const struct tlc_target *target,
                    struct tlc_counters *counters, struct tlc_counters *probe);
// The `load --json` document; the caller owns the reference.
json_t *tlc_load_to_json(const struct tlc_load_options *options, const struct tlc_target *target,
                         struct tlc_counters *counters, struct tlc_counters *probe);

#endif
