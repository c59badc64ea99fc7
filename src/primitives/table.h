// Multiples of the base point, computed while building by make_table.c. Private to the room.
//
// Scalars are multiples of eight, so the tables hold multiples of 8B and the scalar is divided by
// eight: 252 bits are left. Entry e of window i is (e + 1) * 2^(bits * i) * 8B.
#ifndef TLC_PRIMITIVES_TABLE_H
#define TLC_PRIMITIVES_TABLE_H

#include <stdint.h>

enum {
    TABLE_BITS = 5,
    TABLE_WINDOWS = 51,
    TABLE_ENTRIES = 1 << (TABLE_BITS - 1),
    SPLIT_BITS = 4,
    SPLIT_STEPS = 8, // windows of each of the eight lanes
    SPLIT_ENTRIES = 1 << (SPLIT_BITS - 1)
};

// y + x, y - x, 2dxy, each four words of 64 bits.
extern const uint64_t tlc_x25519_table[TABLE_WINDOWS][TABLE_ENTRIES][12];
// The same as fifteen limbs of 51 bits, limb by limb, so that one permutation of a vector register
// picks an entry for each of eight lanes.
extern const uint64_t tlc_x25519_table_lanes[TABLE_WINDOWS][15][TABLE_ENTRIES];
// Window 8 * step + lane for each lane.
extern const uint64_t tlc_x25519_table_split[SPLIT_STEPS][SPLIT_ENTRIES][15][8];

#endif
