// Whether the user asked the program to end (SIGINT, SIGTERM): long waits look at it.
#ifndef TLC_BASE_INTERRUPT_H
#define TLC_BASE_INTERRUPT_H

#include <stdbool.h>

void tlc_interrupt(void); // async-signal-safe
bool tlc_interrupted(void);

#endif
