// perf(1) as the sampler of a running server: one `perf record` for a process tree, silent until it
// is told to sample.
#ifndef TLC_ATTRIBUTE_SAMPLER_H
#define TLC_ATTRIBUTE_SAMPLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "attribute/perf_script.h"
#include "base/error.h"

struct tlc_sampler_options {
    const pid_t *pids; // processes of the tree; later threads and children are followed
    size_t pid_count;
    unsigned frequency_hz; // of CPU time
    bool frame_pointers;   // chains by frame pointers instead of DWARF
    const char *directory; // for its data; 0700
};

struct tlc_sampler;

// Whether perf is there and the kernel lets this user sample: TLC_ENVIRONMENT with the remedy.
enum tlc_status tlc_sampler_check(struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_sampler_start(const struct tlc_sampler_options *options,
                                  struct tlc_sampler **sampler,
                                  struct tlc_error *error) TLC_CHECKED;
// Samples, or no more, from now on; done when this returns.
enum tlc_status tlc_sampler_enable(struct tlc_sampler *sampler, bool on,
                                   struct tlc_error *error) TLC_CHECKED;
// Ends the sampling and hands over every chain.
enum tlc_status tlc_sampler_read(struct tlc_sampler *sampler, tlc_chain_taker *take, void *user,
                                 struct tlc_perf_script_counts *counts,
                                 struct tlc_error *error) TLC_CHECKED;
void tlc_sampler_free(struct tlc_sampler *sampler); // NULL is allowed; removes its data

#endif
