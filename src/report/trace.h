// What the server's cryptography did in a handshake, of arms whose server was traced, and which
// part of it asked for memory (private to the room).
#ifndef TLC_REPORT_TRACE_H
#define TLC_REPORT_TRACE_H

#include "report/model.h"
#include "report/sections.h"

// Writes nothing when no arm was traced. False when memory runs out.
bool tlc_trace_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
