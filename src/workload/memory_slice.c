#include "workload/memory_slice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "evidence/connection.h"
#include "generator/tally.h"
#include "measure/clock.h"
#include "stats/stats.h"

enum { MOST_LAPS = 1 << 20, FAILURES_IN_A_ROW = 16 };

// ---- evidence

static json_t *name_or_null(enum tlc_name_kind kind, uint16_t code)
{
    return code ? json_string(tlc_name(kind, code)) : json_null();
}

// The certificate of a client must be of the key type that the arm names.
static enum tlc_status add_client_certificate(const struct tlc_memory_arm *arm,
                                              const struct tlc_memory_outcome *outcome,
                                              json_t *evidence, struct tlc_error *error)
{
    const char *asked = arm->arm->client_auth;
    if (!asked)
        return TLC_OK;
    json_t *certificate = tlc_evidence_certificate(&outcome->seen);
    const char *seen = json_string_value(json_object_get(certificate, "key_type"));
    json_object_set_new(evidence, "client_certificate", certificate);
    if (seen && !strcmp(seen, asked) && outcome->seen.verified == 1)
        return TLC_OK;
    return tlc_fail(error, TLC_REFUSED,
                    "client certificate: asked a verified one of type %s, the server saw %s", asked,
                    seen ? seen : "none");
}

static enum tlc_status describe_full(struct tlc_memory_arm *arm, const struct tlc_wire *wire,
                                     const struct tlc_memory_outcome *outcome, json_t **evidence,
                                     struct tlc_error *error)
{
    const struct tlc_memory_side *client = &arm->pair.client, *server = &arm->pair.server;
    struct tlc_connection_facts facts = {.stack = client->stack,
                                         .connection = client->connection,
                                         .address = "memory",
                                         .server_name = "localhost",
                                         .verification_asked = true,
                                         .wire = wire};
    enum tlc_status status = tlc_evidence_of_connection(&facts, evidence, error);
    if (status != TLC_OK)
        return status;
    json_object_set_new(*evidence, "server",
                        json_sprintf("%s %s", server->stack->name, server->stack->version()));
    return add_client_certificate(arm, outcome, *evidence, error);
}

static bool resumes(const struct tlc_arm *arm)
{
    return strcmp(arm->resumption, "none") != 0;
}

static bool replays(const struct tlc_arm *arm)
{
    return !strcmp(arm->side, "flight");
}

// A handshake beyond the full one: one that resumes, and the one that is recorded for replay.
static enum tlc_status second_handshake(struct tlc_memory_arm *arm, json_t *evidence,
                                        struct tlc_error *error)
{
    struct tlc_memory_times times = {0};
    struct tlc_memory_outcome outcome;
    if (!resumes(arm->arm) && !replays(arm->arm))
        return TLC_OK;
    arm->pair.recording = replays(arm->arm) ? &arm->recording : NULL;
    bool good = tlc_memory_handshake(&arm->pair, resumes(arm->arm), &times, &outcome);
    arm->pair.recording = NULL;
    tlc_memory_end(&arm->pair, &times);
    if (!good)
        return tlc_fail(error, TLC_REFUSED, "%s handshake: %s",
                        resumes(arm->arm) ? "resumed" : "second", outcome.failure);
    if (resumes(arm->arm))
        json_object_set_new(evidence, "resumption",
                            json_pack("{s:b, s:o, s:I}", "resumed", outcome.seen.resumed, "group",
                                      name_or_null(TLC_NAME_GROUP, outcome.seen.group), "tickets",
                                      (json_int_t)outcome.tickets));
    if (replays(arm->arm) && resumes(arm->arm) && !outcome.seen.resumed)
        return tlc_fail(error, TLC_REFUSED,
                        "the recorded ClientHello offers a session that the server does not take");
    if (replays(arm->arm))
        json_object_set_new(evidence, "recording",
                            json_pack("{s:I, s:I}", "client_hello",
                                      (json_int_t)arm->recording.hello_bytes, "server_flight",
                                      (json_int_t)arm->recording.flight_bytes));
    return TLC_OK;
}

enum tlc_status tlc_memory_arm_open(const struct tlc_arm *arm, const char *folder,
                                    struct tlc_memory_arm *opened, json_t **evidence,
                                    struct tlc_error *error)
{
    struct tlc_wire wire = {0};
    struct tlc_memory_times times = {0};
    struct tlc_memory_outcome outcome;
    *evidence = NULL;
    *opened = (struct tlc_memory_arm){.arm = arm};
    enum tlc_status status = tlc_memory_pair_open(arm, folder, &opened->pair, error);
    if (status != TLC_OK)
        return status;
    opened->pair.wire = &wire;
    if (!tlc_memory_handshake(&opened->pair, false, &times, &outcome))
        status = tlc_fail(error, TLC_REFUSED, "handshake: %s", outcome.failure);
    else
        status = describe_full(opened, &wire, &outcome, evidence, error);
    opened->pair.wire = NULL;
    tlc_memory_end(&opened->pair, &times);
    if (status == TLC_OK)
        status = second_handshake(opened, *evidence, error);
    if (status != TLC_OK) {
        json_decref(*evidence);
        *evidence = NULL;
        tlc_memory_arm_close(opened);
    }
    return status;
}

void tlc_memory_arm_close(struct tlc_memory_arm *arm)
{
    tlc_memory_pair_close(&arm->pair);
    free(arm->recording.hello);
    free(arm->laps);
    *arm = (struct tlc_memory_arm){0};
}

// ---- slices

// Ratios between none and all are kept exactly, not by chance.
static bool next_resumes(struct tlc_memory_arm *arm)
{
    double ratio = arm->arm->resume_ratio;
    uint64_t i = arm->begun++;
    return floor((double)(i + 1) * ratio) > floor((double)i * ratio);
}

static double clock_cost_ns(void)
{
    enum { READS = 64 };
    double costs[READS];
    uint64_t before = tlc_now_ns();
    for (size_t i = 0; i < READS; i++) {
        uint64_t now = tlc_now_ns();
        costs[i] = (double)(now - before);
        before = now;
    }
    return tlc_median(costs, READS);
}

static void keep_lap(struct tlc_memory_arm *arm, const struct tlc_memory_lap *lap)
{
    if (arm->lap_count == arm->lap_capacity) {
        size_t capacity = arm->lap_capacity ? 2 * arm->lap_capacity : 1024;
        struct tlc_memory_lap *grown =
            capacity > MOST_LAPS ? NULL : realloc(arm->laps, capacity * sizeof *grown);
        if (!grown)
            return;
        arm->laps = grown;
        arm->lap_capacity = capacity;
    }
    arm->laps[arm->lap_count++] = *lap;
}

// The whole time of a lap less both sides'; each reading of the clock inside a side's time is taken
// out of it.
static struct tlc_memory_lap lap_of(const struct tlc_memory_times *times, uint64_t whole_ns,
                                    double clock_ns, bool resumed)
{
    double server = (double)times->server_ns - times->server_reads * clock_ns;
    double client = (double)times->client_ns - times->client_reads * clock_ns;
    struct tlc_memory_lap lap = {
        .server_ns = fmax(server, 0), .client_ns = fmax(client, 0), .resumed = resumed};
    lap.rest_ns = fmax((double)whole_ns - lap.server_ns - lap.client_ns, 0);
    return lap;
}

struct run {
    struct tlc_memory_arm *arm;
    struct tlc_memory_figures *figures;
    struct tlc_tally tally;
    struct tlc_expectation expect;
    bool client_looked_at; // the client's evidence is looked at once a slice
    unsigned failures;     // in a row
};

static void note_failure(struct run *run, const char *failure)
{
    if (!run->figures->failure[0])
        snprintf(run->figures->failure, sizeof run->figures->failure, "%.255s", failure);
    tlc_tally_error(&run->tally,
                    !strncmp(failure, "client", 6) ? "client-handshake" : "server-handshake");
    run->failures++;
}

static void look_at_client(struct run *run)
{
    const struct tlc_memory_side *client = &run->arm->pair.client;
    struct tlc_stack_evidence seen = {0};
    if (run->client_looked_at)
        return;
    run->client_looked_at = true;
    if (client->stack->evidence(client->connection, &seen) && (seen.verified == 1 || seen.resumed))
        return;
    run->figures->counters.mismatches++;
    tlc_tally_error(&run->tally, "mismatch-unverified");
}

static void note_handshake(struct run *run, const struct tlc_memory_outcome *outcome)
{
    const struct tlc_stack_evidence *seen = &outcome->seen;
    struct tlc_facts facts = {.version = seen->version,
                              .cipher = seen->cipher,
                              .group = seen->group,
                              .hello_retry_request = seen->hello_retry_request,
                              .resumed = seen->resumed,
                              .psk_mode = seen->psk_mode,
                              .alpn = seen->alpn};
    struct tlc_times times = {0};
    run->failures = 0;
    run->figures->counters.tickets += outcome->tickets;
    run->figures->counters.offered += outcome->resumed_by_client;
    tlc_tally_handshake(&run->tally, &run->expect, &facts, &times);
    look_at_client(run);
}

static void one_handshake(struct run *run)
{
    struct tlc_memory_times times = {0};
    struct tlc_memory_outcome outcome;
    struct tlc_memory_pair *pair = &run->arm->pair;
    uint64_t started_ns = tlc_now_ns();
    bool good = tlc_memory_handshake(pair, next_resumes(run->arm), &times, &outcome);
    run->figures->counters.started++;
    if (good)
        note_handshake(run, &outcome);
    else
        note_failure(run, outcome.failure);
    tlc_memory_end(pair, &times);
    struct tlc_memory_lap lap = lap_of(&times, tlc_now_ns() - started_ns, run->figures->clock_ns,
                                       good && outcome.seen.resumed);
    if (good)
        keep_lap(run->arm, &lap);
}

static void one_replay(struct run *run)
{
    struct tlc_memory_times times = {0};
    char failure[256] = "";
    uint64_t started_ns = tlc_now_ns();
    bool resumed = resumes(run->arm->arm);
    bool good =
        tlc_memory_replay(&run->arm->pair, &run->arm->recording, &times, failure, sizeof failure);
    struct tlc_counters *counters = &run->figures->counters;
    counters->started++;
    if (!good) {
        note_failure(run, failure);
        return;
    }
    run->failures = 0;
    counters->handshakes++;
    counters->in_window++;
    counters->resumed += resumed;
    struct tlc_memory_lap lap =
        lap_of(&times, tlc_now_ns() - started_ns, run->figures->clock_ns, resumed);
    keep_lap(run->arm, &lap);
}

static struct tlc_expectation expectation_of(const struct tlc_arm *arm)
{
    uint16_t groups[16] = {0};
    size_t count = 0;
    struct tlc_error ignored;
    struct tlc_expectation expect = {
        .version = tlc_code(TLC_NAME_VERSION, arm->version),
        .cipher = arm->cipher ? tlc_code(TLC_NAME_CIPHER, arm->cipher) : 0,
        .resumed = resumes(arm) ? -1 : 0, // how many resume is a check of its own
    };
    if (tlc_codes_parse(TLC_NAME_GROUP, arm->groups, groups, 16, &count, &ignored) == TLC_OK)
        expect.group = groups[0];
    if (arm->alpn)
        snprintf(expect.alpn, sizeof expect.alpn, "%s", arm->alpn);
    return expect;
}

static bool goes_on(const struct run *run, uint64_t count, uint64_t end_ns)
{
    if (run->failures >= FAILURES_IN_A_ROW)
        return false;
    return count ? run->figures->counters.started < count : tlc_now_ns() < end_ns;
}

enum tlc_status tlc_memory_slice(struct tlc_memory_arm *arm, uint64_t duration_us, uint64_t count,
                                 struct tlc_memory_figures *figures, struct tlc_error *error)
{
    *figures = (struct tlc_memory_figures){.clock_ns = clock_cost_ns()};
    struct run run = {.arm = arm, .figures = figures, .expect = expectation_of(arm->arm)};
    void (*one)(struct run *) = replays(arm->arm) ? one_replay : one_handshake;
    arm->lap_count = 0;
    tlc_tally_begin(&run.tally, &figures->counters, false, UINT64_MAX);
    uint64_t cpu_ns = tlc_thread_cpu_ns(), started_ns = tlc_now_ns();
    while (goes_on(&run, count, started_ns + duration_us * 1000))
        one(&run);
    uint64_t wall_ns = tlc_now_ns() - started_ns;
    figures->total_us = (double)(tlc_thread_cpu_ns() - cpu_ns) / 1000;
    figures->counters.span_s = figures->counters.window_s = (double)wall_ns / 1e9;
    enum tlc_status status = tlc_tally_finish(&run.tally, error);
    if (status == TLC_OK && arm->lap_count &&
        !tlc_memory_split(arm->laps, arm->lap_count, figures->total_us, &figures->split))
        status = tlc_fail(error, TLC_ENVIRONMENT, "slice: out of memory");
    if (status != TLC_OK)
        tlc_counters_free(&figures->counters);
    return status;
}
