// One round: fresh processes for each group, and every arm measured once against the same server.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/arms.h"
#include "bench/figures.h"
#include "bench/floor.h"
#include "measure/clock.h"

enum {
    LEARN = 400,   // connections that tell byte counts and costs
    WARM_UP = 100, // of each client of ours before it is measured
    HELLOS = 20
};

// The processes of a round and one group.
struct round {
    struct bench *bench;
    struct rig rig;
    struct floor_server floor;
    double hello_bytes, sent_bytes, flight_bytes; // of a lean handshake
    double server_us;                             // what it costs the server
};

static json_t *lean_target(const struct round *round, const struct arm *arm, const char *share,
                           const char *stop)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[s], s:s, s:i, s:s, s:b, s:{s:s, s:s, s:i}}",
                     "address", round->rig.address, "engine", "lean", "share", share, "stop", stop,
                     "groups", arm->group, "server_name", "localhost", "verify_every", 1000,
                     "loop_choice", arm->loop->choice, "fresh_sockets", arm->loop->fresh, "expect",
                     "version", "TLSv1.3", "group", arm->group, "resumed", 0);
}

static json_t *full_target(const struct round *round, const struct arm *arm)
{
    return json_pack("{s:s, s:s, s:s, s:[s], s:s, s:s, s:{s:s, s:s, s:i}}", "address",
                     round->rig.address, "engine", "full", "stack", "openssl", "groups", arm->group,
                     "server_name", "localhost", "loop_choice", arm->loop->choice, "expect",
                     "version", "TLSv1.3", "group", arm->group, "resumed", 0);
}

static json_t *floor_target(const struct round *round, const struct arm *arm)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i}", "address", round->floor.address,
                     "engine", "tcp", "loop_choice", arm->loop->choice, "client_hello_bytes",
                     (int)(round->hello_bytes + 0.5), "server_flight_bytes",
                     (int)(round->flight_bytes + 0.5), "finished_bytes",
                     (int)(round->sent_bytes - round->hello_bytes + 0.5), "ticket_bytes", 0);
}

static enum tlc_status prepare(struct round *round, const struct arm *arm, json_t *target,
                               struct tlc_error *error)
{
    json_t *answer;
    json_t *request =
        json_pack("{s:s, s:i, s:o}", "command", "prepare", "id", (int)arm->id, "target", target);
    enum tlc_status status = rig_ask_generator(&round->rig, request, &answer, error);
    if (status == TLC_OK)
        json_decref(answer);
    return status;
}

static enum tlc_status release(struct round *round, const struct arm *arm, struct tlc_error *error)
{
    json_t *answer;
    json_t *request = json_pack("{s:s, s:i}", "command", "release", "id", (int)arm->id);
    enum tlc_status status = rig_ask_generator(&round->rig, request, &answer, error);
    if (status == TLC_OK)
        json_decref(answer);
    return status;
}

// Every connection must have given what was asked for: a benchmark of a wrong answer is none.
static enum tlc_status check_counters(const struct arm *arm, const json_t *counters,
                                      struct tlc_error *error)
{
    const json_t *errors = json_object_get(counters, "errors");
    if (!json_object_size(errors))
        return TLC_OK;
    char *text = json_dumps(errors, JSON_COMPACT);
    tlc_fail(error, TLC_REFUSED, "load: %s, %s: connections failed: %s", arm->group,
             arm->loop->name, text ? text : "");
    free(text);
    return TLC_REFUSED;
}

// A slice of `duration_us`, or of `count` connections when that is 0. *counters is the caller's.
static enum tlc_status slice(struct round *round, const struct arm *arm, uint64_t duration_us,
                             unsigned count, json_t **counters, struct tlc_error *error)
{
    json_t *answer;
    json_t *request = json_pack("{s:s, s:i, s:I, s:i, s:i}", "command", "slice", "id", (int)arm->id,
                                "duration_us", (json_int_t)duration_us, "count", (int)count,
                                "concurrency", (int)round->bench->concurrency);
    if (arm->loop->batch)
        json_object_set_new(request, "batch", json_integer(arm->loop->batch));
    *counters = NULL;
    enum tlc_status status = rig_ask_generator(&round->rig, request, &answer, error);
    if (status != TLC_OK)
        return status;
    *counters = json_incref(json_object_get(answer, "counters"));
    json_decref(answer);
    status = check_counters(arm, *counters, error);
    if (status != TLC_OK) {
        json_decref(*counters);
        *counters = NULL;
    }
    return status;
}

static double number(const json_t *counters, const char *name)
{
    return json_number_value(json_object_get(counters, name));
}

static double cpu_sum(const struct tlc_cpu_times *times)
{
    return (double)(times->user_us + times->nice_us + times->system_us + times->idle_us +
                    times->iowait_us + times->irq_us + times->softirq_us + times->steal_us);
}

static double cpu_busy(const struct tlc_cpu_times *times)
{
    return cpu_sum(times) - (double)(times->idle_us + times->iowait_us);
}

static void take_difference(const struct rig_reading *before, const struct rig_reading *after,
                            struct sample *sample)
{
    struct tlc_cpu_times server = tlc_cpu_times_since(&after->server_cpus, &before->server_cpus);
    struct tlc_cpu_times generator =
        tlc_cpu_times_since(&after->generator_cpus, &before->generator_cpus);
    sample->handshakes = after->handshakes - before->handshakes;
    sample->resumed = after->resumed - before->resumed;
    sample->retries = after->retries - before->retries;
    sample->failed = after->failed - before->failed;
    sample->server_busy_us = cpu_busy(&server);
    sample->server_cpu_us = cpu_sum(&server);
    sample->generator_busy_us = cpu_busy(&generator);
    sample->generator_cpu_us = cpu_sum(&generator);
    if (sample->handshakes)
        sample->server_us =
            (double)(after->server_ns - before->server_ns) / 1e3 / (double)sample->handshakes;
}

static enum tlc_status measure_ours(struct round *round, struct arm *arm, struct sample *sample,
                                    struct tlc_error *error)
{
    struct rig_reading before, after;
    json_t *counters;
    enum tlc_status status = rig_read(&round->rig, &before, error);
    if (status != TLC_OK)
        return status;
    status = slice(round, arm, round->bench->slice_us, 0, &counters, error);
    if (status == TLC_OK) {
        json_decref(counters);
        status = rig_read(&round->rig, &after, error);
    }
    if (status == TLC_OK) {
        take_difference(&before, &after, sample);
        sample->there = sample->handshakes > 0;
        if (sample->there)
            sample->client_us = (double)(after.generator_ns - before.generator_ns) / 1e3 /
                                (double)sample->handshakes;
        rig_reading_free(&after);
    }
    rig_reading_free(&before);
    return status;
}

// The floor's server counts nothing, but both of its ends are ours.
static enum tlc_status measure_floor(struct round *round, struct arm *arm, uint64_t duration_us,
                                     unsigned count, struct sample *sample, struct tlc_error *error)
{
    json_t *counters;
    uint64_t client = tlc_process_cpu_ns(round->rig.generator.pid);
    uint64_t server = tlc_process_cpu_ns(round->floor.process.pid);
    enum tlc_status status = slice(round, arm, duration_us, count, &counters, error);
    if (status != TLC_OK)
        return status;
    sample->handshakes = (uint64_t)number(counters, "handshakes");
    sample->there = sample->handshakes > 0;
    if (sample->there) {
        double each = 1e-3 / (double)sample->handshakes;
        sample->client_us = (double)(tlc_process_cpu_ns(round->rig.generator.pid) - client) * each;
        sample->server_us = (double)(tlc_process_cpu_ns(round->floor.process.pid) - server) * each;
        round->bench->floor_server_us = sample->server_us - round->floor.burn_us;
    }
    json_decref(counters);
    return TLC_OK;
}

static const char *last_line(char *text)
{
    size_t length = text ? strlen(text) : 0;
    while (length && strchr(" \r\n", text[length - 1]))
        text[--length] = '\0';
    const char *line = length ? strrchr(text, '\n') : NULL;
    return line ? line + 1 : length ? text : "nothing";
}

// Left out from now on, with what is known about why.
static void leave_out(struct arm *arm, const struct rig_reading *before,
                      const struct rig_reading *after, struct peer_run *run)
{
    json_t *news = json_object();
    const char *reason;
    json_t *count;
    json_object_foreach(after->reasons, reason, count)
    {
        json_int_t fresh = json_integer_value(count) -
                           json_integer_value(json_object_get(before->reasons, reason));
        if (fresh > 0)
            json_object_set_new(news, reason, json_integer(fresh));
    }
    char *reasons = json_dumps(news, JSON_COMPACT);
    snprintf(arm->reason, sizeof arm->reason,
             "the server, which takes %s alone, completed no handshake with it (failed: %s); it "
             "ended with %d, and its last line was: %.160s",
             arm->group, reasons ? reasons : "?", run->code, last_line(run->text));
    free(reasons);
    json_decref(news);
}

// CPU time of a run without what the tool spends before its first handshake, over the handshakes
// between both.
static enum tlc_status measure_peer(struct round *round, struct arm *arm, struct sample *sample,
                                    struct tlc_error *error)
{
    const struct bench *bench = round->bench;
    const struct peer_job job = {.address = round->rig.address,
                                 .group = arm->group,
                                 .handshakes = bench->peer_handshakes,
                                 .concurrency = bench->peer_concurrency,
                                 .openssl_conf = bench->openssl_conf};
    struct rig_reading start = {0}, before = {0}, after = {0};
    struct peer_run idle = {0}, run = {0};
    enum tlc_status status = rig_read(&round->rig, &start, error);
    if (status == TLC_OK)
        status = peer_execute(arm->peer, &job, true, &idle, error);
    if (status == TLC_OK)
        status = rig_read(&round->rig, &before, error);
    if (status == TLC_OK)
        status = peer_execute(arm->peer, &job, false, &run, error);
    if (status == TLC_OK)
        status = rig_read(&round->rig, &after, error);
    if (status == TLC_OK) {
        take_difference(&before, &after, sample);
        uint64_t idle_handshakes = before.handshakes - start.handshakes;
        sample->there = sample->handshakes > idle_handshakes + 1;
        if (sample->there)
            sample->client_us =
                (run.cpu_us - idle.cpu_us) / (double)(sample->handshakes - idle_handshakes);
        else if (!bench_total(bench, arm).there)
            leave_out(arm, &before, &after, &run);
    }
    peer_run_free(&idle);
    peer_run_free(&run);
    rig_reading_free(&start);
    rig_reading_free(&before);
    rig_reading_free(&after);
    return status;
}

// How much its server must burn to be as busy as a TLS server: the pace decides how many events a
// client finds at once, and with it what the client spends.
static enum tlc_status learn_floor(struct round *round, struct arm *arm, struct tlc_error *error)
{
    struct sample sample;
    double burn_us = round->server_us / 2; // near the pace of use
    if (round->bench->floor_told)
        return TLC_OK;
    enum tlc_status status = floor_start(&round->floor, &round->bench->rig, burn_us, error);
    if (status == TLC_OK)
        status = prepare(round, arm, floor_target(round, arm), error);
    if (status == TLC_OK) {
        status = measure_floor(round, arm, 0, LEARN, &sample, error);
        enum tlc_status released = release(round, arm, error);
        status = status == TLC_OK ? released : status;
    }
    floor_stop(&round->floor);
    if (status == TLC_OK) {
        round->bench->floor_told = true;
    }
    return status;
}

// --- a group
// --------------------------------------------------------------------------------------

static bool of_group(const struct arm *arm, const char *group)
{
    return !strcmp(arm->group, group);
}

// Byte counts of a lean handshake, and what it costs the server, from one of the arms.
static enum tlc_status learn_handshake(struct round *round, struct arm *arm,
                                       struct tlc_error *error)
{
    json_t *counters;
    enum tlc_status status =
        prepare(round, arm, lean_target(round, arm, "cheap", "after-client-hello"), error);
    if (status == TLC_OK)
        status = slice(round, arm, 0, HELLOS, &counters, error);
    if (status != TLC_OK)
        return status;
    round->hello_bytes = number(counters, "bytes_sent") / HELLOS;
    json_decref(counters);
    status = release(round, arm, error);
    if (status == TLC_OK)
        status = prepare(round, arm, lean_target(round, arm, "cheap", "complete"), error);
    if (status == TLC_OK)
        status = slice(round, arm, 0, WARM_UP, &counters, error);
    if (status != TLC_OK)
        return status;
    json_decref(counters);
    uint64_t before = tlc_process_cpu_ns(round->rig.server.pid);
    status = slice(round, arm, 0, LEARN, &counters, error);
    if (status != TLC_OK)
        return status;
    double handshakes = number(counters, "handshakes");
    round->sent_bytes = number(counters, "bytes_sent") / handshakes;
    round->flight_bytes = number(counters, "bytes_received") / handshakes;
    round->server_us =
        (double)(tlc_process_cpu_ns(round->rig.server.pid) - before) / 1e3 / handshakes;
    json_decref(counters);
    return release(round, arm, error);
}

static enum tlc_status prepare_arm(struct round *round, struct arm *arm, struct tlc_error *error)
{
    json_t *counters;
    enum tlc_status status = TLC_OK;
    if (arm->kind == ARM_PEER || arm->reason[0])
        return TLC_OK;
    if (arm->kind == ARM_LEAN)
        status = prepare(round, arm, lean_target(round, arm, arm->share, "complete"), error);
    else if (arm->kind == ARM_FULL)
        status = prepare(round, arm, full_target(round, arm), error);
    else
        status = prepare(round, arm, floor_target(round, arm), error);
    if (status == TLC_OK)
        status = slice(round, arm, 0, WARM_UP, &counters, error);
    if (status == TLC_OK)
        json_decref(counters);
    return status;
}

static enum tlc_status prepare_group(struct round *round, const char *group,
                                     struct tlc_error *error)
{
    struct bench *bench = round->bench;
    struct arm *first = NULL, *floor = NULL;
    for (size_t i = 0; i < bench->arm_count; i++) {
        struct arm *arm = &bench->arms[i];
        if (of_group(arm, group) && !first && arm->kind == ARM_LEAN)
            first = arm;
        if (of_group(arm, group) && !floor && arm->kind == ARM_FLOOR)
            floor = arm;
    }
    if (!first || !floor)
        return tlc_fail(error, TLC_USAGE, "bench: %s: nothing to measure", group);
    enum tlc_status status = learn_handshake(round, first, error);
    if (status == TLC_OK)
        status = learn_floor(round, floor, error);
    if (status == TLC_OK)
        status = floor_start(&round->floor, &bench->rig, round->server_us - bench->floor_server_us,
                             error);
    for (size_t i = 0; status == TLC_OK && i < bench->arm_count; i++)
        if (of_group(&bench->arms[i], group))
            status = prepare_arm(round, &bench->arms[i], error);
    return status;
}

static enum tlc_status measure(struct round *round, struct arm *arm, struct tlc_error *error)
{
    struct sample *sample = &arm->samples[round->bench->rounds];
    if (arm->reason[0])
        return TLC_OK;
    if (arm->kind == ARM_PEER)
        return measure_peer(round, arm, sample, error);
    if (arm->kind == ARM_FLOOR)
        return measure_floor(round, arm, round->bench->slice_us, 0, sample, error);
    return measure_ours(round, arm, sample, error);
}

// The order rotates from round to round and is reversed in every second one, so that a drift of the
// machine falls on all alike.
static enum tlc_status measure_group(struct round *round, const char *group,
                                     struct tlc_error *error)
{
    struct bench *bench = round->bench;
    struct arm *order[ARMS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < bench->arm_count; i++)
        if (of_group(&bench->arms[i], group))
            order[count++] = &bench->arms[i];
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < count; i++) {
        size_t place = (i + bench->rounds) % count;
        status = measure(round, order[bench->rounds % 2 ? count - 1 - place : place], error);
    }
    return status;
}

static enum tlc_status run_group(struct bench *bench, const char *group, struct tlc_error *error)
{
    struct round round = {.bench = bench, .floor = {.process = {.control = -1}}};
    struct rig_options options = bench->rig;
    options.group = group;
    enum tlc_status status = rig_open(&round.rig, &options, error);
    if (status != TLC_OK)
        return status;
    status = prepare_group(&round, group, error);
    if (status == TLC_OK)
        status = measure_group(&round, group, error);
    floor_stop(&round.floor);
    rig_close(&round.rig);
    return status;
}

enum tlc_status bench_find_loop(struct bench *bench, struct tlc_error *error)
{
    const struct arm_loop any = {.choice = "auto"};
    const struct arm arm = {.group = bench->groups[0], .loop = &any};
    struct round round = {.bench = bench};
    struct rig_options options = bench->rig;
    json_t *answer;
    options.group = arm.group;
    enum tlc_status status = rig_open(&round.rig, &options, error);
    if (status != TLC_OK)
        return status;
    json_t *request = json_pack("{s:s, s:i, s:o}", "command", "prepare", "id", 0, "target",
                                lean_target(&round, &arm, "cheap", "complete"));
    status = rig_ask_generator(&round.rig, request, &answer, error);
    if (status == TLC_OK) {
        const json_t *target = json_object_get(answer, "target");
        const char *loop = json_string_value(json_object_get(target, "loop"));
        bench->uring = loop && !strcmp(loop, loop_uring.name);
        bench->stack = json_incref(round.rig.stack);
        json_decref(answer);
    }
    rig_close(&round.rig);
    return status;
}

enum tlc_status bench_round(struct bench *bench, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t g = 0; status == TLC_OK && g < bench->group_count; g++)
        status = run_group(bench, bench->groups[g], error);
    if (status == TLC_OK)
        bench->rounds++;
    return status;
}
