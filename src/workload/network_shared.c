// What the arms of the network workload share, opened before anything is measured: counters of
// CPUs, certificates, programs that are not ours, tables of components, networks with their
// generators.
#include <stdio.h>
#include <string.h>

#include "measure/cpu_events.h"
#include "workload/arm_support.h"
#include "workload/kinds.h"
#include "workload/network_state.h"

// Makes the certificates of all arms before anything is measured.
static enum tlc_status make_certificates(struct tlc_workload *workload, struct tlc_error *error)
{
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if (!tlc_is_of_kind(workload->setup, i, &tlc_workload_network))
            continue;
        enum tlc_status status =
            tlc_arm_certificates(state->arm, workload->setup->certificate_directory,
                                 state->certificates, sizeof state->certificates, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static enum network network_of(const struct tlc_arm *arm)
{
    return !strcmp(arm->network, "veth")             ? VETH
           : !strcmp(arm->network, "veth-unsteered") ? VETH_UNSTEERED
                                                     : LOOPBACK;
}

struct path *tlc_network_path(struct tlc_workload *workload, const struct tlc_arm *arm)
{
    return &workload->paths[network_of(arm)];
}

static enum tlc_status open_path(struct tlc_workload *workload, enum network network,
                                 struct tlc_error *error)
{
    const struct tlc_workload_setup *setup = workload->setup;
    struct path *path = &workload->paths[network];
    enum tlc_status status = TLC_OK;
    if (network == VETH)
        status = tlc_veth_open(&setup->server_cpus, &setup->generator_cpus, &path->veth, error);
    else if (network == VETH_UNSTEERED)
        status = tlc_veth_open(NULL, NULL, &path->veth, error);
    if (status != TLC_OK)
        return status;
    char log[600];
    snprintf(log, sizeof log, "%.500s/generator-%d.log", setup->work_directory, (int)network);
    const int *namespaces = path->veth ? path->veth->namespaces[TLC_VETH_OF_CLIENT] : NULL;
    status = tlc_arm_generator_start(&setup->generator_cpus, namespaces, log, &path->generators[0],
                                     error);
    if (status != TLC_OK || !setup->plan->schedule.duet)
        return status;
    snprintf(log, sizeof log, "%.500s/generator-%d-duet.log", setup->work_directory, (int)network);
    return tlc_arm_generator_start(&setup->generator_cpus, namespaces, log, &path->generators[1],
                                   error);
}

// A network, with a generator in it, for each kind that an arm asks for.
static enum tlc_status open_paths(struct tlc_workload *workload, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < workload->arm_count; i++) {
        enum network network = network_of(workload->arms[i].arm);
        if (tlc_is_of_kind(workload->setup, i, &tlc_workload_network) &&
            workload->paths[network].generators[0].process.pid <= 0)
            status = open_path(workload, network, error);
    }
    return status;
}

// Fetches and builds what is not ours, before anything is measured and once for all arms.
static enum tlc_status open_externals(struct tlc_workload *workload, struct tlc_error *error)
{
    char log[600];
    snprintf(log, sizeof log, "%s/build.log", workload->setup->work_directory);
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if (!state->plugin || !state->arm->server)
            continue;
        for (size_t k = 0; k < i && !state->external; k++)
            if (workload->arms[k].external &&
                !strcmp(workload->arms[k].arm->server, state->arm->server))
                state->external = workload->arms[k].external;
        if (state->external)
            continue;
        enum tlc_status status = tlc_external_open(state->arm, log, &state->own_external, error);
        if (status != TLC_OK)
            return tlc_fail_prefix(error, "arm '%s'", state->arm->name);
        state->external = &state->own_external;
    }
    return TLC_OK;
}

// What the samples are told by, when there will be any.
static enum tlc_status open_components(struct tlc_workload *workload, struct tlc_error *error)
{
    for (size_t i = 0; i < workload->arm_count; i++)
        if (workload->arms[i].arm->attribute)
            return tlc_components_read(NULL, &workload->components, error);
    return TLC_OK;
}

enum tlc_status tlc_network_open_shared(struct tlc_workload *workload, struct tlc_error *error)
{
    workload->server_events = tlc_cpu_events_open(&workload->setup->server_cpus, NULL);
    workload->generator_events = tlc_cpu_events_open(&workload->setup->generator_cpus, NULL);
    enum tlc_status status = make_certificates(workload, error);
    if (status == TLC_OK)
        status = open_externals(workload, error);
    if (status == TLC_OK)
        status = open_components(workload, error);
    return status == TLC_OK ? open_paths(workload, error) : status;
}

void tlc_network_close_shared(struct tlc_workload *workload)
{
    for (int i = 0; i < NETWORKS; i++) {
        for (int k = 0; k < SEATS; k++)
            tlc_arm_generator_stop(&workload->paths[i].generators[k]);
        tlc_veth_close(workload->paths[i].veth);
    }
    tlc_components_free(workload->components);
    tlc_cpu_events_close(workload->server_events);
    tlc_cpu_events_close(workload->generator_events);
    for (size_t i = 0; workload->arms && i < workload->arm_count; i++)
        tlc_external_close(&workload->arms[i].own_external);
}
