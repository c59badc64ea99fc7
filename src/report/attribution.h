// Where the server's CPU time of a handshake goes, of arms that were attributed (private to the
// room).
#ifndef TLC_REPORT_ATTRIBUTION_H
#define TLC_REPORT_ATTRIBUTION_H

#include "attribute/parts.h"
#include "report/model.h"
#include "report/sections.h"
#include "report/telling.h"

// Writes nothing when no arm was attributed. False when memory runs out.
bool tlc_attribution_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);
// Whether the sums close, what sampling cost, and the raw operations beside their components.
void tlc_budget_write(struct tlc_telling *telling, const struct tlc_report_model *model,
                      const struct tlc_parts *parts, size_t count);

#endif
