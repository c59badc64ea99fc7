// What each side of a handshake costs, of arms whose two sides share a process, and their
// throughput as JMH tells it (private to the room).
#ifndef TLC_REPORT_SIDES_H
#define TLC_REPORT_SIDES_H

#include "report/model.h"
#include "report/sections.h"

// Whose CPU time the cost is: "server CPU", "CPU of both sides", ...
const char *tlc_sides_cost(const struct tlc_report_model *model);
// Writes nothing when no arm is of this kind. False when memory runs out.
bool tlc_sides_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
