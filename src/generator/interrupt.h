// Whether tlc_generator_interrupt was called. Private to the room.
#ifndef TLC_GENERATOR_INTERRUPT_H
#define TLC_GENERATOR_INTERRUPT_H

#include <stdbool.h>

bool tlc_generator_interrupted(void);

#endif
