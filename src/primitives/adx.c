// Four words of 64 bits with MULX, ADCX and ADOX: two chains of carries at once. This file alone is
// compiled for BMI2, ADX and AVX2.
#include "primitives/backends.h"
#include "primitives/field64_adx.h"
#include "primitives/processor.h"

#include "primitives/single.h"

#include "primitives/parts.h"

const struct tlc_x25519_backend tlc_x25519_adx = {
    .name = "adx",
    .summary = "four words of 64 bits, BMI2 and ADX",
    .supported = tlc_x25519_has_adx,
    PART_FUNCTIONS,
};
