// What processors have. Private to the room.
#ifndef TLC_PRIMITIVES_PROCESSOR_H
#define TLC_PRIMITIVES_PROCESSOR_H

#include <stdbool.h>

bool tlc_x25519_has_adx(void);  // BMI2, ADX, AVX2
bool tlc_x25519_has_ifma(void); // those, and AVX-512 F, DQ, VL, IFMA

#endif
