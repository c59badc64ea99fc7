#include "measure/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t tlc_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t tlc_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t tlc_process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    // clock_getcpuclockid(0) would be the caller's own clock.
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0)
        return 0;
    return read_ns(clock);
}
