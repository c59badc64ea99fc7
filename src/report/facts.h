// What holds over the campaign as a whole: claims over all arms, outliers, the order effect
// (private to the room).
#ifndef TLC_REPORT_FACTS_H
#define TLC_REPORT_FACTS_H

#include "report/model.h"
#include "report/sections.h"

// Writes nothing when the result tells none of it. False when memory runs out.
bool tlc_facts_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
