// Arms over time (private to the room).
#ifndef TLC_REPORT_CURVES_H
#define TLC_REPORT_CURVES_H

#include "report/sections.h"

// Writes a section when any arm has a curve. False when memory runs out.
bool tlc_curves_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
