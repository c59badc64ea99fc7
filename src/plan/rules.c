// Settings that contradict each other: each rule names the key to blame and the way out.
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "plan/expand.h"
#include "plan/rules.h"

static bool tls12(const struct tlc_arm *arm)
{
    return is(arm->version, "TLSv1.2");
}

static bool psk(const struct tlc_arm *arm)
{
    return is(arm->resumption, "psk_dhe_ke") || is(arm->resumption, "psk_ke");
}

uint16_t tlc_group_among(const struct tlc_arm *arm, const uint16_t *codes, size_t count)
{
    uint16_t groups[16];
    size_t listed;
    if (tlc_codes_parse(TLC_NAME_GROUP, arm->groups, groups, 16, &listed, NULL))
        return 0;
    for (size_t i = 0; i < listed; i++)
        for (size_t j = 0; j < count; j++)
            if (groups[i] == codes[j])
                return groups[i];
    return 0;
}

static bool lean_speaks_tls13(const struct tlc_arm *arm)
{
    return lean(arm) && tls12(arm);
}

// The groups of src/tls13/.
static bool lean_lacks_group(const struct tlc_arm *arm)
{
    static const uint16_t lacking[] = {TLC_GROUP_X448, TLC_GROUP_MLKEM512};
    return lean(arm) && tlc_group_among(arm, lacking, sizeof lacking / sizeof *lacking);
}

static bool full_has_own_shares(const struct tlc_arm *arm)
{
    return of(arm, "network") && !lean(arm) && !is(arm->share, "honest");
}

static bool psk_is_tls13(const struct tlc_arm *arm)
{
    return psk(arm) && tls12(arm);
}

static bool session_is_tls12(const struct tlc_arm *arm)
{
    return resumes(arm) && !psk(arm) && !tls12(arm);
}

static bool nothing_resumes(const struct tlc_arm *arm)
{
    return resumes(arm) && !(arm->resume_ratio > 0);
}

static bool ratio_without_resumption(const struct tlc_arm *arm)
{
    return !resumes(arm) && arm->resume_ratio > 0;
}

static bool resumption_without_tickets(const struct tlc_arm *arm)
{
    return (psk(arm) || is(arm->resumption, "ticket")) && arm->tickets == 0;
}

static bool event_without_tickets(const struct tlc_arm *arm)
{
    return !is(arm->event, "none") && !psk(arm) && !is(arm->resumption, "ticket");
}

static bool event_of_own_server(const struct tlc_arm *arm)
{
    return arm->server && !is(arm->event, "none") && !is(arm->event, "watch");
}

static bool visitors_are_lean(const struct tlc_arm *arm)
{
    return arm->visitors && (!lean(arm) || !psk(arm));
}

// A second ticket of the same visit would stand in the way of another client's.
static bool visitors_have_one_ticket(const struct tlc_arm *arm)
{
    return arm->visitors && arm->tickets != 1;
}

// RFC 8446, B.4: suites 0x13xx belong to TLS 1.3 alone, all others to earlier versions.
static bool cipher_of_other_version(const struct tlc_arm *arm)
{
    uint16_t code = arm->cipher ? tlc_code(TLC_NAME_CIPHER, arm->cipher) : 0;
    return code && (code >> 8 == 0x13) == tls12(arm);
}

// RFC 8422, 2.2 and 5.10: ECDHE_ECDSA suites serve EC and Ed25519 keys, ECDHE_RSA suites RSA keys.
static bool cipher_of_other_key(const struct tlc_arm *arm)
{
    if (!arm->cipher || !strstr(arm->cipher, "_WITH_"))
        return false;
    return strstr(arm->cipher, "_RSA_") ? strncmp(arm->certificate, "rsa", 3)
                                        : !strncmp(arm->certificate, "rsa", 3);
}

// draft-ietf-tls-ecdhe-mlkem and draft-ietf-tls-mlkem define these groups for TLS 1.3 only.
static bool group_is_tls13(const struct tlc_arm *arm)
{
    static const uint16_t codes[] = {TLC_GROUP_MLKEM512,       TLC_GROUP_MLKEM768,
                                     TLC_GROUP_MLKEM1024,      TLC_GROUP_SECP256R1MLKEM768,
                                     TLC_GROUP_X25519MLKEM768, TLC_GROUP_SECP384R1MLKEM1024};
    return tls12(arm) && tlc_group_among(arm, codes, sizeof codes / sizeof *codes);
}

// draft-ietf-tls-mldsa: ML-DSA must not be negotiated below TLS 1.3.
static bool mldsa_is_tls13(const struct tlc_arm *arm)
{
    return tls12(arm) && !strncmp(arm->certificate, "mldsa", 5);
}

// RFC 8422, 5.1.1: in TLS 1.2 the curve of an ECDSA certificate must be among the client's groups.
static bool curve_is_not_offered(const struct tlc_arm *arm)
{
    const uint16_t curve = is(arm->certificate, "ecdsa-p256")   ? TLC_GROUP_SECP256R1
                           : is(arm->certificate, "ecdsa-p384") ? TLC_GROUP_SECP384R1
                                                                : 0;
    return tls12(arm) && curve && !tlc_group_among(arm, &curve, 1);
}

static bool echo_elsewhere(const struct tlc_arm *arm)
{
    return !of(arm, "network") && arm->echo;
}

static bool allocations_elsewhere(const struct tlc_arm *arm)
{
    return arm->allocations && (!of(arm, "network") || arm->server);
}

static bool lean_has_no_certificate(const struct tlc_arm *arm)
{
    return lean(arm) && arm->client_auth;
}

// Only these two present it.
static bool client_auth_elsewhere(const struct tlc_arm *arm)
{
    return arm->client_auth && !of(arm, "network") && !of(arm, "memory");
}

static bool client_auth_of_own_server(const struct tlc_arm *arm)
{
    return arm->client_auth && arm->server;
}

static bool client_mldsa_is_tls13(const struct tlc_arm *arm)
{
    return tls12(arm) && arm->client_auth && !strncmp(arm->client_auth, "mldsa", 5);
}

static bool names_are_lean(const struct tlc_arm *arm)
{
    return arm->names && (!lean(arm) || arm->allocations);
}

static bool names_of_own_server(const struct tlc_arm *arm)
{
    return arm->names && arm->server;
}

// A ticket belongs to the name it was given for.
static bool names_resume_nothing(const struct tlc_arm *arm)
{
    return arm->names && resumes(arm);
}

static bool visits_without_names(const struct tlc_arm *arm)
{
    return !arm->names && !is(arm->visits, "uniform");
}

static bool attribute_elsewhere(const struct tlc_arm *arm)
{
    return arm->attribute && (!of(arm, "network") || !is(arm->event, "none"));
}

static bool trace_elsewhere(const struct tlc_arm *arm)
{
    return !is(arm->trace, "none") && !of(arm, "network");
}

static bool trace_and_provider(const struct tlc_arm *arm)
{
    return !is(arm->trace, "none") && arm->provider;
}

static bool burn_without_trace(const struct tlc_arm *arm)
{
    return !is(arm->burn_in, "state-machine") && is(arm->trace, "none");
}

static bool primitive_without_operation(const struct tlc_arm *arm)
{
    return of(arm, "primitive") && !arm->operation;
}

static bool operation_elsewhere(const struct tlc_arm *arm)
{
    return !of(arm, "primitive") && arm->operation;
}

static const struct tlc_rule rules[] = {
    {lean_speaks_tls13, "version", "engine lean speaks TLS 1.3 only; write engine: full"},
    {group_is_tls13, "groups",
     "ML-KEM groups exist in TLS 1.3 only; write groups: X25519, or version: TLSv1.3"},
    {mldsa_is_tls13, "certificate",
     "ML-DSA certificates exist in TLS 1.3 only; write another certificate, or version: TLSv1.3"},
    {lean_lacks_group, "groups", "engine lean knows neither X448 nor MLKEM512; write engine: full"},
    {full_has_own_shares, "share",
     "engine full always makes honest key shares; write engine: lean, or share: honest"},
    {psk_is_tls13, "resumption",
     "psk modes exist in TLS 1.3 only; write resumption: ticket or session-id"},
    {session_is_tls12, "resumption",
     "ticket and session-id are TLS 1.2's; write resumption: psk_dhe_ke or psk_ke"},
    {nothing_resumes, "resumption",
     "resumption with a resume_ratio of 0%; write for example resume_ratio: 100%"},
    {ratio_without_resumption, "resume_ratio",
     "a resume_ratio without resumption; write for example resumption: psk_dhe_ke"},
    {resumption_without_tickets, "tickets",
     "resumption needs tickets; write tickets: 1 or more, or resumption: none"},
    {event_without_tickets, "event",
     "events are about tickets; write resumption: psk_dhe_ke and a resume_ratio, or event: none"},
    {event_of_own_server, "event",
     "only tlscost's own server takes commands; write event: watch, or leave server out"},
    {visitors_are_lean, "visitors",
     "visitors are clients of the lean engine that resume; write engine: lean and resumption: "
     "psk_dhe_ke, or visitors: 0"},
    {visitors_have_one_ticket, "visitors",
     "a visitor keeps one ticket; write tickets: 1, or visitors: 0"},
    {cipher_of_other_version, "cipher",
     "the cipher belongs to another TLS version; write one of the arm's version"},
    {cipher_of_other_key, "cipher",
     "the cipher does not fit the certificate's key; write an ECDSA cipher for ecdsa and ed25519, "
     "an RSA cipher for rsa"},
    {curve_is_not_offered, "groups",
     "TLS 1.2 serves an ECDSA certificate only to clients that offer its curve; add it to the "
     "groups, for example X25519:P-256"},
    {lean_has_no_certificate, "client_auth",
     "engine lean has no client certificate; write engine: full, or client_auth: none"},
    {trace_elsewhere, "trace",
     "only servers of the workload network are traced; write workload: network, or trace: none"},
    {trace_and_provider, "trace",
     "the tracing provider stands in front of the library's own; write provider: none, or trace: "
     "none"},
    {burn_without_trace, "burn_in",
     "the tracing provider burns there; write trace: tag or timed, or burn_in: state-machine"},
    {client_auth_elsewhere, "client_auth",
     "only the workloads network and memory have clients with a certificate; write workload: "
     "network, or client_auth: none"},
    {client_auth_of_own_server, "client_auth",
     "only tlscost's own server is told to demand a certificate; leave server out, or write "
     "client_auth: none"},
    {client_mldsa_is_tls13, "client_auth",
     "ML-DSA certificates exist in TLS 1.3 only; write another key type, or version: TLSv1.3"},
    {names_are_lean, "names",
     "the lean engine chooses among names, over the network and uncounted; write engine: lean, "
     "workload: network and allocations: false, or names: 0"},
    {names_of_own_server, "names",
     "only tlscost's own server has numbered certificates; leave server out, or write names: 0"},
    {names_resume_nothing, "names",
     "a ticket belongs to one name, and visits choose among all; write resumption: none, or names: "
     "0"},
    {visits_without_names, "visits",
     "visits choose among names; write for example names: 100, or visits: uniform"},
    {primitive_without_operation, "operation",
     "workload primitive runs one operation; write for example operation: x25519-keygen"},
    {echo_elsewhere, "echo", "only workload network echoes; write workload: network, or echo: 0"},
    {allocations_elsewhere, "allocations",
     "they are counted over the network, of tlscost's own server; write allocations: false"},
    {attribute_elsewhere, "attribute",
     "a server is sampled over the network, in slices without events; write workload: network and "
     "event: none, or attribute: false"},
    {operation_elsewhere, "operation",
     "only workload primitive runs an operation; write workload: primitive, or operation: none"},
};

static enum tlc_status fail_arm(const struct tlc_arm *arm, const struct tlc_document *document,
                                const struct tlc_origin *origin, const char *key, const char *text,
                                struct tlc_error *error)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", origin ? origin->path : "", key);
    return tlc_document_fail(document, path, error, "arm '%s': %s", arm->name, text);
}

// What another arm's slices may change while the baseline's server runs: the client's side, and the
// burn, which the server takes as a message.
static bool is_of_server(enum tlc_arm_key key)
{
    static const enum tlc_arm_key free_keys[] = {
        TLC_KEY_RESUMPTION,  TLC_KEY_RESUME_RATIO, TLC_KEY_ENGINE,      TLC_KEY_SHARE,
        TLC_KEY_CLOSE,       TLC_KEY_BURN,         TLC_KEY_CONCURRENCY, TLC_KEY_TIMEOUT,
        TLC_KEY_INSTANCE,    TLC_KEY_AGAINST,      TLC_KEY_VISITORS,    TLC_KEY_ECHO,
        TLC_KEY_ALLOCATIONS, TLC_KEY_OPTIONAL,     TLC_KEY_VISITS,      TLC_KEY_STOP,
        TLC_KEY_SPLIT,       TLC_KEY_PADDING,      TLC_KEY_HOLD,        TLC_KEY_HOLD_FOR,
        TLC_KEY_OWN_PACE,    TLC_KEY_OFFERED,      TLC_KEY_HELLO_RETRY, TLC_KEY_EQUAL,
        TLC_KEY_ATTRIBUTE,   TLC_KEY_BURN_IN};
    for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++)
        if (key == free_keys[i])
            return false;
    return true;
}

// The first key by which an arm's server differs from the baseline's; NULL when they are one.
static const char *other_server(const struct tlc_arm *arm, const struct tlc_arm *baseline)
{
    for (size_t key = 0; key < TLC_ARM_KEY_COUNT; key++)
        if (is_of_server((enum tlc_arm_key)key) && !tlc_arm_same(arm, baseline, key))
            return tlc_arm_settings[key].name;
    return NULL;
}

static enum tlc_status check_instance(const struct tlc_plan *plan, size_t index,
                                      const struct tlc_document *document,
                                      const struct tlc_origin *origin, struct tlc_error *error)
{
    const struct tlc_arm *arm = &plan->arms[index];
    if (!is(arm->instance, "baseline"))
        return TLC_OK;
    if (index == 0)
        return fail_arm(arm, document, origin, "instance",
                        "the baseline has a server of its own; write instance: own", error);
    const char *key = other_server(arm, &plan->arms[0]);
    if (!key)
        return TLC_OK;
    char text[256];
    snprintf(text, sizeof text,
             "the baseline's server has another %s; write the same, or instance: own", key);
    return fail_arm(arm, document, origin, "instance", text, error);
}

static const struct tlc_rule *first_broken(const struct tlc_rule *from, size_t count,
                                           const struct tlc_arm *arm)
{
    for (size_t i = 0; i < count; i++)
        if (from[i].broken(arm))
            return &from[i];
    return NULL;
}

// The arms that this one is divided by, one after another, come back to it.
static bool divides_itself(const struct tlc_plan *plan, size_t index)
{
    size_t at = index;
    for (size_t steps = 0; index && steps < plan->arm_count; steps++) {
        at = tlc_plan_against(plan, at);
        if (at == index)
            return true;
    }
    return false;
}

static enum tlc_status check_arm(const struct tlc_plan *plan, size_t index,
                                 const struct tlc_document *document,
                                 const struct tlc_origin *origin, struct tlc_error *error)
{
    const struct tlc_arm *arm = &plan->arms[index];
    const struct tlc_rule *rule = first_broken(rules, sizeof rules / sizeof *rules, arm);
    if (!rule)
        rule = first_broken(tlc_hello_rules, tlc_hello_rule_count, arm);
    if (rule)
        return fail_arm(arm, document, origin, rule->key, rule->text, error);
    if (!index && arm->equal)
        return fail_arm(arm, document, origin, "equal",
                        "the baseline is divided by nothing; write equal: true in an arm of "
                        "include, matrix or levers",
                        error);
    if (plan->limits.server_busy > 0 && arm->concurrency < arm->workers)
        return fail_arm(arm, document, origin, "concurrency",
                        "fewer connections than workers cannot keep the server busy; write a "
                        "concurrency of at least the workers, or checks: {server_busy: 0%}",
                        error);
    if (tlc_plan_against(plan, index) == index && index)
        return fail_arm(arm, document, origin, "against",
                        "no arm is called so, or differs in that key alone; write the name of "
                        "another arm, KEY=VALUE, or baseline",
                        error);
    if (divides_itself(plan, index))
        return fail_arm(arm, document, origin, "against",
                        "the arms that it is divided by lead back to it; divide one of them by "
                        "another arm, or by baseline",
                        error);
    if (arm->attribute && plan->schedule.duet)
        return fail_arm(arm, document, origin, "attribute",
                        "in a duet two servers share the CPUs; write duet: false, or attribute: "
                        "false",
                        error);
    if (!is(arm->event, "none") && plan->schedule.slice_us < TLC_EVENT_SLICE_US)
        return fail_arm(arm, document, origin, "event",
                        "too short a slice to show what comes before and behind an event; write a "
                        "schedule with slice: 400ms or longer",
                        error);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(plan->arms[i].name, arm->name))
            return fail_arm(arm, document, origin, "name",
                            "another arm has this name; write another name, or leave one of them "
                            "out",
                            error);
    return TLC_OK;
}

// Keys of a path, and those that only waiting shows, are of one workload.
static enum tlc_status check_path(const struct tlc_plan *plan, const struct tlc_arm *arm,
                                  const struct tlc_document *document,
                                  const struct tlc_origin *origin, struct tlc_error *error)
{
    bool connects = of(arm, "connect");
    if (connects != is(plan->workload, "connect"))
        return fail_arm(arm, document, origin, "workload",
                        "arms of the workload connect wait all at once, so a plan has no other; "
                        "write workload: connect for the plan, or another plan for this arm",
                        error);
    if (connects && !arm->rtt)
        return fail_arm(arm, document, origin, "rtt",
                        "the workload connect needs a path; write for example rtt: 150ms", error);
    if (connects && !is(arm->engine, "full"))
        return fail_arm(arm, document, origin, "engine",
                        "the workload connect has a client that verifies; write engine: full",
                        error);
    if (connects && arm->upgrade && arm->alpn)
        return fail_arm(arm, document, origin, "upgrade",
                        "ALPN chooses the protocol in the handshake; write alpn: none, or upgrade: "
                        "false",
                        error);
    if (arm->hello_retry && tls12(arm))
        return fail_arm(arm, document, origin, "hello_retry",
                        "HelloRetryRequest exists in TLS 1.3 only; write version: TLSv1.3", error);
    bool retries = arm->hello_retry && !connects;
    if (retries && (!lean(arm) || strchr(arm->groups, ':')))
        return fail_arm(arm, document, origin, "hello_retry",
                        "over the network the lean engine begins with a share that a server of one "
                        "group does not take; write engine: lean, and one group",
                        error);
    if (!connects && (arm->rtt || arm->upgrade))
        return fail_arm(arm, document, origin, arm->rtt ? "rtt" : "upgrade",
                        "only the workload connect has this; write workload: connect", error);
    return TLC_OK;
}

enum tlc_status tlc_plan_check(const struct tlc_plan *plan, const struct tlc_document *document,
                               const struct tlc_origin *origins, struct tlc_error *error)
{
    for (size_t i = 0; i < plan->arm_count; i++) {
        const struct tlc_origin *origin = origins ? &origins[i] : NULL;
        enum tlc_status status = check_arm(plan, i, document, origin, error);
        if (!status)
            status = check_instance(plan, i, document, origin, error);
        if (!status)
            status = check_path(plan, &plan->arms[i], document, origin, error);
        if (status)
            return status;
    }
    return TLC_OK;
}
