// One key: the fixed-base multiplication over eight lanes of AVX-512 IFMA, everything else with
// ADX. Without these (TLC_X25519_PORTABLE, for tests) over the portable forms of both.
#include "primitives/backends.h"
#include "primitives/processor.h"
#include "primitives/split.h"

#ifdef TLC_X25519_PORTABLE
#include "primitives/field64.h"
#define SPLIT tlc_x25519_split_portable
#else
#include "primitives/field64_adx.h"
#define SPLIT tlc_x25519_split_ifma
#endif

#define FE_OWN_BASE_MULTIPLY
#include "primitives/single.h"

static inline void base_multiply(fe *y, fe *z, const uint8_t *scalar)
{
    uint8_t bytes[2][32];
    SPLIT(bytes[0], bytes[1], scalar);
    fe_load(y, bytes[0]);
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
    .summary = "fixed base over eight lanes of AVX-512 IFMA, the rest with BMI2 and ADX",
    .supported = SUPPORTED,
    PART_FUNCTIONS,
};
