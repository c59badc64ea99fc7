// Who did the network's work: softirqs of each set of CPUs, the network of each arm, and how far
// the accountings of CPU time lie apart (private to the room).
#ifndef TLC_REPORT_ACCOUNTING_H
#define TLC_REPORT_ACCOUNTING_H

#include "report/model.h"
#include "report/sections.h"

// Writes nothing when no sample tells it. False when memory runs out.
bool tlc_accounting_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
