#include "workload/network_trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stacks/loader.h"

unsigned tlc_network_burn_component(const struct tlc_arm *arm)
{
    return !strcmp(arm->burn_in, "signature")        ? TLC_COMPONENT_SIGN
           : !strcmp(arm->burn_in, "key-generation") ? TLC_COMPONENT_KEY_GENERATION
                                                     : TLC_NO_COMPONENT;
}

enum tlc_status tlc_network_trace_open(struct tlc_workload *workload, size_t host, char file[600],
                                       struct tlc_error *error)
{
    struct instance *instance = &workload->arms[host].own;
    if (!strcmp(instance->arm->trace, "none"))
        return TLC_OK;
    for (size_t i = 0; i < workload->arm_count; i++) {
        struct network_arm *state = &workload->arms[i];
        if ((state->instance == instance || state->other == instance) && !state->trace &&
            !(state->trace = tlc_trace_sums_new()))
            return tlc_fail(error, TLC_ENVIRONMENT, "trace: out of memory");
    }
    snprintf(file, 600, "%s/server-%zu.trace", workload->setup->work_directory, host);
    remove(file); // of an earlier block
    return tlc_trace_open(file, &instance->trace, error);
}

// Letters that OpenSSL's configuration files would read as something else.
static bool is_plain(const char *text)
{
    return !strpbrk(text, "\"'`\\$#\n\r");
}

enum tlc_status tlc_trace_configuration(const struct tlc_arm *arm, const char *trace_file,
                                        const char *path, struct tlc_error *error)
{
    char *module = tlc_provider_find("tlscost-trace");
    if (!module || !strchr(module, '/') || !is_plain(module) || !is_plain(trace_file)) {
        enum tlc_status status = tlc_fail(
            error, TLC_ENVIRONMENT,
            "trace: tlscost-trace.so: not found, or in a folder whose name a configuration "
            "of OpenSSL cannot hold; build or install it in another one");
        free(module);
        return status;
    }
    enum tlc_status status = TLC_OK;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || dprintf(file,
                            "openssl_conf = start\n[start]\nproviders = providers\n[providers]\n"
                            "tlscost-trace = trace\n[trace]\nactivate = 1\nmodule = %s\nmode = %s\n"
                            "file = %s\n",
                            module, arm->trace, trace_file) < 0)
        status = tlc_fail_errno(error, "trace: %s", path);
    if (file >= 0 && close(file) && status == TLC_OK)
        status = tlc_fail_errno(error, "trace: %s", path);
    free(module);
    return status;
}

// What the library cannot answer a client without. A full handshake derives keys, whatever is
// resumed; before a HelloRetryRequest the first ClientHello is hashed (RFC 8446, 4.4.1); a share
// that is refused was read.
static unsigned witness_of(const struct tlc_arm *arm)
{
    if (!strcmp(arm->stop, "after-hello-retry"))
        return TLC_COMPONENT_DIGEST;
    if (!strcmp(arm->share, "unreduced") || !strcmp(arm->share, "low-order"))
        return TLC_COMPONENT_IMPORT_KEY;
    return TLC_COMPONENT_KDF;
}

void tlc_network_trace_stay(const struct network_arm *state, struct tlc_stay *stay)
{
    if (!state->trace)
        return;
    unsigned witness = witness_of(state->arm);
    stay->trace_witness = tlc_component_name(witness);
    stay->trace_work = tlc_trace_done(state->trace, witness);
    stay->trace_lost = tlc_trace_lost(state->trace);
    json_t *figures = tlc_trace_sums_json(state->trace, state->traced);
    if (!figures)
        return;
    json_object_set_new(figures, "mode", json_string(state->arm->trace));
    json_object_set_new(stay->detail, "trace", figures);
}
