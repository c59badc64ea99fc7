// Figures from the samples of all rounds. Pure: no I/O.
#ifndef TLC_BENCH_FIGURES_H
#define TLC_BENCH_FIGURES_H

#include "bench/arms.h"
#include "stats/stats.h"

// The arm with these properties (share NULL: any), or NULL.
const struct arm *bench_arm(const struct bench *bench, enum arm_kind kind, const char *group,
                            const char *share, const struct arm_loop *loop);
// Client CPU of one arm over that of another, paired within rounds. Processes are fresh in each
// round, so each round is an instance and the 95 % interval is over instances.
struct tlc_interval bench_ratio(const struct bench *bench, const struct arm *arm,
                                const struct arm *baseline);
struct tlc_interval bench_client_us(const struct bench *bench, const struct arm *arm);
struct tlc_interval bench_server_us(const struct bench *bench, const struct arm *arm);
// Sums of the counters over all rounds; `there` says whether any round gave a figure.
struct sample bench_total(const struct bench *bench, const struct arm *arm);
void arm_name(const struct arm *arm, char *name, size_t capacity);

#endif
