#include "evidence/checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu_mask.h"
#include "base/error.h"

static const struct {
    const char *name, *remedy;
} checks[TLC_CHECK_COUNT] = {
    [TLC_CHECK_SERVER_ALIVE] =
        {"server-alive", "It ended by itself: run again with --keep-logs and read its log in the "
                         "work folder, which is removed otherwise."},
    [TLC_CHECK_NEGOTIATED] =
        {"negotiated",
         "Make the server's groups, versions and ciphers those of the arm, or change the arm."},
    [TLC_CHECK_CERTIFICATE] = {"certificate",
                               "Make the server serve the arm's certificate, and demand the "
                               "client's where the arm has one, then run again."},
    [TLC_CHECK_RESUMPTION] =
        {"resumption",
         "Check the server's ticket settings and that its tickets can be used as often as asked."},
    [TLC_CHECK_PROVIDER] =
        {"provider", "Name a provider that serves the arm's groups, certificate or cipher, and see "
                     "that its module is the one meant."},
    [TLC_CHECK_CPU_MASK] =
        {"cpu-mask",
         "Write the mask as the library's page on OPENSSL_ia32cap describes it, for the "
         "vector that holds the bits."},
    [TLC_CHECK_TRACE] =
        {"trace",
         "See that the server's library is OpenSSL 3.0 or later and reads the configuration "
         "that OPENSSL_CONF names."},
    [TLC_CHECK_ERRORS] =
        {"errors", "Look at the kinds of errors in the result; lower the concurrency if they are "
                   "timeouts or refused connections."},
    [TLC_CHECK_LISTEN_OVERFLOW] =
        {"listen-overflow",
         "Raise the server's backlog and net.core.somaxconn, or lower the concurrency."},
    [TLC_CHECK_COUNTS] =
        {"counts", "Make sure that nothing else connects to the server while it is measured."},
    [TLC_CHECK_GENERATOR_HEADROOM] =
        {"generator-headroom",
         "Give the generator more CPUs, or the server fewer; keep the two sets apart."},
    [TLC_CHECK_GENERATOR_LIMITED] = {"generator-limited",
                                     "Raise the arm's concurrency until the rate stops rising."},
    [TLC_CHECK_SERVER_SATURATED] =
        {"server-saturated", "Raise the arm's concurrency, or set the limit server_busy to 0 when "
                             "the server need not be saturated."},
    [TLC_CHECK_STEAL] = {"steal",
                         "Run on a machine whose CPUs are not shared, or at a quieter time."},
    [TLC_CHECK_ACCOUNTING] =
        {"accounting", "Stop whatever else runs on the server's CPUs, and use longer slices."},
    [TLC_CHECK_OPERATION] =
        {"operation", "Name an operation and a provider that the library has ('tlscost speed "
                      "--list'); a wrong result is a fault of the library or the machine."},
    [TLC_CHECK_WARMED_UP] =
        {"warmed-up",
         "Give the arm a longer warm_up: its server still compiled, or filled something, while it "
         "was measured."},
    [TLC_CHECK_CONTROL_DRIFT] =
        {"control-drift",
         "Quiet the machine (other load, frequency changes), and use more blocks."},
    [TLC_CHECK_NEGATIVE_CONTROL] =
        {"negative-control", "Two arms that must cost the same did not: trust no small difference "
                             "of this campaign; quiet the machine and use more blocks."},
};

const char *tlc_check_name(enum tlc_check check)
{
    return (unsigned)check < TLC_CHECK_COUNT ? checks[check].name : "unknown";
}

const char *tlc_check_remedy(enum tlc_check check)
{
    return (unsigned)check < TLC_CHECK_COUNT ? checks[check].remedy : "";
}

static void fail(struct tlc_check_outcome *outcome, const char *format, ...) TLC_PRINTF(2, 3);
static void fail(struct tlc_check_outcome *outcome, const char *format, ...)
{
    va_list arguments;
    outcome->failed = true;
    va_start(arguments, format);
    vsnprintf(outcome->reason, sizeof outcome->reason, format, arguments);
    va_end(arguments);
    // Names in certificates and protocols come from the network; a reason stays plain ASCII.
    for (char *at = outcome->reason; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

static void apply(struct tlc_check_outcome *outcome, double value, double limit)
{
    outcome->applied = true;
    outcome->value = value;
    outcome->limit = limit;
}

static void check_server_alive(const struct tlc_sample_facts *facts,
                               const struct tlc_check_limits *limits,
                               struct tlc_check_outcome *outcome)
{
    (void)limits;
    apply(outcome, NAN, NAN);
    if (!facts->server_alive)
        fail(outcome, "the server process ended before the last slice did");
}

static void check_negotiated(const struct tlc_sample_facts *facts,
                             const struct tlc_check_limits *limits,
                             struct tlc_check_outcome *outcome)
{
    (void)limits;
    apply(outcome, (double)(facts->mismatches + facts->hello_retry_requests), 0);
    if (!facts->probe_matches)
        fail(outcome, "probe: %s",
             facts->probe_difference ? facts->probe_difference : "not what the arm asked for");
    else if (facts->mismatches)
        fail(outcome, "%" PRIu64 " of %" PRIu64 " handshakes were not as the arm asked",
             facts->mismatches, facts->handshakes);
    else if (facts->hello_retry_requests)
        fail(outcome, "%" PRIu64 " of %" PRIu64 " handshakes had a HelloRetryRequest, asked none",
             facts->hello_retry_requests, facts->handshakes);
}

static void check_certificate(const struct tlc_sample_facts *facts,
                              const struct tlc_check_limits *limits,
                              struct tlc_check_outcome *outcome)
{
    (void)limits;
    uint64_t full = facts->handshakes > facts->resumed ? facts->handshakes - facts->resumed : 0;
    apply(outcome, NAN, NAN);
    if (!facts->certificate_matches)
        fail(outcome, "probe: %s",
             facts->certificate_difference ? facts->certificate_difference
                                           : "not the certificate that the arm asked for");
    else if (facts->client_certificate_asked && facts->client_certificates < full)
        fail(outcome,
             "the server saw a client's certificate in %" PRIu64 " of %" PRIu64
             " full handshakes, asked all",
             facts->client_certificates, full);
}

// How far the resumed share may be from a share strictly between 0 and 1: one point for the first
// tickets of each connection slot, and four standard deviations of a fair draw. Asked 0 or 1, every
// handshake counts: a few full handshakes among resumed ones can cost more than all the others.
static double resumption_tolerance(double asked, double handshakes)
{
    if (asked <= 0 || asked >= 1)
        return 0;
    return 0.01 + 4 * sqrt(asked * (1 - asked) / handshakes);
}

static void check_resumption(const struct tlc_sample_facts *facts,
                             const struct tlc_check_limits *limits,
                             struct tlc_check_outcome *outcome)
{
    (void)limits;
    double asked = facts->resume_ratio;
    if (!facts->handshakes || isnan(asked))
        return; // reported by "errors"; not known beforehand
    double handshakes = (double)facts->handshakes, share = (double)facts->resumed / handshakes;
    apply(outcome, share, asked);
    if (fabs(share - asked) > resumption_tolerance(asked, handshakes))
        fail(outcome, "%" PRIu64 " of %" PRIu64 " handshakes were resumed (%.2f %%), asked %.2f %%",
             facts->resumed, facts->handshakes, 100 * share, 100 * asked);
}

// Full handshakes need all the cryptography; resumed ones may pass a provider by.
static void check_provider(const struct tlc_sample_facts *facts,
                           const struct tlc_check_limits *limits, struct tlc_check_outcome *outcome)
{
    (void)limits;
    if (!facts->provider || !facts->handshakes)
        return;
    uint64_t full = facts->handshakes > facts->resumed ? facts->handshakes - facts->resumed : 0;
    uint64_t asked = full ? full : 1;
    apply(outcome, facts->provider_work < asked ? (double)(asked - facts->provider_work) : 0, 0);
    if (facts->provider_work < asked)
        fail(outcome, "%s worked in %" PRIu64 " of %" PRIu64 " handshakes, asked at least %" PRIu64,
             facts->provider, facts->provider_work, facts->handshakes, asked);
}

static void check_cpu_mask(const struct tlc_sample_facts *facts,
                           const struct tlc_check_limits *limits, struct tlc_check_outcome *outcome)
{
    char why[200];
    (void)limits;
    if (!facts->cpu_mask)
        return;
    apply(outcome, NAN, NAN);
    if (!facts->processor)
        fail(outcome, "the server's library does not tell what processor it sees");
    else if (!tlc_cpu_mask_obeyed(facts->cpu_mask, facts->processor, why, sizeof why))
        fail(outcome, "%s", why);
}

static void check_trace(const struct tlc_sample_facts *facts, const struct tlc_check_limits *limits,
                        struct tlc_check_outcome *outcome)
{
    (void)limits;
    if (!facts->trace)
        return;
    uint64_t work = facts->trace_work, asked = facts->handshakes;
    apply(outcome, (double)(work < asked ? asked - work : facts->trace_lost), 0);
    if (work < asked)
        fail(outcome,
             "the tracing provider saw %s %" PRIu64 " times in %" PRIu64
             " handshakes, asked at least once in each",
             facts->trace_witness, work, asked);
    else if (facts->trace_lost)
        fail(outcome, "%" PRIu64 " calls could not be timed, asked 0", facts->trace_lost);
}

static void check_errors(const struct tlc_sample_facts *facts,
                         const struct tlc_check_limits *limits, struct tlc_check_outcome *outcome)
{
    apply(outcome, (double)facts->errors, (double)limits->errors);
    if (facts->errors > limits->errors)
        fail(outcome, "%" PRIu64 " of %" PRIu64 " handshakes failed, at most %" PRIu64 " allowed",
             facts->errors, facts->started, limits->errors);
    else if (!facts->handshakes)
        fail(outcome, "no handshake was completed (%" PRIu64 " started)", facts->started);
}

static void check_listen_overflow(const struct tlc_sample_facts *facts,
                                  const struct tlc_check_limits *limits,
                                  struct tlc_check_outcome *outcome)
{
    (void)limits;
    apply(outcome, (double)(facts->listen_overflows + facts->listen_drops), 0);
    if (facts->listen_overflows || facts->listen_drops)
        fail(outcome,
             "the accept queue overflowed: ListenOverflows +%" PRIu64 ", ListenDrops +%" PRIu64
             ", asked 0",
             facts->listen_overflows, facts->listen_drops);
}

static void check_counts(const struct tlc_sample_facts *facts,
                         const struct tlc_check_limits *limits, struct tlc_check_outcome *outcome)
{
    (void)limits;
    if (!facts->server_counts || !facts->server_alive)
        return;
    uint64_t client = facts->handshakes, server = facts->server_handshakes;
    uint64_t difference = client > server ? client - server : server - client;
    // A handshake that failed on the client may count as finished on the server; "errors" judges
    // it.
    uint64_t lost = facts->errors + facts->given_up;
    apply(outcome, (double)difference, (double)lost);
    if (difference > lost && facts->is_operation)
        fail(outcome, "the worker did %" PRIu64 " operations, asked were %" PRIu64, client, server);
    else if (difference > lost && facts->unfinished)
        fail(outcome,
             "the server accepted %" PRIu64 " connections and answered %" PRIu64 " (and %" PRIu64
             " errors)",
             server, client, lost);
    else if (difference > lost)
        fail(outcome,
             "the server counted %" PRIu64 " handshakes, the client %" PRIu64 " (and %" PRIu64
             " errors)",
             server, client, lost);
}

static void check_generator_headroom(const struct tlc_sample_facts *facts,
                                     const struct tlc_check_limits *limits,
                                     struct tlc_check_outcome *outcome)
{
    if (limits->generator_busy >= 1)
        return;
    bool known = facts->generator_busy >= 0;
    apply(outcome, known ? facts->generator_busy : NAN, limits->generator_busy);
    if (!known)
        fail(outcome, "the busy share of the generator's CPUs was not measured");
    else if (facts->generator_busy > limits->generator_busy)
        fail(outcome, "the generator's CPUs were %.1f %% busy, at most %.1f %% allowed",
             100 * facts->generator_busy, 100 * limits->generator_busy);
}

static void check_generator_limited(const struct tlc_sample_facts *facts,
                                    const struct tlc_check_limits *limits,
                                    struct tlc_check_outcome *outcome)
{
    if (isnan(facts->headroom_gain) || isinf(limits->headroom_gain))
        return;
    apply(outcome, facts->headroom_gain, limits->headroom_gain);
    if (facts->headroom_gain > limits->headroom_gain)
        fail(outcome, "more concurrency raised the rate by %.1f %%, at most %.1f %% allowed",
             100 * facts->headroom_gain, 100 * limits->headroom_gain);
}

static void check_server_saturated(const struct tlc_sample_facts *facts,
                                   const struct tlc_check_limits *limits,
                                   struct tlc_check_outcome *outcome)
{
    if (limits->server_busy <= 0)
        return;
    bool known = facts->server_busy >= 0;
    apply(outcome, known ? facts->server_busy : NAN, limits->server_busy);
    if (!known)
        fail(outcome, "the busy share of the server's CPUs was not measured");
    else if (facts->server_busy < limits->server_busy)
        fail(outcome, "the server's CPUs were %.1f %% busy, at least %.1f %% asked",
             100 * facts->server_busy, 100 * limits->server_busy);
}

static void check_steal(const struct tlc_sample_facts *facts, const struct tlc_check_limits *limits,
                        struct tlc_check_outcome *outcome)
{
    if (limits->steal >= 1)
        return;
    bool known = facts->steal >= 0;
    apply(outcome, known ? facts->steal : NAN, limits->steal);
    if (!known)
        fail(outcome, "the time stolen from the server's CPUs was not measured");
    else if (facts->steal > limits->steal)
        fail(outcome, "%.2f %% of the server's CPU time was stolen, at most %.2f %% allowed",
             100 * facts->steal, 100 * limits->steal);
}

static void check_accounting(const struct tlc_sample_facts *facts,
                             const struct tlc_check_limits *limits,
                             struct tlc_check_outcome *outcome)
{
    if (limits->accounting >= 1)
        return;
    bool known = facts->accounting >= 0;
    apply(outcome, known ? facts->accounting : NAN, limits->accounting);
    if (!known)
        fail(outcome, "the two CPU accountings were not both measured");
    else if (facts->accounting > limits->accounting)
        fail(outcome,
             "/proc/stat and the process tree's run time differ by %.1f %%, at most %.1f %% "
             "allowed",
             100 * facts->accounting, 100 * limits->accounting);
}

static void check_operation(const struct tlc_sample_facts *facts,
                            const struct tlc_check_limits *limits,
                            struct tlc_check_outcome *outcome)
{
    (void)limits;
    if (!facts->is_operation)
        return;
    apply(outcome, NAN, NAN);
    if (facts->operation_difference)
        fail(outcome, "%s", facts->operation_difference);
    else if (!facts->handshakes)
        fail(outcome, "no operation was completed");
}

typedef void check_function(const struct tlc_sample_facts *, const struct tlc_check_limits *,
                            struct tlc_check_outcome *);

static check_function *const sample_checks[] = {
    [TLC_CHECK_SERVER_ALIVE] = check_server_alive,
    [TLC_CHECK_NEGOTIATED] = check_negotiated,
    [TLC_CHECK_CERTIFICATE] = check_certificate,
    [TLC_CHECK_RESUMPTION] = check_resumption,
    [TLC_CHECK_PROVIDER] = check_provider,
    [TLC_CHECK_CPU_MASK] = check_cpu_mask,
    [TLC_CHECK_TRACE] = check_trace,
    [TLC_CHECK_ERRORS] = check_errors,
    [TLC_CHECK_LISTEN_OVERFLOW] = check_listen_overflow,
    [TLC_CHECK_COUNTS] = check_counts,
    [TLC_CHECK_GENERATOR_HEADROOM] = check_generator_headroom,
    [TLC_CHECK_GENERATOR_LIMITED] = check_generator_limited,
    [TLC_CHECK_SERVER_SATURATED] = check_server_saturated,
    [TLC_CHECK_STEAL] = check_steal,
    [TLC_CHECK_ACCOUNTING] = check_accounting,
    [TLC_CHECK_OPERATION] = check_operation,
};

size_t tlc_checks_sample(const struct tlc_sample_facts *facts,
                         const struct tlc_check_limits *limits, struct tlc_check_outcome *outcomes)
{
    size_t failed = 0;
    for (size_t i = 0; i < TLC_CHECK_COUNT; i++)
        outcomes[i] = (struct tlc_check_outcome){.value = NAN, .limit = NAN};
    for (size_t i = 0; i < sizeof sample_checks / sizeof *sample_checks; i++) {
        if (facts->skips & 1u << i)
            continue;
        sample_checks[i](facts, limits, &outcomes[i]);
        failed += outcomes[i].failed;
    }
    return failed;
}
