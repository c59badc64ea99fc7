// Four words of 64 bits, without special instructions.
#include "primitives/backends.h"
#include "primitives/field64.h"

#include "primitives/single.h"

#include "primitives/parts.h"

static bool supported(void)
{
    return true;
}

const struct tlc_x25519_backend tlc_x25519_limbs64 = {
    .name = "limbs64",
    .summary = "four words of 64 bits, portable C",
    .supported = supported,
    PART_FUNCTIONS,
};
