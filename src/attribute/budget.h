// Whether the parts of handshakes add up, and whether the same work has the same cost wherever it
// is done. Pure; docs/attribute.md tells what the figures mean.
#ifndef TLC_ATTRIBUTE_BUDGET_H
#define TLC_ATTRIBUTE_BUDGET_H

#include "attribute/operations.h"
#include "attribute/parts.h"

// Shares above which an arm's sum does not close, and its unknown part is too large.
extern const double tlc_budget_closed, tlc_budget_known;

struct tlc_budget_sums {
    double total_us;   // of the slices without samples
    double sampled_us; // of those with samples, by the kernel's clock
    double counted_us; // of the same, by the samples' number
    double gap;        // counted over sampled, less 1
    double unknown;    // share of the total
    bool closed, known;
};
struct tlc_budget_sums tlc_budget_sums(const struct tlc_parts *parts);

// Whether each handshake of the arm does the operation once, by its group and certificate.
bool tlc_parts_do(const struct tlc_parts *parts, const struct tlc_part_operation *operation);

// A component that is the same work in two arms.
struct tlc_same_work {
    const struct tlc_parts *arm, *other; // the other one comes first in the result
    enum tlc_part component;
    struct tlc_interval us, other_us, difference; // difference: paired by blocks
    bool apart;                                   // the two intervals lie apart
};
// All such components of arms that were attributed, each arm beside the first that does the same;
// *count how many. The caller frees the list. False when memory runs out.
bool tlc_same_work(const struct tlc_parts *parts, size_t count, struct tlc_same_work **same,
                   size_t *same_count);

// All of it for machines, as docs/report.md lists it; NULL: nothing was attributed, or memory ran
// out.
json_t *tlc_budget_json(const json_t *result);

#endif
