// One arm's sample of one block: its slices, its facts and the checks on them; private to the room.
#ifndef TLC_CAMPAIGN_SAMPLE_H
#define TLC_CAMPAIGN_SAMPLE_H

#include <jansson.h>

#include "generator/generator.h"
#include "plan/plan.h"
#include "workload/workload.h"

struct tlc_sample {
    const struct tlc_plan *plan;
    size_t arm;
    unsigned block;
    json_t *evidence;              // owned
    json_t *slices;                // array of what was measured; owned
    struct tlc_counters *counters; // merged detail of the slices; owned, NULL: none
    char failure[512];             // why the arm could not be prepared or went on; empty: it did
    struct tlc_slice totals;       // sums; no detail
    double rate_doubled; // handshakes a second of the slice with twice the concurrency; 0: none
    bool doubled_failed;
};

// Where a slice stands in its block.
struct tlc_visit {
    unsigned round;
    size_t position; // within the round
    unsigned turn;   // counts up with rounds and blocks
    bool duet; // two arms at once, which then have a slice each of the same round and position
};

void tlc_sample_begin(struct tlc_sample *sample, const struct tlc_plan *plan, size_t arm,
                      unsigned block);
// Takes a measured slice; its detail is merged and released.
enum tlc_status tlc_sample_add(struct tlc_sample *sample, struct tlc_visit visit,
                               struct tlc_slice *slice, struct tlc_error *error) TLC_CHECKED;
// Evaluates the checks and gives the finished sample as JSON (the caller's). `stay` may be NULL
// when the arm never ran. Clears the sample.
json_t *tlc_sample_finish(struct tlc_sample *sample, const struct tlc_stay *stay);
// Whether the evidence of an arm's first handshake is what the arm asks for; else how it differs.
bool tlc_sample_evidence_fits(const struct tlc_plan *plan, size_t arm, json_t *evidence,
                              char *difference, size_t bytes);
void tlc_sample_clear(struct tlc_sample *sample);

#endif
