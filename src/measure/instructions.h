// Hardware counters of instructions (perf_event_open(2)).
#ifndef TLC_MEASURE_INSTRUCTIONS_H
#define TLC_MEASURE_INSTRUCTIONS_H

#include <jansson.h>

// {available, reason}: whether this process may count its own instructions in user space with a
// hardware counter, and if not, why. The caller owns the reference.
json_t *tlc_instructions_describe(void);

// Why perf_event_open(2) failed with an errno value, in words for a user.
const char *tlc_perf_reason(int code);

#endif
