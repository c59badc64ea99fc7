// Checks: conditions without which a figure is refused. Pure: facts and limits in, verdicts out.
#ifndef TLC_EVIDENCE_CHECKS_H
#define TLC_EVIDENCE_CHECKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Everything the checks look at for one sample (an arm in one block). Shares are 0..1; a negative
// share means "not measured" and fails its check unless the limit switches the check off.
struct tlc_sample_facts {
    // negotiated parameters: asked and seen on every handshake of the sample
    uint64_t handshakes, started, mismatches, hello_retry_requests, resumed;
    double resume_ratio;          // asked; NaN: not known beforehand
    bool probe_matches;           // the probe's evidence is as asked
    const char *probe_difference; // what differs, NULL when it matches
    // certificate identity: subject, key type, size, depth as asked
    bool certificate_matches;
    const char *certificate_difference;
    // client authentication: the client has to send one in every full handshake
    bool client_certificate_asked;
    uint64_t client_certificates; // handshakes in which it did, as the server counts
    // load
    double generator_busy, server_busy;
    double headroom_gain; // negative: the rate fell, which passes; NaN: not measured, not applied
    uint64_t errors;      // of all kinds, client side
    uint64_t given_up;    // handshakes that clients gave up as the arm meant them to; no errors
    bool unfinished;      // clients leave early: handshakes are answers, the server counts accepts
    bool server_alive;
    uint64_t server_handshakes; // as the server counts
    bool server_counts; // false: an external server without counters, the comparison is skipped
    // crypto provider
    const char *provider;   // asked for; NULL: none
    uint64_t provider_work; // handshakes it can have worked in at most, by its count or the stack's
    // processor
    const char
        *cpu_mask; // what it must be without; NULL: nothing, or the server is not ours to ask
    const char *processor;     // as the server's library sees it; NULL: not told
    const char *trace;         // mode in which the server was to be traced; NULL: it was not
    const char *trace_witness; // what each handshake of the arm does at least once: "kdf"
    uint64_t trace_work;       // how often the tracing provider saw that
    uint64_t trace_lost;       // calls that it could not time
    // kernel
    uint64_t listen_overflows, listen_drops; // increase during the sample
    double steal;
    double accounting; // |process tree - /proc/stat| / process tree
    // raw operations, which have no peer that negotiates
    bool is_operation;                // the check "operation" applies
    const char *operation_difference; // from what the arm asked for, NULL when there is none
    unsigned skips;                   // bits 1 << enum tlc_check of checks that make no sense here
};

// What switches a check off (it is then "not applied"): generator_busy, steal or accounting of 1 or
// more, server_busy of 0 or less, an infinite headroom_gain.
struct tlc_check_limits {
    double generator_busy, server_busy, headroom_gain, steal, accounting;
    uint64_t errors;
};

// Names, in the order of evaluation: "server-alive", "negotiated", "certificate", "resumption",
// "provider", "cpu-mask", "trace", "errors", "listen-overflow", "counts", "generator-headroom",
// "generator-limited", "server-saturated", "steal", "accounting", "operation"; over the campaign:
// "control-drift", "negative-control", and of an arm: "warmed-up".
enum tlc_check {
    TLC_CHECK_SERVER_ALIVE,
    TLC_CHECK_NEGOTIATED,
    TLC_CHECK_CERTIFICATE,
    TLC_CHECK_RESUMPTION,
    TLC_CHECK_PROVIDER,
    TLC_CHECK_CPU_MASK,
    TLC_CHECK_TRACE,
    TLC_CHECK_ERRORS,
    TLC_CHECK_LISTEN_OVERFLOW,
    TLC_CHECK_COUNTS,
    TLC_CHECK_GENERATOR_HEADROOM, // busy share of the generator's CPUs
    TLC_CHECK_GENERATOR_LIMITED,  // the rate rises with more concurrency
    TLC_CHECK_SERVER_SATURATED,
    TLC_CHECK_STEAL,
    TLC_CHECK_ACCOUNTING,
    TLC_CHECK_OPERATION, // in place of "negotiated" and "certificate": operation, provider, result
    TLC_CHECK_WARMED_UP, // of an arm over its blocks: the cost changes within them
    TLC_CHECK_CONTROL_DRIFT,
    TLC_CHECK_NEGATIVE_CONTROL,
    TLC_CHECK_COUNT
};
const char *tlc_check_name(enum tlc_check check);
const char *tlc_check_remedy(enum tlc_check check); // what a user does about it, one sentence

struct tlc_check_outcome {
    bool applied, failed;
    double value, limit; // NaN where it has no number
    char reason[256];    // on failure: what was seen against what was asked
};
// Fills outcomes[0..TLC_CHECK_COUNT) for one sample; campaign-wide ones are left not applied.
// Returns the number that failed.
size_t tlc_checks_sample(const struct tlc_sample_facts *facts,
                         const struct tlc_check_limits *limits, struct tlc_check_outcome *outcomes);

// Compares a probe's evidence with what an arm asked for; a chain that was to be verified and could
// not be is a difference of the certificate. Differences as text ("group: asked
// X25519, got secp256r1"), empty when none. Each buffer may be NULL.
struct tlc_asked {
    uint16_t version, group, cipher; // 0: any
    bool resumed;
    bool hello_retry_request; // one is expected; false: none may happen
    const char *alpn;         // NULL: any
    const char *key_type;     // certs.h name
    const char *subject;      // CN; NULL: any
    unsigned chain_depth;     // certificates on the wire; 0: any
};
void tlc_evidence_compare(const json_t *evidence, const struct tlc_asked *asked, char *negotiated,
                          size_t negotiated_bytes, char *certificate, size_t certificate_bytes);

#endif
