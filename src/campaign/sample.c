#include "campaign/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "evidence/checks.h"
#include "generator/generator.h"
#include "stats/stats.h"

void tlc_sample_begin(struct tlc_sample *sample, const struct tlc_plan *plan, size_t arm,
                      unsigned block)
{
    *sample = (struct tlc_sample){.plan = plan, .arm = arm, .block = block, .slices = json_array()};
}

void tlc_sample_clear(struct tlc_sample *sample)
{
    json_decref(sample->evidence);
    json_decref(sample->slices);
    if (sample->counters)
        tlc_counters_free(sample->counters);
    free(sample->counters);
    *sample = (struct tlc_sample){0};
}

// Latencies of all slices are in the sum, so it is kept as it is: made JSON again for each slice,
// the work would grow with the square of the slices.
static enum tlc_status merge_detail(struct tlc_sample *sample, const json_t *detail,
                                    struct tlc_error *error)
{
    struct tlc_counters part = {0};
    if (!detail)
        return TLC_OK;
    if (!sample->counters)
        sample->counters = calloc(1, sizeof *sample->counters);
    if (!sample->counters)
        return tlc_fail(error, TLC_ENVIRONMENT, "sample: out of memory");
    enum tlc_status status = tlc_counters_from_json(detail, &part, error);
    if (status == TLC_OK)
        status = tlc_counters_merge(sample->counters, &part, error);
    tlc_counters_free(&part);
    return status;
}

// The CPU time of a slice whose two sides share a process, part by part.
static void add_split(json_t *json, const struct tlc_slice *slice)
{
    json_t *split = json_pack("{s:I, s:f, s:f, s:f, s:f, s:I}", "resumed",
                              (json_int_t)slice->resumed, "server_us", slice->server_us, "rest_us",
                              slice->rest_us, "total_us", slice->total_us, "wall_us",
                              slice->wall_us, "interrupted", (json_int_t)slice->interrupted);
    json_object_update(json, split);
    json_decref(split);
}

enum tlc_status tlc_sample_add(struct tlc_sample *sample, struct tlc_visit visit,
                               struct tlc_slice *slice, struct tlc_error *error)
{
    struct tlc_slice *totals = &sample->totals;
    totals->started += slice->started;
    totals->handshakes += slice->handshakes;
    totals->in_window += slice->in_window;
    totals->resumed += slice->resumed;
    totals->hello_retry_requests += slice->hello_retry_requests;
    totals->mismatches += slice->mismatches;
    totals->errors += slice->errors;
    totals->given_up += slice->given_up;
    totals->window_s += slice->window_s;
    totals->span_s += slice->span_s;
    totals->cost_us += slice->cost_us;
    totals->client_us += slice->client_us;
    totals->server_us += slice->server_us;
    totals->rest_us += slice->rest_us;
    totals->total_us += slice->total_us;
    json_t *json =
        json_pack("{s:i, s:i, s:I, s:I, s:f, s:f, s:f, s:f, s:I}", "round", (int)visit.round,
                  "position", (int)visit.position, "handshakes", (json_int_t)slice->handshakes,
                  "in_window", (json_int_t)slice->in_window, "window_s", slice->window_s, "span_s",
                  slice->span_s, "cost_us", slice->cost_us, "client_us", slice->client_us, "errors",
                  (json_int_t)slice->errors);
    if (slice->burnt_us > 0)
        json_object_set_new(json, "burnt_us", json_real(slice->burnt_us));
    if (slice->burnt_charge > 0)
        json_object_set_new(json, "burnt_charge", json_real(slice->burnt_charge));
    if (slice->sampled_us > 0)
        json_object_set_new(json, "sampled",
                            json_pack("{s:I, s:f}", "handshakes",
                                      (json_int_t)slice->sampled_handshakes, "cost_us",
                                      slice->sampled_us));
    if (visit.duet)
        json_object_set_new(json, "duet", json_true());
    if (slice->buckets)
        json_object_set(json, "buckets", slice->buckets);
    if (slice->total_us > 0)
        add_split(json, slice);
    json_array_append_new(sample->slices, json);
    enum tlc_status status = merge_detail(sample, slice->detail, error);
    tlc_slice_clear(slice);
    return status;
}

static double rate_of(const struct tlc_slice *totals)
{
    return totals->span_s > 0 ? (double)totals->handshakes / totals->span_s : 0;
}

// Latency lists become percentiles once the sample is whole; the lists themselves would fill the
// result.
static json_t *percentiles_of(uint32_t *values, size_t count)
{
    if (!count)
        return json_null();
    tlc_sort_u32(values, count);
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "p50", tlc_percentile_u32(values, count, 0.5),
                     "p90", tlc_percentile_u32(values, count, 0.9), "p99",
                     tlc_percentile_u32(values, count, 0.99), "p999",
                     tlc_percentile_u32(values, count, 0.999), "max", (double)values[count - 1]);
}

static json_t *counters_json(struct tlc_counters *counters)
{
    if (!counters)
        return json_null();
    json_t *latency = json_pack(
        "{s:o, s:o, s:o, s:o}", "connect",
        percentiles_of(counters->latency_connect_us, counters->latency_connect_count),
        "server_hello", percentiles_of(counters->latency_hello_us, counters->latency_count),
        "finished", percentiles_of(counters->latency_done_us, counters->latency_count), "echoed",
        percentiles_of(counters->latency_echo_us, counters->latency_echo_count));
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:O?, s:O?, s:o}", "started",
        (json_int_t)counters->started, "handshakes", (json_int_t)counters->handshakes, "stopped",
        (json_int_t)counters->stopped, "missed", (json_int_t)counters->missed, "resumed",
        (json_int_t)counters->resumed, "hello_retry_requests",
        (json_int_t)counters->hello_retry_requests, "cookies", (json_int_t)counters->cookies,
        "mismatches", (json_int_t)counters->mismatches, "tickets", (json_int_t)counters->tickets,
        "signatures_verified", (json_int_t)counters->signatures_verified, "bytes_sent",
        (json_int_t)counters->bytes_sent, "bytes_received", (json_int_t)counters->bytes_received,
        "errors", counters->errors, "negotiated", counters->negotiated, "latency_us", latency);
}

static uint16_t first_group(const char *groups)
{
    uint16_t codes[16];
    size_t count;
    struct tlc_error ignored;
    return tlc_codes_parse(TLC_NAME_GROUP, groups, codes, 16, &count, &ignored) == TLC_OK && count
               ? codes[0]
               : 0;
}

struct differences {
    char negotiated[256], certificate[256], operation[256], subject[64];
};

static void compare_evidence(const struct tlc_sample *sample, struct differences *differences)
{
    const struct tlc_arm *arm = &sample->plan->arms[sample->arm];
    const struct tlc_workload_kind *kind = tlc_workload_kind(arm->workload);
    if (kind && kind->compare) {
        // What it could not do counts as much as what it did otherwise than asked.
        if (!sample->evidence || sample->failure[0])
            snprintf(differences->operation, sizeof differences->operation, "%.255s",
                     sample->failure[0] ? sample->failure : "there is no evidence");
        else
            kind->compare(arm, sample->evidence, differences->operation,
                          sizeof differences->operation);
        return;
    }
    if (arm->names) // the probe visits the last of them
        tlc_certs_numbered_subject(arm->certificate, arm->names - 1, differences->subject,
                                   sizeof differences->subject);
    else
        snprintf(differences->subject, sizeof differences->subject, "tlscost %s", arm->certificate);
    struct tlc_asked asked = {
        .version = tlc_code(TLC_NAME_VERSION, arm->version),
        .group = first_group(arm->groups),
        .cipher = arm->cipher ? tlc_code(TLC_NAME_CIPHER, arm->cipher) : 0,
        .hello_retry_request = arm->cookie,
        .alpn = arm->alpn,
        .key_type = arm->certificate,
        .subject = differences->subject,
        .chain_depth = arm->intermediates + 1,
    };
    if (sample->evidence)
        tlc_evidence_compare(sample->evidence, &asked, differences->negotiated,
                             sizeof differences->negotiated, differences->certificate,
                             sizeof differences->certificate);
    else
        snprintf(differences->negotiated, sizeof differences->negotiated, "%.255s",
                 sample->failure[0] ? sample->failure : "the probe gave no evidence");
}

// In what the server is not what the arm asks for; empty where it is.
static const char *difference_of(const struct differences *differences)
{
    return differences->operation[0]    ? differences->operation
           : differences->negotiated[0] ? differences->negotiated
                                        : differences->certificate;
}

bool tlc_sample_evidence_fits(const struct tlc_plan *plan, size_t arm, json_t *evidence,
                              char *difference, size_t bytes)
{
    const struct tlc_sample sample = {.plan = plan, .arm = arm, .evidence = evidence};
    struct differences differences = {0};
    compare_evidence(&sample, &differences);
    const char *found = difference_of(&differences);
    snprintf(difference, bytes, "%s", found);
    return !*found;
}

// What was never measured has no facts of a stay; that the server was not what the arm asks for is
// then all there is to say.
static unsigned skips_without_stay(const struct tlc_stay *stay,
                                   const struct differences *differences)
{
    static const unsigned of_the_server =
        1u << TLC_CHECK_NEGOTIATED | 1u << TLC_CHECK_CERTIFICATE | 1u << TLC_CHECK_OPERATION;
    static const unsigned of_the_arm = 1u << TLC_CHECK_GENERATOR_LIMITED; // judged over its blocks
    return !stay && *difference_of(differences) ? ~(of_the_server | of_the_arm) : 0;
}

static struct tlc_sample_facts facts_of(const struct tlc_sample *sample,
                                        const struct tlc_stay *stay,
                                        const struct differences *differences)
{
    const struct tlc_arm *arm = &sample->plan->arms[sample->arm];
    const struct tlc_workload_kind *kind = tlc_workload_kind(arm->workload);
    return (struct tlc_sample_facts){
        .skips = (kind ? kind->skips : 0) |
                 (tlc_arm_is_paced(arm) ? 1u << TLC_CHECK_SERVER_SATURATED : 0) |
                 skips_without_stay(stay, differences),
        .is_operation = kind && kind->compare,
        .operation_difference = differences->operation[0] ? differences->operation : NULL,
        .handshakes = sample->totals.handshakes,
        .started = sample->totals.started,
        .mismatches = sample->totals.mismatches,
        // Where one is asked for, each is compared with that, and what differs is a mismatch.
        .hello_retry_requests =
            arm->hello_retry || arm->cookie ? 0 : sample->totals.hello_retry_requests,
        .resumed = sample->totals.resumed,
        // Around an event the resumed share is what is asked, not what is known.
        .resume_ratio = strcmp(arm->event, "none") ? NAN : arm->resume_ratio,
        .probe_matches = !differences->negotiated[0],
        .probe_difference = differences->negotiated[0] ? differences->negotiated : NULL,
        .certificate_matches = !differences->certificate[0],
        .certificate_difference = differences->certificate[0] ? differences->certificate : NULL,
        .generator_busy = stay ? stay->generator_busy : -1,
        .server_busy = stay ? stay->server_busy : -1,
        // One slice is too little to tell; the gain is judged over an arm's blocks (summary.c).
        .headroom_gain = -1,
        .errors = sample->totals.errors,
        .given_up = sample->totals.given_up,
        .unfinished = tlc_arm_is_unfinished(arm),
        .server_alive = stay && stay->server_alive,
        .server_handshakes = stay ? stay->server_handshakes : 0,
        .server_counts = stay && stay->server_counts,
        .client_certificate_asked =
            arm->client_auth && stay && stay->server_counts && !strcmp(arm->workload, "network"),
        .client_certificates = stay ? stay->client_certificates : 0,
        .provider = arm->provider,
        .provider_work = stay ? stay->provider_work : 0,
        .cpu_mask = arm->server ? NULL : arm->cpu_mask,
        .processor = json_string_value(json_object_get(sample->evidence, "processor")),
        .trace = strcmp(arm->trace, "none") ? arm->trace : NULL,
        .trace_witness = stay && stay->trace_witness ? stay->trace_witness : "nothing",
        .trace_work = stay ? stay->trace_work : 0,
        .trace_lost = stay ? stay->trace_lost : 0,
        .listen_overflows = stay ? stay->listen_overflows : 0,
        .listen_drops = stay ? stay->listen_drops : 0,
        .steal = stay ? stay->steal : -1,
        .accounting = stay ? stay->accounting : -1,
    };
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void add_outcomes(json_t *json, const struct tlc_check_outcome *outcomes)
{
    json_t *refused = json_array(), *reasons = json_array(), *values = json_object();
    for (int i = 0; i < TLC_CHECK_COUNT; i++) {
        const char *name = tlc_check_name((enum tlc_check)i);
        if (!outcomes[i].applied)
            continue;
        json_object_set_new(values, name, number_or_null(outcomes[i].value));
        if (!outcomes[i].failed)
            continue;
        json_array_append_new(refused, json_string(name));
        json_array_append_new(reasons, json_sprintf("%s: %s", name, outcomes[i].reason));
    }
    json_object_set_new(json, "accepted", json_boolean(json_array_size(refused) == 0));
    json_object_set_new(json, "refused", refused);
    json_object_set_new(json, "reasons", reasons);
    json_object_set_new(json, "check_values", values);
}

static json_t *stay_json(const struct tlc_stay *stay)
{
    json_t *json = stay->detail ? json_deep_copy(stay->detail) : json_object();
    json_object_set_new(json, "server_busy", json_real(stay->server_busy));
    json_object_set_new(json, "generator_busy", json_real(stay->generator_busy));
    json_object_set_new(json, "steal", json_real(stay->steal));
    json_object_set_new(json, "accounting", json_real(stay->accounting));
    json_object_set_new(json, "server_handshakes",
                        json_integer((json_int_t)stay->server_handshakes));
    json_object_set_new(json, "client_certificates",
                        json_integer((json_int_t)stay->client_certificates));
    json_object_set_new(json, "provider_work", json_integer((json_int_t)stay->provider_work));
    json_object_set_new(json, "trace_work", json_integer((json_int_t)stay->trace_work));
    json_object_set_new(json, "server_alive", json_boolean(stay->server_alive));
    json_object_set_new(json, "listen_overflows", json_integer((json_int_t)stay->listen_overflows));
    json_object_set_new(json, "listen_drops", json_integer((json_int_t)stay->listen_drops));
    return json;
}

json_t *tlc_sample_finish(struct tlc_sample *sample, const struct tlc_stay *stay)
{
    const struct tlc_limits *limits = &sample->plan->limits;
    const struct tlc_slice *totals = &sample->totals;
    struct tlc_check_limits check_limits = {.generator_busy = limits->generator_busy,
                                            .server_busy = limits->server_busy,
                                            .headroom_gain = limits->headroom_gain,
                                            .steal = limits->steal,
                                            .accounting = limits->accounting,
                                            .errors = limits->errors};
    struct differences differences = {0};
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    compare_evidence(sample, &differences);
    struct tlc_sample_facts facts = facts_of(sample, stay, &differences);
    tlc_checks_sample(&facts, &check_limits, outcomes);
    double handshakes = totals->handshakes ? (double)totals->handshakes : NAN;
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:I, s:o, s:o, s:o, s:O?, s:o, s:o, s:O}", "arm",
                  sample->plan->arms[sample->arm].name, "arm_index", (int)sample->arm, "block",
                  (int)sample->block, "handshakes", (json_int_t)totals->handshakes, "cost_us",
                  number_or_null(totals->cost_us / handshakes), "rate", json_real(rate_of(totals)),
                  "client_us", number_or_null(totals->client_us / handshakes), "evidence",
                  sample->evidence, "counters", counters_json(sample->counters), "stay",
                  stay ? stay_json(stay) : json_null(), "slices", sample->slices);
    if (totals->total_us > 0) {
        json_object_set_new(json, "server_us", number_or_null(totals->server_us / handshakes));
        json_object_set_new(json, "rest_us", number_or_null(totals->rest_us / handshakes));
    }
    if (sample->failure[0])
        json_object_set_new(json, "failure", json_string(sample->failure));
    if (sample->rate_doubled > 0)
        json_object_set_new(json, "rate_doubled", json_real(sample->rate_doubled));
    add_outcomes(json, outcomes);
    tlc_sample_clear(sample);
    return json;
}
