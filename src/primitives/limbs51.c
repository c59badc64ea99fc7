// Five limbs of 51 bits.
#include "primitives/backends.h"
#include "primitives/field51.h"

#include "primitives/single.h"

#include "primitives/parts.h"

static bool supported(void)
{
    return true;
}

const struct tlc_x25519_backend tlc_x25519_limbs51 = {
    .name = "limbs51",
    .summary = "five limbs of 51 bits, portable C",
    .supported = supported,
    PART_FUNCTIONS,
};
