// The arms of a report: a table and bars for each lever, the control, and the published results
// that the tables cite (private to the room).
#ifndef TLC_REPORT_ARMS_H
#define TLC_REPORT_ARMS_H

#include "report/model.h"
#include "report/published.h"
#include "report/sections.h"

enum { TLC_MAX_SOURCES = 32, TLC_MAX_LEVERS = 32 };

// The number of each source in brackets, 0: not used yet; and the levers it was used for.
struct tlc_citations {
    unsigned numbers[TLC_MAX_SOURCES], last;
    bool used[TLC_MAX_SOURCES][TLC_MAX_LEVERS];
};

// False when memory runs out.
bool tlc_arms_write(const struct tlc_report_model *model, const struct tlc_published *published,
                    const struct tlc_emitter *emitter, struct tlc_citations *citations);
// Writes nothing when nothing was cited.
bool tlc_citations_write(const struct tlc_report_model *model,
                         const struct tlc_published *published, const struct tlc_emitter *emitter,
                         struct tlc_citations *citations);

#endif
