// Extra CPU of a known size, to show that the instrument reads it (calibration).
// It is private to the room.
#ifndef TLC_SERVER_BURN_H
#define TLC_SERVER_BURN_H

// Keeps the calling thread busy until it has used `us` microseconds of CPU, the cost of looking at
// the clock included. Time in which the thread was not running does not count.
void tlc_burn(unsigned us);

#endif
