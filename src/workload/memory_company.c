#include "workload/memory_company.h"

#include "measure/burn.h"
#include "measure/clock.h"
#include "stats/stats.h"

// So many handshakes in a row, a burn before each; without one where `burn_us` is 0.
static enum tlc_status some(struct tlc_memory_arm *arm, unsigned burn_us, unsigned handshakes,
                            double *charged_ns, double *worked_ns, struct tlc_error *error)
{
    uint64_t before_ns = tlc_thread_cpu_ns();
    for (unsigned i = 0; i < handshakes; i++) {
        struct tlc_memory_times times = {0};
        struct tlc_memory_outcome outcome;
        if (burn_us)
            *worked_ns += (double)tlc_burn(burn_us);
        bool good = tlc_memory_handshake(&arm->pair, false, &times, &outcome);
        tlc_memory_end(&arm->pair, &times);
        if (!good)
            return tlc_fail(error, TLC_REFUSED, "handshake: %s", outcome.failure);
    }
    *charged_ns = (double)(tlc_thread_cpu_ns() - before_ns);
    return TLC_OK;
}

enum tlc_status tlc_memory_company(struct tlc_memory_arm *arm, struct tlc_memory_company *company,
                                   struct tlc_error *error)
{
    double in_company[TLC_COMPANY_TURNS], by_itself[TLC_COMPANY_TURNS];
    enum tlc_status status = TLC_OK;
    for (unsigned turn = 0; status == TLC_OK && turn < company->turns; turn++) {
        double charged_ns[2] = {0, 0}, worked_ns = 0;
        // With first, without first, ...: what drifts meets both alike.
        for (unsigned i = 0; status == TLC_OK && i < 2; i++) {
            unsigned with = (turn + i) % 2;
            status = some(arm, with ? company->burn_us : 0, company->handshakes, &charged_ns[with],
                          &worked_ns, error);
        }
        in_company[turn] = (charged_ns[1] - charged_ns[0]) / worked_ns;
        by_itself[turn] = tlc_burn_charge(company->burn_us * company->handshakes);
    }
    if (status != TLC_OK)
        return status;
    // Estimates that a few long interruptions do not move, as those of the network's slices.
    company->company = tlc_signed_rank_interval(in_company, company->turns, 0.95).estimate;
    company->alone = tlc_signed_rank_interval(by_itself, company->turns, 0.95).estimate;
    return TLC_OK;
}
