#include "generator/interrupt.h"

#include <stdatomic.h>

#include "generator/generator.h"

static atomic_bool interrupted; // lock-free, so a signal handler may set it

void tlc_generator_interrupt(void)
{
    atomic_store(&interrupted, true);
}

bool tlc_generator_interrupted(void)
{
    return atomic_load(&interrupted);
}
