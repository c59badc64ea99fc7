// What subcommands that run a campaign share: CPUs, folders, interruption, progress.
#ifndef TLC_CLI_MEASURING_H
#define TLC_CLI_MEASURING_H

#include <sched.h>
#include <stdbool.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "cli/arguments.h"

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

// A campaign that is about to run. It points into itself, and is not to be moved.
struct tlc_measuring {
    struct tlc_campaign_options campaign; // but for the plan and what only some commands have
    struct tlc_progress progress;
    char cache[512], work[640], journal[700];
};
// Makes a work folder for the logs of this command, with a journal of that campaign alone in it,
// and chooses the CPUs. tlc_measuring_end follows it, also when it failed.
enum tlc_status tlc_measuring_begin(struct tlc_measuring *measuring, const char *command,
                                    const struct tlc_measuring_options *options,
                                    struct tlc_error *error) TLC_CHECKED;
// Removes the work folder, or tells where it is.
void tlc_measuring_end(struct tlc_measuring *measuring, bool keep_logs);

#endif
