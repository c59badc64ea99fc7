// What resumption is worth, and what it saves and keeps (private to the room).
#ifndef TLC_REPORT_RESUMPTION_H
#define TLC_REPORT_RESUMPTION_H

#include "report/sections.h"

// Writes a section when an arm that resumes is divided by one that does not. False when memory runs
// out.
bool tlc_resumption_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
