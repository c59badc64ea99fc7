// Deadlines of this room: private to the room, since src/measure/clock.h lies above it.
#ifndef TLC_BASE_MONOTONIC_H
#define TLC_BASE_MONOTONIC_H

#include <stdint.h>

int64_t tlc_monotonic_ms(void); // CLOCK_MONOTONIC in milliseconds

#endif
