// The machine and the stacks of a result (private to the room).
#ifndef TLC_REPORT_ENVIRONMENT_H
#define TLC_REPORT_ENVIRONMENT_H

#include "report/model.h"
#include "report/sections.h"

// False when memory runs out.
bool tlc_environment_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
