// Bytes of a handshake, memory of a server, and memory for a server name (private to the room).
#ifndef TLC_REPORT_SIZES_H
#define TLC_REPORT_SIZES_H

#include <stdbool.h>

#include "report/sections.h"

// Nothing when no arm was counted over the network. False when memory runs out.
bool tlc_sizes_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter);

#endif
