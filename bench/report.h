// What bench/generator prints.
#ifndef TLC_BENCH_REPORT_H
#define TLC_BENCH_REPORT_H

#include "bench/arms.h"

// The document of --json (docs/bench.md); the caller owns the reference.
json_t *bench_to_json(const struct bench *bench);
void bench_print(const struct bench *bench);

#endif
