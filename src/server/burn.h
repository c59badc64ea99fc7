// Extra CPU of a known size, to show that the instrument reads it (calibration).
// It is private to the room.
#ifndef TLC_SERVER_BURN_H
#define TLC_SERVER_BURN_H

#include <stdint.h>

// Keeps the calling thread busy until it has used `us` microseconds of CPU, the cost of looking at
// the clock included, and returns how many nanoseconds it really used by the thread's clock: what
// the kernel charges for interrupts in the meantime is in it, so it may be more than was asked.
// Time in which the thread was not running does not count.
uint64_t tlc_burn(unsigned us);

#endif
