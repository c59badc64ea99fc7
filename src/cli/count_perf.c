// Both sides as they run without tlscost counting them, with the kernel's performance events.
#include <stdio.h>
#include <stdlib.h>

#include "cli/count_rig.h"

struct state {
    struct tlc_process_events *server;
    struct tlc_process_reading last; // of the server
};

static enum tlc_status require_event(struct tlc_count_options *options, json_t *document,
                                     struct tlc_error *error)
{
    const struct tlc_event_kind *kind = options->event.kind;
    char without_kernel[512];
    enum tlc_status status =
        tlc_process_event_find(kind, &options->event, without_kernel, sizeof without_kernel, error);
    if (status != TLC_OK) {
        char why[sizeof error->text];
        snprintf(why, sizeof why, "%s", error->text);
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "count: --by perf: %s; --by callgrind counts instructions without, --event "
                        "task-clock counts time on every machine",
                        why);
    }
    json_object_set_new(document, "space",
                        json_string(!kind->divided          ? "undivided"
                                    : options->event.kernel ? "user and kernel"
                                                            : "user"));
    json_object_set_new(document, "kernel_reason",
                        without_kernel[0] ? json_string(without_kernel) : json_null());
    return TLC_OK;
}

static enum tlc_status start_server(struct tlc_count_rig *rig, struct tlc_error *error)
{
    rig->state = calloc(1, sizeof(struct state));
    if (!rig->state)
        return tlc_fail(error, TLC_ENVIRONMENT, "count: out of memory");
    return tlc_count_rig_serve(rig, NULL, error);
}

static enum tlc_status begin_server(struct tlc_count_rig *rig, struct tlc_error *error)
{
    struct state *state = rig->state;
    enum tlc_status status =
        tlc_process_events_of(rig->options->event, rig->server.pid, &state->server, error);
    if (status == TLC_OK)
        status = tlc_process_events_read(state->server, &state->last, error);
    return status;
}

static enum tlc_status take_counts(const struct tlc_count_rig *rig,
                                   const struct tlc_process_events *events,
                                   struct tlc_process_reading *last, struct tlc_counted *counted,
                                   struct tlc_error *error)
{
    struct tlc_process_reading now;
    struct tlc_process_counts counts;
    enum tlc_status status = tlc_process_events_read(events, &now, error);
    if (status == TLC_OK)
        status = tlc_process_counts_between(rig->options->event, last, &now, &counts, error);
    if (status != TLC_OK)
        return status;
    *last = now;
    *counted = (struct tlc_counted){counts.total, counts.user, counts.kernel, {0}};
    return TLC_OK;
}

static enum tlc_status take_server(struct tlc_count_rig *rig, struct tlc_counted *counted,
                                   struct tlc_error *error)
{
    struct state *state = rig->state;
    return take_counts(rig, state->server, &state->last, counted, error);
}

static enum tlc_status run_client(struct tlc_count_rig *rig, uint64_t handshakes,
                                  struct tlc_counted *counted, struct tlc_error *error)
{
    struct tlc_process_events *events = NULL;
    struct tlc_process_reading nothing = {.user = {0}};
    enum tlc_status status = tlc_process_events_of_child(rig->options->event, &events, error);
    if (status == TLC_OK)
        status = tlc_count_rig_load(rig, NULL, handshakes, error);
    if (status == TLC_OK)
        status = take_counts(rig, events, &nothing, counted, error);
    tlc_process_events_close(events);
    return status;
}

static void stop(struct tlc_count_rig *rig)
{
    struct state *state = rig->state;
    if (state)
        tlc_process_events_close(state->server);
    free(state);
}

const struct tlc_count_method tlc_count_by_perf = {.name = "perf",
                                                   .handshakes = 500,
                                                   .warm_up = 50,
                                                   .require = require_event,
                                                   .start = start_server,
                                                   .begin = begin_server,
                                                   .server = take_server,
                                                   .client = run_client,
                                                   .stop = stop};
