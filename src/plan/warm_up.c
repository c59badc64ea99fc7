// How long an arm's server is warmed: as the plan says, else as the server's description does.
#include "plan/warm_up.h"

#include "plan/server.h"

// A description that cannot be read is told of when the server is to be started.
static unsigned warm_up_of(const char *server)
{
    struct tlc_server *description;
    struct tlc_error ignored;
    if (tlc_server_read(server, &description, &ignored) != TLC_OK)
        return 0;
    unsigned us = description->warm_up_us;
    tlc_server_free(description);
    return us;
}

void tlc_plan_take_warm_ups(struct tlc_plan *plan)
{
    for (size_t i = 0; i < plan->arm_count; i++)
        if (!plan->arms[i].warm_up_us && plan->arms[i].server)
            plan->arms[i].warm_up_us = warm_up_of(plan->arms[i].server);
}
