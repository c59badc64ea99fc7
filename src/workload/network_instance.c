#include "workload/network_instance.h"

#include <stdio.h>

enum { SETTLE_MS = 2000 };

enum tlc_status tlc_instance_join(struct tlc_instance *instance, const char *certificates,
                                  const cpu_set_t *cpus, const char *directory,
                                  struct tlc_error *error)
{
    char log[600];
    if (instance->users++)
        return TLC_OK;
    snprintf(log, sizeof log, "%s/server-%zu.log", directory, instance->index);
    instance->answered = 0;
    instance->dead = false;
    enum tlc_status status =
        tlc_arm_server_start(instance->arm, certificates, cpus, log, &instance->server, error);
    if (status == TLC_OK)
        instance->tree = tlc_tree_open(instance->server.process.pid);
    if (status == TLC_OK && !instance->tree)
        status = tlc_fail(error, TLC_ENVIRONMENT, "start the server: its run time: not readable");
    return status;
}

void tlc_instance_leave(struct tlc_instance *instance)
{
    if (!instance || !instance->users || --instance->users)
        return;
    tlc_arm_server_stop(&instance->server);
    tlc_tree_close(instance->tree);
    json_decref(instance->counters);
    instance->tree = NULL;
    instance->counters = NULL;
    instance->server.address[0] = '\0';
}

void tlc_instance_settle(struct tlc_instance *instance)
{
    json_t *counters = NULL;
    struct tlc_error why;
    if (tlc_arm_server_settle(&instance->server, instance->answered, SETTLE_MS, &counters, &why) !=
        TLC_OK) {
        instance->dead = true;
        return;
    }
    json_decref(instance->counters);
    instance->counters = counters;
}

enum tlc_status tlc_instance_wake(struct tlc_instance *instance, unsigned burn_us,
                                  struct tlc_error *error)
{
    struct tlc_error why;
    if (!instance->dead && tlc_arm_server_burn(&instance->server, burn_us, &why) != TLC_OK)
        instance->dead = true;
    return instance->dead ? tlc_fail(error, TLC_REFUSED, "its server has ended") : TLC_OK;
}

uint64_t tlc_instance_count(const struct tlc_instance *instance, const char *what)
{
    const json_t *totals = json_object_get(instance->counters, "totals");
    return (uint64_t)json_integer_value(json_object_get(totals, what));
}
