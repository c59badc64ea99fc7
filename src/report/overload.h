// What a server spends while more is offered than it can do (private to the room).
#ifndef TLC_REPORT_OVERLOAD_H
#define TLC_REPORT_OVERLOAD_H

#include "report/model.h"
#include "report/sections.h"

// Writes nothing when no arm's load is offered in shares of the capacity. False when memory runs
// out.
bool tlc_overload_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
