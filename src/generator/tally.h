// What one event loop counts while it runs: plain numbers, no JSON, nothing shared.
#ifndef TLC_GENERATOR_TALLY_H
#define TLC_GENERATOR_TALLY_H

#include "generator/engine.h"
#include "generator/generator.h"

#define TLC_TALLY_CODES  16
#define TLC_TALLY_WORDS  16
#define TLC_TALLY_ERRORS 64

struct tlc_tally_codes {
    struct {
        uint16_t code;
        uint64_t count;
    } of[TLC_TALLY_CODES];
    unsigned used;
};

struct tlc_tally_kinds {
    struct {
        char kind[TLC_FAILURE_BYTES];
        uint64_t count;
    } of[TLC_TALLY_ERRORS];
    unsigned used;
};

struct tlc_tally {
    struct tlc_counters *counters; // plain counts and latencies go there at once
    bool keep_latencies, out_of_memory;
    uint64_t window_end_ns, last_done_ns;
    struct tlc_tally_codes version, cipher, group;
    uint64_t psk_modes[3]; // not resumed, psk_ke, psk_dhe_ke
    struct {
        char name[64];
        uint64_t count;
    } alpn[TLC_TALLY_WORDS];
    struct tlc_tally_kinds errors, answers;
    unsigned alpn_used;
};

// Times of one connection on the monotonic clock.
struct tlc_times {
    uint64_t started_ns, connected_ns, hello_ns, done_ns, echoed_ns;
};

void tlc_tally_begin(struct tlc_tally *tally, struct tlc_counters *counters, bool keep_latencies,
                     uint64_t window_end_ns);
void tlc_tally_handshake(struct tlc_tally *tally, const struct tlc_expectation *expect,
                         const struct tlc_facts *facts, const struct tlc_times *times);
// A connection that ended at its stop point, and what it saw until there.
void tlc_tally_stopped(struct tlc_tally *tally, const struct tlc_expectation *expect,
                       const struct tlc_facts *facts, const struct tlc_times *times);
// The same where no more is known than how the server answered.
void tlc_tally_answered(struct tlc_tally *tally, const char *answer, uint64_t done_ns);
void tlc_tally_error(struct tlc_tally *tally, const char *kind);
// Moves the named counts into the counters' JSON. Fails only when memory ran out.
enum tlc_status tlc_tally_finish(struct tlc_tally *tally, struct tlc_error *error) TLC_CHECKED;

#endif
