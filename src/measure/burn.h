// Extra CPU of a known size, to show that the instrument reads it (calibration).
#ifndef TLC_MEASURE_BURN_H
#define TLC_MEASURE_BURN_H

#include <stdint.h>

// Keeps the calling thread at work for `us` microseconds and returns how many nanoseconds of work
// it did by its own clock. Interrupts, and time in which the thread was not running, are no part of
// either, so the thread's CPU time may grow by more.
uint64_t tlc_burn(unsigned us);

// What the kernel charges this thread for `us` microseconds of such work while it has nothing else
// to do: CPU time over work. Timer interrupts, and what a hypervisor takes without telling, make it
// more than 1.
double tlc_burn_charge(unsigned us);

#endif
