// The figures of single slices out of the samples of a result, by server instance.
#ifndef TLC_RESULT_ROUNDS_H
#define TLC_RESULT_ROUNDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// One value a round: the logarithm of cost, or of a ratio of costs.
struct tlc_rounds {
    double *log_value;
    unsigned *instance; // of each value, 0 .. instances-1
    size_t count, capacity;
    json_int_t *block; // of each instance
    unsigned instances;
};

// Takes the accepted samples of an arm (arrays of a result's arms[].samples). With a `reference`,
// each slice is divided by the slice that the reference has in the same round of the same block,
// and blocks without an accepted sample of it are left out. NULL: cost in microseconds. Slices
// whose cost is not a positive number are left out, and so are instances without any. False when
// memory runs out; free either way.
bool tlc_rounds_read(const json_t *samples, const json_t *reference, struct tlc_rounds *rounds);
// Adds one value of the instance that is being read, the `instances`-th; who adds it to a set of
// his own counts the instances. False when memory runs out.
bool tlc_rounds_add(struct tlc_rounds *rounds, double value);
void tlc_rounds_free(struct tlc_rounds *rounds);

// The arm of a `run` result by name; NULL when it has none.
const json_t *tlc_result_arm(const json_t *result, const char *name);

// The accepted sample of a block, of an arm's samples; NULL when there is none.
const json_t *tlc_sample_of_block(const json_t *samples, json_int_t block);
// Whether two slices of a block, of different arms, are compared: those of the same round, and of
// the same visit where two arms ran at once.
bool tlc_slices_pair(const json_t *slice, const json_t *other);
// The first slice of a sample that a slice of another arm is compared with; NULL when there is
// none.
const json_t *tlc_slice_partner(const json_t *slice, const json_t *sample);

#endif
