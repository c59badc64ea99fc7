#include "server/burn.h"

#include "measure/clock.h"

// A look at the thread's CPU clock is a system call of a fraction of a microsecond; some plain work
// between two looks keeps the burnt time mostly the user's, as that of a handshake is.
static void work(void)
{
    for (int i = 0; i < 64; i++)
        __asm__ volatile("" ::: "memory");
}

uint64_t tlc_burn(unsigned us)
{
    // What a look costs: the least step this thread has seen, since a longer one had an interrupt
    // in it, which even the only step of a burn may have.
    static _Thread_local uint64_t look = UINT64_MAX;
    uint64_t begin = tlc_thread_cpu_ns(), before = begin;
    uint64_t end = begin + (uint64_t)us * 1000;
    for (;;) {
        work();
        uint64_t now = tlc_thread_cpu_ns();
        if (now - before < look)
            look = now - before;
        // The halves of a look before `begin` and after `now` are about one; half a look more makes
        // the burnt time right on average.
        if (now + look + look / 2 >= end)
            return now + look - begin;
        before = now;
    }
}
