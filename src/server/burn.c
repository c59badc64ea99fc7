#include "server/burn.h"

#include <stdint.h>

#include "measure/clock.h"

// A look at the thread's CPU clock is a system call of a fraction of a microsecond; some plain work
// between two looks keeps the burnt time mostly the user's, as that of a handshake is.
static void work(void)
{
    for (int i = 0; i < 64; i++)
        __asm__ volatile("" ::: "memory");
}

void tlc_burn(unsigned us)
{
    uint64_t begin = tlc_thread_cpu_ns(), before = begin;
    uint64_t end = begin + (uint64_t)us * 1000;
    for (;;) {
        work();
        uint64_t now = tlc_thread_cpu_ns(), step = now - before;
        // The halves of a look before `begin` and after `now` are about one step; half a step more
        // makes the burnt time right on average.
        if (now + step + step / 2 >= end)
            return;
        before = now;
    }
}
