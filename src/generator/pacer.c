#include "generator/pacer.h"

void tlc_pacer_begin(struct tlc_pacer *pacer, uint64_t now_ns, uint64_t duration_us, uint64_t count,
                     double rate)
{
    *pacer = (struct tlc_pacer){
        .begin_ns = now_ns,
        .stop_ns = duration_us ? now_ns + duration_us * 1000 : UINT64_MAX,
        .count = count ? count : UINT64_MAX,
        .interval_ns = rate > 0 ? 1e9 / rate : 0,
    };
}

static uint64_t due_ns(const struct tlc_pacer *pacer, uint64_t index)
{
    return pacer->begin_ns + (uint64_t)((double)index * pacer->interval_ns);
}

uint64_t tlc_pacer_next_ns(const struct tlc_pacer *pacer, uint64_t now_ns)
{
    if (pacer->stopped || pacer->taken >= pacer->count || now_ns >= pacer->stop_ns)
        return TLC_PACER_NEVER;
    if (pacer->interval_ns <= 0)
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
    if (pacer->interval_ns <= 0 || pacer->stopped)
        return 0;
    uint64_t until = now_ns < pacer->stop_ns ? now_ns : pacer->stop_ns;
    // Start k is due at begin + k * interval, k from 0.
    uint64_t due = (uint64_t)((double)(until - pacer->begin_ns - 1) / pacer->interval_ns) + 1;
    if (due > pacer->count)
        due = pacer->count;
    return due > pacer->taken ? due - pacer->taken : 0;
}
