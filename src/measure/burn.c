#include "measure/burn.h"
#include "measure/clock.h"

// Some 0.2 us between two looks at the clock, which reads it without entering the kernel.
static void work(void)
{
    for (int i = 0; i < 512; i++)
        __asm__ volatile("" ::: "memory");
}

// How much of a step was work. An interrupt, the kernel's work on packets behind it, or another
// process makes a step much longer than the usual one; that time is not the burn's, and where it is
// the kernel's work for the server it would be done at another moment without the burn.
static double work_in(double step_ns)
{
    static _Thread_local double usual_ns;
    static _Thread_local unsigned longer;
    enum { CHANGED = 32 }; // so many in a row are no interrupts: the processor is slower now
    if (usual_ns > 0 && step_ns > 2 * usual_ns && ++longer < CHANGED)
        return usual_ns;
    if (usual_ns > 0 && longer < CHANGED)
        usual_ns += (step_ns - usual_ns) / 64;
    else
        usual_ns = step_ns;
    longer = 0;
    return step_ns;
}

uint64_t tlc_burn(unsigned us)
{
    const double asked_ns = us * 1000.0;
    uint64_t before = tlc_now_ns();
    double burnt_ns = 0, step_ns = 0;
    // Half a step more makes the burnt time right on average.
    while (burnt_ns + step_ns / 2 < asked_ns) {
        work();
        uint64_t now = tlc_now_ns();
        step_ns = work_in((double)(now - before));
        burnt_ns += step_ns;
        before = now;
    }
    return (uint64_t)burnt_ns;
}

double tlc_burn_charge(unsigned us)
{
    uint64_t before_ns = tlc_thread_cpu_ns();
    double worked_ns = (double)tlc_burn(us);
    return (double)(tlc_thread_cpu_ns() - before_ns) / worked_ns;
}
