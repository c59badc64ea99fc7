// Counting instructions of both sides of a handshake under callgrind.
#ifndef TLC_CLI_COUNT_H
#define TLC_CLI_COUNT_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct tlc_count_options {
    const char *stack, *certificate, *groups, *share;
    const char *tickets; // of `serve`; NULL: the library's number
    uint64_t handshakes; // of the shorter of two runs; the longer has three times as many
    uint64_t repeats, top;
    int timeout_ms; // of each step
};

// Adds `sides` {server, client}, each with instructions_per_handshake, spread and functions[], to
// `document`. TLC_ENVIRONMENT names what is missing.
enum tlc_status tlc_count_run(const struct tlc_count_options *options, json_t *document,
                              struct tlc_error *error) TLC_CHECKED;

#endif
