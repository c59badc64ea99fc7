#include "cli/measuring.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/interrupt.h"
#include "measure/machine.h"
#include "measure/proc.h"

// CPUs that do not exist, or that this process may not use, would fail only once servers start.
static enum tlc_status check_usable(const char *option, const char *list, const cpu_set_t *asked,
                                    struct tlc_error *error)
{
    cpu_set_t usable, both;
    char text[256];
    if (!list)
        return TLC_OK;
    if (sched_getaffinity(0, sizeof usable, &usable))
        return tlc_fail_errno(error, "cpus: read the affinity");
    CPU_AND(&both, asked, &usable);
    if (CPU_EQUAL(&both, asked))
        return TLC_OK;
    tlc_cpus_format(&usable, text, sizeof text);
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "%s: '%.100s': not all of these are CPUs that this process may use; it may use "
                    "%s",
                    option, list, text);
}

static void warn_of_overlap(const cpu_set_t *server, const cpu_set_t *generator)
{
    cpu_set_t both;
    char text[256];
    CPU_AND(&both, server, generator);
    if (!CPU_COUNT(&both))
        return;
    tlc_cpus_format(&both, text, sizeof text);
    fprintf(
        stderr,
        "tlscost: warning: servers and generator share CPU %s: the generator's work would count "
        "as the server's, so that checks will refuse the figures; give them CPUs of their "
        "own\n",
        text);
}

enum tlc_status tlc_choose_cpus(const char *server_list, const char *generator_list,
                                cpu_set_t *server, cpu_set_t *generator, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    if (!server_list || !generator_list)
        status = tlc_machine_split_cpus(server, generator, error);
    if (status == TLC_OK && server_list)
        status = tlc_cpus_parse(server_list, server, error);
    if (status == TLC_OK && generator_list)
        status = tlc_cpus_parse(generator_list, generator, error);
    if (status == TLC_OK)
        status = check_usable("--server-cpus", server_list, server, error);
    if (status == TLC_OK)
        status = check_usable("--generator-cpus", generator_list, generator, error);
    if (status == TLC_OK)
        warn_of_overlap(server, generator);
    // The orchestrator sleeps while a slice runs, and wakes away from the servers.
    if (status == TLC_OK && sched_setaffinity(0, sizeof *generator, generator))
        status = tlc_fail_errno(error, "cpus: pin to the generator's CPUs");
    return status;
}

static void on_signal(int number)
{
    (void)number;
    tlc_interrupt();
}

void tlc_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void tlc_progress_init(struct tlc_progress *progress, bool quiet)
{
    *progress = (struct tlc_progress){.terminal = isatty(STDERR_FILENO),
                                      .quiet = quiet,
                                      .last_percent = -1,
                                      .last_block = 999999};
}

void tlc_progress_show(void *user, double done, double seconds_left, unsigned block,
                       const char *arm)
{
    struct tlc_progress *progress = user;
    int percent = (int)(done * 100), left = (int)(seconds_left + 0.5);
    if (progress->quiet || (percent == progress->last_percent && block == progress->last_block))
        return;
    if (progress->terminal) {
        fprintf(stderr, "\r\033[K%3d %%  %d:%02d left  block %u  %s", percent, left / 60, left % 60,
                block + 1, arm);
        fflush(stderr);
    } else if (block != progress->last_block || percent / 10 != progress->last_percent / 10) {
        fprintf(stderr, "tlscost: %d %% done, %d:%02d left (block %u)\n", percent, left / 60,
                left % 60, block + 1);
    }
    progress->last_block = block;
    progress->last_percent = percent;
}

void tlc_progress_end(const struct tlc_progress *progress)
{
    if (progress->terminal && !progress->quiet)
        fprintf(stderr, "\r\033[K");
}

enum tlc_status tlc_measuring_begin(struct tlc_measuring *measuring, const char *command,
                                    const struct tlc_measuring_options *options,
                                    struct tlc_error *error)
{
    char name[64];
    *measuring = (struct tlc_measuring){
        .campaign = {.work_directory = measuring->work,
                     .certificate_directory = measuring->cache,
                     .journal = measuring->journal,
                     .progress = tlc_progress_show,
                     .user = &measuring->progress},
    };
    tlc_progress_init(&measuring->progress, options->quiet);
    snprintf(name, sizeof name, "tlscost-%s", command);
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_CACHE, measuring->cache,
                                                   sizeof measuring->cache, error);
    if (status == TLC_OK)
        status = tlc_directory_temporary(name, measuring->work, sizeof measuring->work, error);
    if (status != TLC_OK) {
        measuring->work[0] = '\0';
        return status;
    }
    snprintf(measuring->journal, sizeof measuring->journal, "%s/journal", measuring->work);
    return tlc_choose_cpus(options->server_cpus, options->generator_cpus,
                           &measuring->campaign.server_cpus, &measuring->campaign.generator_cpus,
                           error);
}

void tlc_measuring_end(struct tlc_measuring *measuring, bool keep_logs)
{
    if (!measuring->work[0])
        return;
    tlc_progress_end(&measuring->progress);
    if (keep_logs)
        fprintf(stderr, "tlscost: logs are in %s\n", measuring->work);
    else
        tlc_directory_remove(measuring->work);
}
