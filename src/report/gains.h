// Arms that are divided by the arm which differs from them in one key (against: KEY=VALUE): what is
// gained, with the published figures of the same pairs (private to the room).
#ifndef TLC_REPORT_GAINS_H
#define TLC_REPORT_GAINS_H

#include "report/model.h"
#include "report/published.h"
#include "report/sections.h"

// Whether any arm is divided so.
bool tlc_gains_any(const struct tlc_report_model *model);
// Writes nothing when no arm is divided so. False when memory runs out.
bool tlc_gains_write(const struct tlc_report_model *model, const struct tlc_published *published,
                     const struct tlc_emitter *emitter);

#endif
