// How an arm's handshakes were spread over the workers of its server (private to the room).
#ifndef TLC_REPORT_SPREAD_H
#define TLC_REPORT_SPREAD_H

#include <stdbool.h>

#include "report/sections.h"

// Nothing when no arm has several workers that count. False when memory runs out.
bool tlc_spread_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
