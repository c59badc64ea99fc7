// What a stranger's unfinished handshakes cost a server (private to the room).
#ifndef TLC_REPORT_PRE_AUTHENTICATION_H
#define TLC_REPORT_PRE_AUTHENTICATION_H

#include "report/model.h"
#include "report/published.h"
#include "report/sections.h"

// Writes nothing when no arm's clients leave early. False when memory runs out.
bool tlc_pre_authentication_write(const struct tlc_report_model *model,
                                  const struct tlc_published *published,
                                  const struct tlc_emitter *emitter);

#endif
