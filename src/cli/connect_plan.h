// The plan that the options of `tlscost connect-time` describe.
#ifndef TLC_CLI_CONNECT_PLAN_H
#define TLC_CLI_CONNECT_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "plan/plan.h"

// Values as a plan spells them; lists are parted by commas.
struct tlc_connect_plan {
    const char *rtt, *jitter, *loss, *rate, *initial_window;             // of the path
    const char *versions, *groups, *certificates, *intermediates, *alpn; // lists
    const char *stack, *authority, *connections, *pace, *timeout;
    bool resume, hello_retry, upgrade; // each configuration in this way as well
};

enum tlc_status tlc_connect_plan_make(const struct tlc_connect_plan *asked, struct tlc_plan **plan,
                                      struct tlc_error *error) TLC_CHECKED;

#endif
