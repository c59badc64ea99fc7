// Clocks and CPU time. All values are nanoseconds.
#ifndef TLC_MEASURE_CLOCK_H
#define TLC_MEASURE_CLOCK_H

#include <stdint.h>
#include <sys/types.h>

uint64_t tlc_now_ns(void);        // CLOCK_MONOTONIC
uint64_t tlc_thread_cpu_ns(void); // CPU time of the calling thread
// CPU time of a whole process, ended threads included; 0 when it is gone (clock_getcpuclockid(3)).
uint64_t tlc_process_cpu_ns(pid_t pid);

#endif
