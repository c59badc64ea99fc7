// What a workload is told of a campaign; private to the room.
#ifndef TLC_CAMPAIGN_SETUP_H
#define TLC_CAMPAIGN_SETUP_H

#include "campaign/campaign.h"
#include "workload/workload.h"

// It borrows from the options.
static inline struct tlc_workload_setup
tlc_campaign_setup(const struct tlc_campaign_options *options)
{
    return (struct tlc_workload_setup){.plan = options->plan,
                                       .work_directory = options->work_directory,
                                       .certificate_directory = options->certificate_directory,
                                       .server_cpus = options->server_cpus,
                                       .generator_cpus = options->generator_cpus,
                                       .idle_connections = options->idle_connections};
}

#endif
