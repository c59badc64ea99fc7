// One multiplication spread over lanes. Private to the room.
#ifndef TLC_PRIMITIVES_SPLIT_H
#define TLC_PRIMITIVES_SPLIT_H

#include <stdint.h>

// scalar * B: y and z as canonical bytes of field elements.
void tlc_x25519_split_ifma(uint8_t y[32], uint8_t z[32], const uint8_t scalar[32]);
void tlc_x25519_split_portable(uint8_t y[32], uint8_t z[32], const uint8_t scalar[32]);

// scalar * the point u: x and z as canonical bytes, u being x / z.
void tlc_x25519_ladder4_ifma(uint8_t x[32], uint8_t z[32], const uint8_t scalar[32],
                             const uint8_t u[32]);
void tlc_x25519_ladder4_portable(uint8_t x[32], uint8_t z[32], const uint8_t scalar[32],
                                 const uint8_t u[32]);

#endif
