#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "generator/hold.h"
#include "generator/lane.h"
#include "generator/socket.h"

struct tlc_target {
    json_t *kept; // the options as JSON: owner of every string in `options`
    struct tlc_target_options options;
    struct tlc_target_address address;
    uint8_t *echo;
    struct tlc_lane **lanes;
    unsigned lane_count;
};

enum { MAX_THREADS = 256, MAX_ECHO_BYTES = 65536 };

// What only a laboratory may do stays in the laboratory: no option lifts the first two refusals.
static enum tlc_status check_scope(const struct tlc_target_options *options,
                                   const struct tlc_target_address *address,
                                   struct tlc_error *error)
{
    if (address->scope != TLC_SCOPE_ANYWHERE)
        return TLC_OK;
    if (options->share == TLC_SHARE_CHEAP || tlc_share_is_invalid(options->share))
        return tlc_fail(
            error, TLC_USAGE,
            "target: %s: cheap and invalid key shares go only to loopback, private and link-local "
            "addresses, because toward others they would be a weapon; use --share "
            "honest",
            options->address);
    if (options->stop != TLC_STOP_COMPLETE)
        return tlc_fail(error, TLC_USAGE,
                        "target: %s: handshakes that stop early go only to loopback, private and "
                        "link-local addresses, because toward others they would be a weapon",
                        options->address);
    if (!options->allow_public)
        return tlc_fail(error, TLC_USAGE,
                        "target: %s: not a loopback, private or link-local address; load toward it "
                        "needs --allow-public and a --rate",
                        options->address);
    return TLC_OK;
}

static enum tlc_status check_options(const struct tlc_target_options *options,
                                     struct tlc_error *error)
{
    if (!options->address)
        return tlc_fail(error, TLC_USAGE, "target: no address");
    if (options->threads > MAX_THREADS)
        return tlc_fail(error, TLC_USAGE, "target: %u threads: at most %d", options->threads,
                        MAX_THREADS);
    if (options->echo_bytes > MAX_ECHO_BYTES)
        return tlc_fail(error, TLC_USAGE, "target: echo of %zu bytes: at most %d",
                        options->echo_bytes, MAX_ECHO_BYTES);
    if (!(options->resume_ratio >= 0 && options->resume_ratio <= 1))
        return tlc_fail(error, TLC_USAGE, "target: resumption ratio %g: not from 0 to 1",
                        options->resume_ratio);
    if (options->engine == TLC_ENGINE_TCP &&
        (options->echo_bytes || options->resume_ratio > 0 || options->close == TLC_CLOSE_NOTIFY))
        return tlc_fail(error, TLC_USAGE,
                        "target: engine tcp: it has no echo, no resumption and no close-notify");
    if (options->names && (options->engine != TLC_ENGINE_LEAN || options->resume_ratio > 0 ||
                           !options->names_folder || !options->names_key_type))
        return tlc_fail(error, TLC_USAGE,
                        "target: names: only engine lean visits them, without resumption, and "
                        "needs the folder and key type of their certificates");
    bool lean_only = tlc_share_is_invalid(options->share) ||
                     options->stop == TLC_STOP_AFTER_HELLO_RETRY || options->expect.refusal;
    if (lean_only && options->engine != TLC_ENGINE_LEAN)
        return tlc_fail(error, TLC_USAGE,
                        "target: engine %s: only engine lean sends invalid key shares and stops at "
                        "a HelloRetryRequest",
                        options->engine == TLC_ENGINE_FULL ? "full" : "tcp");
    bool tls12_only = options->max_version && options->max_version < 0x0304;
    if (options->engine == TLC_ENGINE_LEAN && tls12_only)
        return tlc_fail(error, TLC_USAGE,
                        "target: engine lean: it speaks TLS 1.3 only; use --engine full");
    return TLC_OK;
}

static enum tlc_status make_lanes(struct tlc_target *target, struct tlc_error *error)
{
    unsigned wanted = target->options.threads ? target->options.threads : 1;
    target->lanes = calloc(wanted, sizeof(struct tlc_lane *));
    if (!target->lanes)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    for (; target->lane_count < wanted; target->lane_count++) {
        const struct tlc_lane_options lane = {
            .target = &target->options,
            .address = &target->address,
            .echo = target->echo,
            .index = target->lane_count,
            .lanes = wanted,
        };
        enum tlc_status status = tlc_lane_new(&lane, &target->lanes[target->lane_count], error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static enum tlc_status keep_options(struct tlc_target *target,
                                    const struct tlc_target_options *options,
                                    struct tlc_error *error)
{
    target->kept = tlc_target_options_to_json(options);
    if (!target->kept)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    enum tlc_status status = tlc_target_options_from_json(target->kept, &target->options, error);
    if (status != TLC_OK)
        return status;
    target->options.plugin = options->plugin; // the very one, even if its file is gone by now
    target->echo = malloc(options->echo_bytes + 1);
    if (!target->echo)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    for (size_t i = 0; i < options->echo_bytes; i++)
        target->echo[i] = (uint8_t)(i * 31 + i / 251); // no period that a lost record would hide in
    return TLC_OK;
}

enum tlc_status tlc_target_new(const struct tlc_target_options *options, struct tlc_target **target,
                               struct tlc_error *error)
{
    *target = NULL;
    enum tlc_status status = check_options(options, error);
    if (status != TLC_OK)
        return status;
    struct tlc_target *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    status = tlc_target_address_parse(options->address, &made->address, error);
    if (status == TLC_OK)
        status = check_scope(options, &made->address, error);
    if (status == TLC_OK)
        status = keep_options(made, options, error);
    if (status == TLC_OK)
        status = make_lanes(made, error);
    if (status != TLC_OK) {
        tlc_target_free(made);
        return status;
    }
    *target = made;
    return TLC_OK;
}

void tlc_target_free(struct tlc_target *target)
{
    if (!target)
        return;
    for (unsigned i = 0; i < target->lane_count; i++)
        tlc_lane_free(target->lanes[i]);
    free(target->lanes);
    free(target->echo);
    tlc_target_options_release(&target->options);
    json_decref(target->kept);
    free(target);
}

// A lane's part of the slice; the first lanes take what does not divide evenly.
static struct tlc_slice_options part_of(const struct tlc_slice_options *slice, unsigned index,
                                        unsigned lanes)
{
    struct tlc_slice_options part = *slice;
    part.count = slice->count / lanes + (index < slice->count % lanes);
    part.concurrency = slice->concurrency / lanes + (index < slice->concurrency % lanes);
    part.rate = slice->rate / lanes;
    part.rate_end = slice->rate_end / lanes;
    return part;
}

struct job {
    struct tlc_lane *lane;
    struct tlc_slice_options slice;
    struct tlc_counters counters;
    struct tlc_error error;
    enum tlc_status status;
    pthread_t thread;
    bool started;
};

static void *run_job(void *argument)
{
    struct job *job = argument;
    job->status = tlc_lane_prepare(job->lane, &job->slice, &job->error);
    if (job->status == TLC_OK)
        job->status = tlc_lane_run(job->lane, &job->slice, &job->counters, &job->error);
    return NULL;
}

static enum tlc_status run_jobs(struct job *jobs, unsigned count, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (unsigned i = 1; i < count; i++) {
        jobs[i].started = pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) == 0;
        if (!jobs[i].started)
            status = tlc_fail(error, TLC_ENVIRONMENT, "slice: no thread could be started");
    }
    run_job(&jobs[0]);
    for (unsigned i = 1; i < count; i++)
        if (jobs[i].started)
            pthread_join(jobs[i].thread, NULL);
    for (unsigned i = 0; i < count && status == TLC_OK; i++)
        if (jobs[i].status != TLC_OK)
            status = tlc_fail(error, jobs[i].status, "%s", jobs[i].error.text);
    return status;
}

enum tlc_status tlc_target_check(const struct tlc_target *target,
                                 const struct tlc_slice_options *slice, struct tlc_error *error)
{
    if (!slice->duration_us && !slice->count)
        return tlc_fail(error, TLC_USAGE, "slice: neither a duration nor a count bounds it");
    if (slice->rate_end > 0 && !slice->duration_us)
        return tlc_fail(error, TLC_USAGE, "slice: a rate that changes needs a duration");
    if (!(slice->rate >= 0 && slice->rate < 1e9 && slice->rate_end >= 0 && slice->rate_end < 1e9))
        return tlc_fail(error, TLC_USAGE, "slice: rates %g and %g: not from 0 to 1e9 a second",
                        slice->rate, slice->rate_end);
    if (target->address.scope == TLC_SCOPE_ANYWHERE && slice->rate <= 0 && slice->rate_end <= 0)
        return tlc_fail(error, TLC_USAGE,
                        "target: %s: not a loopback, private or link-local address; load toward it "
                        "needs a --rate",
                        target->options.address);
    // The table of a ring is no larger than the limit of open files either.
    unsigned files = slice->concurrency;
    if (!tlc_socket_needs_file(target->lanes[0]))
        files = (files + target->lane_count - 1) / target->lane_count;
    return tlc_socket_limit_raise(files, error);
}

enum tlc_status tlc_target_slice(struct tlc_target *target, const struct tlc_slice_options *slice,
                                 struct tlc_counters *counters, struct tlc_error *error)
{
    memset(counters, 0, sizeof *counters);
    enum tlc_status status = tlc_target_check(target, slice, error);
    if (status != TLC_OK)
        return status;
    struct tlc_slice_options whole = *slice;
    if (!whole.concurrency)
        whole.concurrency = 1;
    unsigned lanes = target->lane_count;
    if (lanes > whole.concurrency)
        lanes = whole.concurrency;
    if (whole.count && lanes > whole.count)
        lanes = (unsigned)whole.count;
    struct job *jobs = calloc(lanes, sizeof *jobs);
    if (!jobs)
        return tlc_fail(error, TLC_ENVIRONMENT, "slice: out of memory");
    for (unsigned i = 0; i < lanes; i++) {
        jobs[i].lane = target->lanes[i];
        jobs[i].slice = part_of(&whole, i, lanes);
    }
    status = run_jobs(jobs, lanes, error);
    for (unsigned i = 0; i < lanes; i++) {
        if (status == TLC_OK)
            status = tlc_counters_merge(counters, &jobs[i].counters, error);
        tlc_counters_free(&jobs[i].counters);
    }
    free(jobs);
    if (status != TLC_OK)
        tlc_counters_free(counters);
    return status;
}

static void first_error(const json_t *errors, char *kind, size_t capacity)
{
    const char *key;
    json_t *value;
    snprintf(kind, capacity, "no handshake");
    json_object_foreach((json_t *)(uintptr_t)errors, key, value)
    {
        if (strncmp(key, "mismatch-", 9) != 0) {
            snprintf(kind, capacity, "%s", key);
            return;
        }
    }
}

static enum tlc_status count_once(struct tlc_target *target, double resume_ratio,
                                  struct tlc_counters *counters, struct tlc_error *error)
{
    const struct tlc_target_options asked = target->options;
    const struct tlc_slice_options one = {.count = 1, .concurrency = 1, .rate = 1, .hasty = true};
    // A server that answers close_notify by closing has sent its tickets before.
    target->options.close = TLC_CLOSE_NOTIFY;
    target->options.tickets_expected = target->options.tickets_expected_resumed = 0;
    target->options.echo_bytes = 0;
    target->options.resume_ratio = resume_ratio;
    enum tlc_status status = tlc_target_slice(target, &one, counters, error);
    target->options = asked;
    if (status == TLC_OK && !counters->handshakes) {
        char kind[96];
        first_error(counters->errors, kind, sizeof kind);
        tlc_counters_free(counters);
        // A server that is there and does not do as asked is no fault of the environment.
        bool absent = !strncmp(kind, "connect-", strlen("connect-"));
        return tlc_fail(error, absent ? TLC_ENVIRONMENT : TLC_REFUSED, "handshake with %s: %s",
                        asked.address, kind);
    }
    return status;
}

enum tlc_status tlc_target_count_tickets(struct tlc_target *target, unsigned *tickets,
                                         unsigned *resumed_tickets, struct tlc_error *error)
{
    struct tlc_target_options *options = &target->options;
    struct tlc_counters counters;
    enum tlc_status status = count_once(target, 0, &counters, error);
    if (status != TLC_OK)
        return status;
    options->tickets_expected = (unsigned)counters.tickets;
    tlc_counters_free(&counters);
    if (options->resume_ratio > 0 && options->tickets_expected) {
        status = count_once(target, 1, &counters, error);
        if (status != TLC_OK)
            return status;
        options->tickets_expected_resumed = (unsigned)counters.tickets;
        options->tickets_resumed_known = counters.resumed > 0;
        tlc_counters_free(&counters);
    }
    if (tickets)
        *tickets = options->tickets_expected;
    if (resumed_tickets)
        *resumed_tickets = options->tickets_expected_resumed;
    return TLC_OK;
}

enum tlc_status tlc_target_hold(const struct tlc_target *target, unsigned count,
                                struct tlc_hold **hold, struct tlc_error *error)
{
    return tlc_hold_open(&target->options, &target->address, count, hold, error);
}

json_t *tlc_target_describe(const struct tlc_target *target)
{
    json_t *json = tlc_target_options_to_json(&target->options);
    json_object_del(json, "client_key_pem"); // a private key belongs in no result
    json_object_set_new(json, "loop", json_string(target->lanes[0]->kind->name));
    json_object_set_new(json, "threads", json_integer(target->lane_count));
    return json;
}
