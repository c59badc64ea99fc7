// Compiled for every processor of the architecture, as it runs before anything is known.
#include <cpuid.h>

#include "primitives/processor.h"

bool tlc_x25519_has_adx(void)
{
    unsigned a, b, c, d;
    // BMI2 is bit 8 and ADX bit 19 of EBX in leaf 7. AVX2 depends on the system as well.
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 8 & 1) && (b >> 19 & 1) &&
           __builtin_cpu_supports("avx2");
}

bool tlc_x25519_has_ifma(void)
{
    return tlc_x25519_has_adx() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma");
}
