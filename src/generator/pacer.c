#include "generator/pacer.h"

#include <math.h>

void tlc_pacer_begin(struct tlc_pacer *pacer, uint64_t now_ns, const struct tlc_pace *pace)
{
    *pacer = (struct tlc_pacer){
        .begin_ns = now_ns,
        .stop_ns = pace->duration_us ? now_ns + pace->duration_us * 1000 : UINT64_MAX,
        .count = pace->count ? pace->count : UINT64_MAX,
        .open_loop = pace->open_loop,
        .rate = pace->rate,
    };
    if (pace->open_loop && pace->duration_us)
        pacer->slope = (pace->rate_end - pace->rate) / ((double)pace->duration_us / 1e6);
}

// Starts due until t seconds after the beginning: rate t + slope t^2 / 2. This is its inverse.
static uint64_t due_ns(const struct tlc_pacer *pacer, uint64_t index)
{
    double k = (double)index, seconds;
    if (pacer->slope == 0) {
        seconds = k / pacer->rate;
    } else {
        double square = pacer->rate * pacer->rate + 2 * pacer->slope * k;
        if (square < 0)
            return TLC_PACER_NEVER; // a falling rate reaches zero before
        // The usual formula, turned so that nothing cancels out for small slopes.
        double divisor = pacer->rate + sqrt(square);
        seconds = divisor > 0 ? 2 * k / divisor : 0;
    }
    return seconds < 1e9 ? pacer->begin_ns + (uint64_t)(seconds * 1e9) : TLC_PACER_NEVER;
}

uint64_t tlc_pacer_next_ns(const struct tlc_pacer *pacer, uint64_t now_ns)
{
    if (pacer->stopped || pacer->taken >= pacer->count || now_ns >= pacer->stop_ns)
        return TLC_PACER_NEVER;
    if (!pacer->open_loop)
        return now_ns;
    uint64_t next = due_ns(pacer, pacer->taken);
    return next < pacer->stop_ns ? next : TLC_PACER_NEVER;
}

bool tlc_pacer_take(struct tlc_pacer *pacer, uint64_t now_ns, uint64_t *intended_ns)
{
    uint64_t next = tlc_pacer_next_ns(pacer, now_ns);
    if (next > now_ns)
        return false;
    pacer->taken++;
    *intended_ns = next;
    return true;
}

void tlc_pacer_stop(struct tlc_pacer *pacer)
{
    pacer->stopped = true;
}

uint64_t tlc_pacer_missed(const struct tlc_pacer *pacer, uint64_t now_ns)
{
    if (!pacer->open_loop || pacer->stopped)
        return 0;
    uint64_t until_ns = now_ns < pacer->stop_ns ? now_ns : pacer->stop_ns;
    double seconds = (double)(until_ns - pacer->begin_ns) / 1e9;
    if (pacer->slope < 0 && seconds > pacer->rate / -pacer->slope)
        seconds = pacer->rate / -pacer->slope;
    double due = ceil((pacer->rate + pacer->slope * seconds / 2) * seconds - 1e-6);
    if (due > (double)pacer->count)
        due = (double)pacer->count;
    return due > (double)pacer->taken ? (uint64_t)due - pacer->taken : 0;
}
