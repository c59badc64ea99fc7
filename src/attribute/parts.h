// Each component's part of a handshake, of the arms of a result that were attributed.
#ifndef TLC_ATTRIBUTE_PARTS_H
#define TLC_ATTRIBUTE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "attribute/components.h"
#include "stats/stats.h"

// One attributed arm: of each accepted block the cost by the slices without samples, and each
// component's part of it by the samples' shares. Strings and JSON are borrowed from the result.
struct tlc_parts {
    size_t arm; // its place among the result's arms
    const char *name;
    const json_t *settings; // the arm in the plan; NULL: it is not there
    const json_t *evidence; // of its first accepted sample
    size_t blocks;
    double *block;              // its number
    double *speed;              // by which its figures were multiplied, see tlc_parts_speed
    double *cost_us;            // of a handshake
    double *sampled_us;         // the same in the sampled slices
    double *time_us;            // of a handshake, by counting samples alone
    double *of[TLC_PART_COUNT]; // us of a handshake
    double *allocation;         // us of a handshake, within the others
    double samples, cut, garbled, frequency_hz;
};

// Every attributed arm of a result, in its order; *count how many. False when memory runs out.
bool tlc_parts_read(const json_t *result, struct tlc_parts **parts, size_t *count);
void tlc_parts_free(struct tlc_parts *parts, size_t count);
// By what figures of a block are multiplied to be told at the speed that the first arm had on
// average; 1 where it was not attributed in that block.
double tlc_parts_speed(const struct tlc_parts *first, double block);
// What the plan says of an arm of the result; NULL: nothing.
const json_t *tlc_parts_settings(const json_t *result, const json_t *arm);
// A setting of the arm as text; NULL when it is not a text.
const char *tlc_parts_setting(const struct tlc_parts *parts, const char *key);
// The mean over blocks and its 95 % interval.
struct tlc_interval tlc_parts_mean(const double *values, size_t blocks);
// The same of the differences `arm` less `other`, over the blocks that both have.
struct tlc_interval tlc_parts_difference(const struct tlc_parts *arm, const double *values,
                                         const struct tlc_parts *other, const double *others);

#endif
