// What subcommands that run a campaign share: CPUs, interruption, progress.
#ifndef TLC_CLI_MEASURING_H
#define TLC_CLI_MEASURING_H

#include <sched.h>
#include <stdbool.h>

#include "base/error.h"

// The CPU sets of two lists ("1", "2-3"); NULL: chosen. CPUs that this process may not use are an
// error, sets that overlap a warning. This process is pinned to the generator's.
enum tlc_status tlc_choose_cpus(const char *server_list, const char *generator_list,
                                cpu_set_t *server, cpu_set_t *generator,
                                struct tlc_error *error) TLC_CHECKED;
// SIGINT, SIGTERM and SIGHUP end a campaign after its slice; SIGPIPE is ignored.
void tlc_catch_interrupts(void);

// Progress on standard error: one line rewritten on a terminal, a line now and then elsewhere.
struct tlc_progress {
    bool terminal, quiet;
    unsigned last_block;
    int last_percent;
};
void tlc_progress_init(struct tlc_progress *progress, bool quiet);
// For tlc_campaign_options.progress; `user` is the struct tlc_progress.
void tlc_progress_show(void *user, double done, double seconds_left, unsigned block,
                       const char *arm);
void tlc_progress_end(const struct tlc_progress *progress);

#endif
