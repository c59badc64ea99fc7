// Medians and their variation over process samples, as studies of raw operations tell them (private
// to the room).
#ifndef TLC_REPORT_VARIATION_H
#define TLC_REPORT_VARIATION_H

#include "report/model.h"
#include "report/sections.h"

// Writes nothing when no arm tells its variation. False when memory runs out.
bool tlc_variation_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
