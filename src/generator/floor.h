// The TCP floor: connections with the byte counts of a TLS handshake and no TLS, to see what the
// kernel alone costs. The client tells its counts in the first bytes it sends.
#ifndef TLC_GENERATOR_FLOOR_H
#define TLC_GENERATOR_FLOOR_H

#include <stddef.h>

#include "generator/generator.h"

#define TLC_FLOOR_HEADER_BYTES 20

// Magic, then the four counts, big-endian.
void tlc_floor_header(const struct tlc_floor *floor, uint8_t header[TLC_FLOOR_HEADER_BYTES]);
// False when these are not the first bytes of a floor client, or its counts are out of bounds.
bool tlc_floor_header_parse(const uint8_t *bytes, size_t count, struct tlc_floor *floor);
// Counts within bounds: a header fits, nothing is larger than a handshake may be.
bool tlc_floor_sound(const struct tlc_floor *floor);

#endif
