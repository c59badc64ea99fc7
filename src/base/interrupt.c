#include "base/interrupt.h"

#include <stdatomic.h>

static atomic_bool interrupted; // lock-free, so a signal handler may set it

void tlc_interrupt(void)
{
    atomic_store(&interrupted, true);
}

bool tlc_interrupted(void)
{
    return atomic_load(&interrupted);
}
