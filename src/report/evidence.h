// What the arms really negotiated, and what else was counted for each handshake (private to the
// room).
#ifndef TLC_REPORT_EVIDENCE_H
#define TLC_REPORT_EVIDENCE_H

#include "report/model.h"
#include "report/sections.h"

// Tables of negotiated parameters, of latencies with an echo and of allocations; those that the
// result has nothing of are left out. False when memory runs out.
bool tlc_evidence_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
