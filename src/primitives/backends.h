// The back ends of this build. Private to the room.
#ifndef TLC_PRIMITIVES_BACKENDS_H
#define TLC_PRIMITIVES_BACKENDS_H

#include "primitives/x25519.h"

extern const struct tlc_x25519_backend tlc_x25519_limbs51, tlc_x25519_limbs64;
#ifdef TLC_X25519_X86
extern const struct tlc_x25519_backend tlc_x25519_adx, tlc_x25519_ifma, tlc_x25519_ifma8;
#endif
// Built by tests only: what ifma8 and ifma do, on lanes in plain C.
extern const struct tlc_x25519_backend tlc_x25519_lanes8, tlc_x25519_split64;

#endif
