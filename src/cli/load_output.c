// What `tlscost load` prints.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "cli/load.h"
#include "measure/machine.h"
#include "result/result.h"
#include "stats/stats.h"

static const struct {
    const char *name;
    double p;
} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};

enum { PERCENTILES = sizeof percentiles / sizeof *percentiles };

// The three points of a handshake that are timed.
struct point {
    const char *label, *member;
    uint32_t *values;
    size_t count;
};

static void points_of(struct tlc_counters *counters, struct point points[3])
{
    points[0] = (struct point){"connect", "latency_connect_us", counters->latency_connect_us,
                               counters->latency_connect_count};
    points[1] = (struct point){"server hello", "latency_server_hello_us",
                               counters->latency_hello_us, counters->latency_count};
    points[2] = (struct point){"finished", "latency_us", counters->latency_done_us,
                               counters->latency_count};
    for (size_t i = 0; i < 3; i++)
        tlc_sort_u32(points[i].values, points[i].count);
}

static double rate_of(const struct tlc_counters *counters)
{
    return counters->window_s > 0 ? (double)counters->in_window / counters->window_s : 0;
}

// More than 1 % of all, and more than the rounding of a few handshakes.
static bool resumption_differs(const struct tlc_load_options *options,
                               const struct tlc_counters *counters)
{
    double asked = options->target.resume_ratio * (double)counters->handshakes;
    double off = fabs((double)counters->resumed - asked);
    return off > 0.01 * (double)counters->handshakes && off >= 2;
}

void tlc_load_verdict(const struct tlc_load_options *options, const struct tlc_counters *counters,
                      char *why, size_t capacity)
{
    *why = '\0';
    uint64_t errors = tlc_counters_errors(counters);
    uint64_t wanted =
        options->target.stop == TLC_STOP_COMPLETE ? counters->handshakes : counters->stopped;
    if (!wanted)
        snprintf(why, capacity, "no handshake was made");
    else if (errors)
        snprintf(why, capacity, "%" PRIu64 " of %" PRIu64 " connections failed", errors,
                 counters->started);
    else if (counters->mismatches)
        snprintf(why, capacity,
                 "%" PRIu64 " of %" PRIu64 " handshakes differ from what was asked%s",
                 counters->mismatches, counters->handshakes,
                 options->target.wrong_share_first && !counters->hello_retry_requests
                     ? ": the server took the second group instead of sending a HelloRetryRequest"
                     : "");
    else if (counters->resumed < counters->offered)
        snprintf(why, capacity,
                 "%" PRIu64 " handshakes offered a ticket, the server resumed %" PRIu64,
                 counters->offered, counters->resumed);
    else if (resumption_differs(options, counters))
        snprintf(why, capacity,
                 "%" PRIu64 " of %" PRIu64 " handshakes were resumed, asked was a share of %g; the "
                 "server gives too few tickets, or they do not live long enough",
                 counters->resumed, counters->handshakes, options->target.resume_ratio);
}

static void hint_at_offer(const struct tlc_load_options *options)
{
    const struct tlc_target_options *target = &options->target;
    char groups[512] = "";
    for (size_t i = 0, used = 0; i < target->group_count && used < sizeof groups; i++)
        used += (size_t)snprintf(groups + used, sizeof groups - used, "%s%s", i ? ":" : "",
                                 tlc_name(TLC_NAME_GROUP, target->groups[i]));
    const char *usual = target->engine == TLC_ENGINE_FULL ? "the library's" : "X25519";
    fprintf(stderr,
            "tlscost: hint: the server takes nothing of what was offered (groups %s%s); name "
            "groups that it takes with --groups\n",
            *groups ? groups : usual, target->cipher_count ? ", and the suites of --ciphers" : "");
}

static bool says(const char *kind, const char *const *words)
{
    for (; *words; words++)
        if (strstr(kind, *words))
            return true;
    return false;
}

void tlc_load_hint(const struct tlc_load_options *options, const char *kind)
{
    // Alerts by name, as engine lean has them, and in libraries' words.
    static const char *const offer[] = {"handshake_failure", "handshake failure", NULL};
    static const char *const no_tls[] = {"not-tls", "wrong version number", NULL};
    static const char *const ours[] = {"alert-certificate",
                                       "alert-bad_certificate",
                                       "alert-unknown_ca",
                                       "alert certificate",
                                       "alert bad cert",
                                       "alert unknown ca",
                                       NULL};
    static const char *const theirs[] = {"certificate", NULL};
    if (says(kind, offer))
        hint_at_offer(options);
    else if (says(kind, no_tls))
        fprintf(stderr, "tlscost: hint: what answers there does not speak TLS; is it the port of a "
                        "TLS server?\n");
    else if (says(kind, ours))
        fprintf(stderr,
                "tlscost: hint: the server %s; name one that it takes with --engine full "
                "--client-cert FILE --client-key FILE\n",
                options->client_chain_pem ? "does not take the client certificate"
                                          : "wants a client certificate");
    else if (says(kind, theirs) && options->target.expect.certificate_known)
        fprintf(stderr,
                "tlscost: hint: the server's certificate is not the one of --cert-sha256; "
                "'tlscost probe %s' shows which it is\n",
                options->target.address);
    else if (says(kind, (const char *const[]){"connect-refused", NULL}) &&
             !strncmp(options->target.address, "unix:", 5))
        fprintf(stderr, "tlscost: hint: no server listens at this path\n");
}

// Share of the time that the event loops' threads were busy.
static double busy_of(const struct tlc_load_options *options, const struct tlc_counters *counters)
{
    unsigned threads = options->target.threads ? options->target.threads : 1;
    double cpu_us = counters->cpu_user_us + counters->cpu_system_us;
    return counters->span_s > 0 ? cpu_us / 1e6 / counters->span_s / threads : 0;
}

static void print_words(const char *label, const json_t *counts)
{
    const char *key;
    json_t *value;
    bool first = true;
    json_object_foreach((json_t *)(uintptr_t)counts, key, value)
    {
        printf("%s%s %" JSON_INTEGER_FORMAT, first ? label : ", ", key, json_integer_value(value));
        first = false;
    }
    if (!first)
        printf("\n");
}

static void print_latencies(struct tlc_counters *counters)
{
    struct point points[3];
    if (!counters->latency_count)
        return;
    points_of(counters, points);
    printf("  latency (us) %12s %9s %9s %9s %9s\n", "p50", "p90", "p99", "p99.9", "max");
    for (size_t i = 0; i < 3; i++) {
        if (!points[i].count)
            continue;
        printf("    %-14s", points[i].label);
        for (size_t k = 0; k < PERCENTILES; k++)
            printf(
                "%s%9" PRIu32, k ? " " : "",
                (uint32_t)tlc_percentile_u32(points[i].values, points[i].count, percentiles[k].p));
        printf("\n");
    }
}

static void print_head(const struct tlc_load_options *options, const struct tlc_target *target)
{
    json_t *about = tlc_target_describe(target);
    const char *stack = json_string_value(json_object_get(about, "stack"));
    printf("%s: engine %s%s%s, share %s, close %s, loop %s, %u connections\n",
           options->target.address, json_string_value(json_object_get(about, "engine")),
           stack ? " " : "", stack ? stack : "", json_string_value(json_object_get(about, "share")),
           json_string_value(json_object_get(about, "close")),
           json_string_value(json_object_get(about, "loop")), options->slice.concurrency);
    json_decref(about);
}

void tlc_load_print(const struct tlc_load_options *options, const struct tlc_target *target,
                    struct tlc_counters *counters, struct tlc_counters *probe)
{
    double each = counters->handshakes ? 1.0 / (double)counters->handshakes : 0;
    print_head(options, target);
    printf("  %" PRIu64 " handshakes, %.0f a second over %.3f s; %" PRIu64 " resumed of %" PRIu64
           " that offered a ticket\n",
           counters->handshakes, rate_of(counters), counters->window_s, counters->resumed,
           counters->offered);
    if (counters->stopped)
        printf("  %" PRIu64 " stopped on purpose\n", counters->stopped);
    if (options->slice.rate > 0 || options->slice.rate_end > 0)
        printf("  %" PRIu64 " starts missed (no free connection when they were due)\n",
               counters->missed);
    if (counters->handshakes)
        printf("  own CPU a handshake: %.1f us (user %.1f, system %.1f); busy %.0f %%\n",
               (counters->cpu_user_us + counters->cpu_system_us) * each,
               counters->cpu_user_us * each, counters->cpu_system_us * each,
               100 * busy_of(options, counters));
    print_latencies(counters);
    if (probe) {
        printf("  latency probe: %" PRIu64 " handshakes at %g a second, %" PRIu64 " failed\n",
               probe->handshakes, options->probe_rate, tlc_counters_errors(probe));
        print_latencies(probe);
    }
    print_words("  version: ", json_object_get(counters->negotiated, "version"));
    print_words("  cipher: ", json_object_get(counters->negotiated, "cipher"));
    print_words("  group: ", json_object_get(counters->negotiated, "group"));
    print_words("  psk mode: ", json_object_get(counters->negotiated, "psk_mode"));
    print_words("  alpn: ", json_object_get(counters->negotiated, "alpn"));
    printf("  HelloRetryRequests: %" PRIu64 "; tickets: %" PRIu64 "; signatures verified: %" PRIu64
           "\n",
           counters->hello_retry_requests, counters->tickets, counters->signatures_verified);
    if (json_object_size(counters->errors))
        print_words("  errors: ", counters->errors);
    else
        printf("  errors: none\n");
}

static json_t *per_handshake(const struct tlc_counters *counters)
{
    if (!counters->handshakes)
        return json_null();
    double handshakes = (double)counters->handshakes;
    return json_pack("{s:f, s:f, s:f}", "user", counters->cpu_user_us / handshakes, "system",
                     counters->cpu_system_us / handshakes, "total",
                     (counters->cpu_user_us + counters->cpu_system_us) / handshakes);
}

static json_t *percentiles_to_json(const uint32_t *sorted, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < PERCENTILES; i++)
        json_object_set_new(
            json, percentiles[i].name,
            count ? json_integer((json_int_t)tlc_percentile_u32(sorted, count, percentiles[i].p))
                  : json_null());
    return json;
}

static json_t *negotiated_to_json(const struct tlc_counters *counters)
{
    json_t *json = counters->negotiated ? json_copy(counters->negotiated) : json_object();
    json_object_set_new(json, "hello_retry_request",
                        json_integer((json_int_t)counters->hello_retry_requests));
    return json;
}

static void add_counts(json_t *json, const struct tlc_counters *counters)
{
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {
        {"attempts", counters->started},
        {"handshakes", counters->handshakes},
        {"in_window", counters->in_window},
        {"resumed", counters->resumed},
        {"offered", counters->offered},
        {"stopped", counters->stopped},
        {"missed", counters->missed},
        {"mismatches", counters->mismatches},
        {"tickets", counters->tickets},
        {"signatures_verified", counters->signatures_verified},
        {"bytes_sent", counters->bytes_sent},
        {"bytes_received", counters->bytes_received},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(json, counts[i].name, json_integer((json_int_t)counts[i].count));
}

static void add_latencies(json_t *json, struct tlc_counters *counters)
{
    struct point points[3];
    points_of(counters, points);
    for (size_t i = 0; i < 3; i++)
        json_object_set_new(json, points[i].member,
                            percentiles_to_json(points[i].values, points[i].count));
}

static json_t *probe_to_json(const struct tlc_load_options *options, struct tlc_counters *probe)
{
    json_t *json = json_object();
    json_object_set_new(json, "asked_rate", json_real(options->probe_rate));
    json_object_set_new(json, "handshakes", json_integer((json_int_t)probe->handshakes));
    json_object_set_new(json, "missed", json_integer((json_int_t)probe->missed));
    json_object_set(json, "errors", probe->errors);
    add_latencies(json, probe);
    return json;
}

json_t *tlc_load_to_json(const struct tlc_load_options *options, const struct tlc_target *target,
                         struct tlc_counters *counters, struct tlc_counters *probe)
{
    char why[256];
    json_t *json = tlc_result_new("load", tlc_machine_describe());
    json_t *about = tlc_target_describe(target);
    // Keys are no part of a result.
    json_object_del(about, "client_key_pem");
    json_object_set_new(json, "target", about);
    json_object_set_new(json, "concurrency", json_integer(options->slice.concurrency));
    json_object_set_new(json, "asked_rate", json_real(options->slice.rate));
    json_object_set_new(
        json, "asked_rate_end",
        json_real(options->slice.rate_end > 0 ? options->slice.rate_end : options->slice.rate));
    add_counts(json, counters);
    json_object_set_new(json, "rate", json_real(rate_of(counters)));
    json_object_set_new(json, "window_s", json_real(counters->window_s));
    json_object_set_new(json, "span_s", json_real(counters->span_s));
    json_object_set(json, "errors", counters->errors);
    json_object_set_new(json, "cpu_us_per_handshake", per_handshake(counters));
    json_object_set_new(json, "busy", json_real(busy_of(options, counters)));
    add_latencies(json, counters);
    if (probe)
        json_object_set_new(json, "latency_probe", probe_to_json(options, probe));
    json_object_set_new(json, "negotiated", negotiated_to_json(counters));
    tlc_load_verdict(options, counters, why, sizeof why);
    json_object_set_new(json, "as_asked", json_boolean(!*why));
    json_object_set_new(json, "difference", *why ? json_string(why) : json_null());
    return json;
}
