#include "cli/connect_run.h"

#include <stdio.h>
#include <string.h>

#include "base/directory.h"
#include "base/interrupt.h"
#include "campaign/campaign.h"
#include "cli/measuring.h"

bool tlc_is_connect_plan(const struct tlc_plan *plan)
{
    return !strcmp(plan->workload, "connect");
}

static void show(void *user, double done, double seconds_left)
{
    tlc_progress_show(user, done, seconds_left, 0, "all arms at once");
}

enum tlc_status tlc_connect_measure(struct tlc_connect_options *options, bool quiet, bool keep_logs,
                                    json_t **result, struct tlc_error *error)
{
    char cache[512], work[640];
    struct tlc_progress progress;
    *result = NULL;
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, error);
    if (status == TLC_OK)
        status = tlc_directory_temporary("tlscost-connect", work, sizeof work, error);
    if (status != TLC_OK)
        return status;
    tlc_progress_init(&progress, quiet);
    options->certificate_directory = cache;
    options->work_directory = work;
    options->progress = show;
    options->user = &progress;
    options->stop = tlc_interrupted;
    if (!quiet)
        fprintf(stderr, "tlscost: plan '%s': %zu arms, all in flight at once, about %.0f s\n",
                options->plan->name, options->plan->arm_count, tlc_plan_seconds(options->plan));
    status = tlc_connect_run(options, result, error);
    tlc_progress_end(&progress);
    if (keep_logs)
        fprintf(stderr, "tlscost: logs are in %s\n", work);
    else
        tlc_directory_remove(work);
    return status;
}
