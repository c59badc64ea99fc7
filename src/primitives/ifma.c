// One key: the multiplications over lanes of AVX-512 IFMA, the inversion and the rest with ADX.
// Without these (TLC_X25519_PORTABLE, for tests) over the portable forms of both.
#include "primitives/backends.h"
#include "primitives/processor.h"
#include "primitives/split.h"

#ifdef TLC_X25519_PORTABLE
#include "primitives/field64.h"
#define SPLIT   tlc_x25519_split_portable
#define LADDER4 tlc_x25519_ladder4_portable
#else
#include "primitives/field64_adx.h"
#define SPLIT   tlc_x25519_split_ifma
#define LADDER4 tlc_x25519_ladder4_ifma
#endif

#define FE_OWN_MULTIPLY
#include "primitives/single.h"

static inline void base_multiply(fe *y, fe *z, const uint8_t *scalar)
{
    uint8_t bytes[2][32];
    SPLIT(bytes[0], bytes[1], scalar);
    fe_load(y, bytes[0]);
    fe_load(z, bytes[1]);
}

static inline void variable_multiply(fe *x, fe *z, const uint8_t *scalar, const uint8_t *u)
{
    uint8_t bytes[2][32];
    LADDER4(bytes[0], bytes[1], scalar, u);
    fe_load(x, bytes[0]);
    fe_load(z, bytes[1]);
}

#include "primitives/parts.h"

#ifdef TLC_X25519_PORTABLE
#define IFMA      tlc_x25519_split64
#define SUPPORTED supported
static bool supported(void)
{
    return true;
}
#else
#define IFMA      tlc_x25519_ifma
#define SUPPORTED tlc_x25519_has_ifma
#endif

const struct tlc_x25519_backend IFMA = {
    .name = "ifma",
    .summary = "one key over lanes of AVX-512 IFMA, inversion with BMI2 and ADX",
    .supported = SUPPORTED,
    PART_FUNCTIONS,
};
