// Where the server's CPU time of a handshake goes, of arms that were attributed (private to the
// room).
#ifndef TLC_REPORT_ATTRIBUTION_H
#define TLC_REPORT_ATTRIBUTION_H

#include "attribute/components.h"
#include "report/model.h"
#include "report/sections.h"
#include "report/telling.h"

// One attributed arm: of each accepted block the cost by the slices without samples, and each
// component's part of it by the samples' shares.
struct tlc_parts {
    const struct tlc_report_arm *arm;
    size_t blocks;
    double *block;              // its number
    double *cost_us;            // of a handshake
    double *sampled_us;         // the same in the sampled slices
    double *time_us;            // of a handshake, by counting samples alone
    double *of[TLC_PART_COUNT]; // us of a handshake
    double *allocation;         // us of a handshake, within the others
    double samples, cut, garbled, frequency_hz;
};

// Every attributed arm of the model, in its order; *count how many. NULL for none, or when memory
// runs out (`telling` then remembers).
struct tlc_parts *tlc_parts_of(struct tlc_telling *telling, const struct tlc_report_model *model,
                               size_t *count);
void tlc_parts_free(struct tlc_parts *parts, size_t count);
// The mean over blocks and its 95 % interval.
struct tlc_figure tlc_parts_mean(const double *values, size_t blocks);
// The same of the differences `arm` less `other`, over the blocks that both have.
struct tlc_figure tlc_parts_difference(const struct tlc_parts *arm, const double *values,
                                       const struct tlc_parts *other, const double *others);

// Writes nothing when no arm was attributed. False when memory runs out.
bool tlc_attribution_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);
// Whether the sums close, what sampling cost, and the raw operations beside their components.
void tlc_budget_write(struct tlc_telling *telling, const struct tlc_report_model *model,
                      const struct tlc_parts *parts, size_t count);

#endif
