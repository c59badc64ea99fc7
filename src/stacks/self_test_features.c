// What each case of the self-test does and demands.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "stacks/self_test.h"

// One case in progress: its contexts and configurations.
struct run {
    const struct tlc_stack *stack;
    const struct tlc_self_test_case *one;
    const struct tlc_self_test_certificates *certificates;
    struct tlc_reason *reason;
    struct tlc_stack_certificate certificate;
    uint16_t offered[2]; // the client's groups
    uint16_t schemes[2]; // the client's signature schemes: the key's own, and the CA's
    struct tlc_stack_config server_config, client_config;
    struct tlc_stack_context *server, *client;
    struct tlc_stack_evidence seen; // the client's, of the last exchange
    uint8_t *session;               // newest one received
    size_t session_bytes;
    bool renewed; // the last exchange brought a session
};

const char *tlc_self_test_feature_name(enum tlc_self_test_feature feature)
{
    static const char *const names[] = {"handshake",   "socket",      "hello-retry-request",
                                        "stateless",   "stateful",    "psk-ke",
                                        "ticket-keys", "client-auth", "sni",
                                        "alpn",        "cookie",      "operation"};
    return names[feature];
}

// RFC 8422, 5.1: in TLS 1.2 the curve of an ECDSA certificate must be among the client's groups.
static uint16_t curve_of(const struct tlc_self_test_case *one)
{
    if (one->version == TLC_TLS13)
        return 0;
    return one->signature == 0x0403   ? TLC_GROUP_SECP256R1
           : one->signature == 0x0503 ? TLC_GROUP_SECP384R1
                                      : 0;
}

static void set_up(struct run *run)
{
    const struct tlc_self_test_case *one = run->one;
    const struct tlc_certs_pair *pair = &run->certificates->pairs[one->certificate];
    run->certificate =
        (struct tlc_stack_certificate){.chain_pem = pair->chain_pem, .key_pem = pair->key_pem};
    run->server_config = (struct tlc_stack_config){
        .min_version = one->version,
        .max_version = one->version,
        .groups = &one->group,
        .group_count = 1,
        .certificates = &run->certificate,
        .certificate_count = 1,
        .tickets_per_handshake = -1,
    };
    run->offered[0] = one->group;
    run->offered[1] = curve_of(one);
    run->schemes[0] = one->signature;
    run->schemes[1] = 0x0401; // rsa_pkcs1_sha256
    run->client_config = (struct tlc_stack_config){
        .min_version = one->version,
        .max_version = one->version,
        .groups = run->offered,
        .group_count = run->offered[1] && run->offered[1] != one->group ? 2 : 1,
        .signatures = run->schemes,
        .signature_count = 2,
        .trust_pem = pair->ca_pem,
        .ticket_mode = TLC_TICKETS_STATELESS,
        .tickets_per_handshake = -1,
    };
}

static bool open_contexts(struct run *run)
{
    struct tlc_stack_error error = {""};
    run->server = run->stack->context_new(TLC_STACK_SERVER, &run->server_config, &error);
    if (!run->server)
        return tlc_because(run->reason, "server context: %s", error.text);
    run->client = run->stack->context_new(TLC_STACK_CLIENT, &run->client_config, &error);
    return run->client || tlc_because(run->reason, "client context: %s", error.text);
}

static void close_contexts(struct run *run)
{
    run->stack->context_free(run->client);
    run->stack->context_free(run->server);
    run->client = run->server = NULL;
    free(run->session);
    run->session = NULL;
    run->session_bytes = 0;
}

// Keeps the newest session; without a new one the last stays (a TLS 1.2 ticket serves many times).
static bool keep_session(struct run *run, struct tlc_pair *pair)
{
    run->renewed = false;
    size_t size =
        run->stack->session_export ? run->stack->session_export(pair->client, NULL, 0) : 0;
    if (!size)
        return true;
    free(run->session);
    run->session_bytes = 0;
    run->session = malloc(size);
    if (run->session)
        run->session_bytes = run->stack->session_export(pair->client, run->session, size);
    run->renewed = true;
    return run->session_bytes == size || tlc_because(run->reason, "session: export failed");
}

static bool compare_sides(struct run *run, struct tlc_pair *pair)
{
    struct tlc_stack_evidence server;
    if (!run->stack->evidence(pair->client, &run->seen) ||
        !run->stack->evidence(pair->server, &server))
        return tlc_because(run->reason, "no evidence of a finished handshake");
    if (run->seen.version != server.version || run->seen.cipher != server.cipher ||
        run->seen.group != server.group || run->seen.resumed != server.resumed ||
        run->seen.hello_retry_request != server.hello_retry_request)
        return tlc_because(run->reason, "client and server report different parameters");
    return true;
}

// RFC 8446, 4.6.1: tickets come after the handshake. A client that only waits for them must get
// them too.
static bool demand_tickets(struct run *run, struct tlc_pair *pair)
{
    if (run->one->version != TLC_TLS13 || run->server_config.ticket_mode == TLC_TICKETS_OFF ||
        !run->stack->tickets_received)
        return true;
    if (!tlc_pair_take_tickets(pair, run->reason))
        return false;
    return run->stack->tickets_received(pair->client) > 0 ||
           tlc_because(run->reason, "the server sent no ticket before it was asked for data");
}

// One connection: handshake, echo, close, evidence. `session` offers the last one.
static bool exchange(struct run *run, const char *server_name, bool session, bool sockets)
{
    struct tlc_pair pair;
    struct tlc_stack_connection_options options = {.server_name = server_name};
    if (session) {
        options.session = run->session;
        options.session_bytes = run->session_bytes;
    }
    if (!tlc_pair_open(&pair, run->stack, sockets, run->client, run->server, &options, run->reason))
        return false;
    bool good = tlc_pair_handshake(&pair, run->reason) && (session || demand_tickets(run, &pair)) &&
                tlc_pair_echo(&pair, run->reason) && compare_sides(run, &pair) &&
                keep_session(run, &pair) && tlc_pair_shut(&pair, run->reason);
    // The chain belongs to the connection.
    run->seen.chain_count = good ? run->seen.chain_count : 0;
    memset(run->seen.chain_der, 0, sizeof run->seen.chain_der);
    tlc_pair_free(&pair);
    return good;
}

// In TLS 1.2 an RSA key may sign in either of its schemes, and the client takes both.
static bool scheme_fits(const struct tlc_self_test_case *one, uint16_t scheme)
{
    return scheme == one->signature ||
           (one->version == TLC_TLS12 && one->signature == 0x0804 && scheme == 0x0401);
}

static bool demand_full(struct run *run)
{
    const struct tlc_stack_evidence *seen = &run->seen;
    if (seen->version != run->one->version)
        return tlc_because(run->reason, "version %s instead of %s",
                           tlc_name(TLC_NAME_VERSION, seen->version),
                           tlc_name(TLC_NAME_VERSION, run->one->version));
    if (seen->group != run->one->group)
        return tlc_because(run->reason, "group %s instead of %s",
                           tlc_name(TLC_NAME_GROUP, seen->group),
                           tlc_name(TLC_NAME_GROUP, run->one->group));
    if (!scheme_fits(run->one, seen->peer_signature))
        return tlc_because(run->reason, "signature %s instead of %s",
                           tlc_name(TLC_NAME_SIGNATURE, seen->peer_signature),
                           tlc_name(TLC_NAME_SIGNATURE, run->one->signature));
    if (seen->resumed || seen->psk_mode != -1)
        return tlc_because(run->reason, "a first handshake reported as resumed");
    if (seen->verified != 1 || seen->chain_count < 1)
        return tlc_because(run->reason, "the certificate was not verified");
    return true;
}

static bool demand_resumed(struct run *run, int psk_mode)
{
    const struct tlc_stack_evidence *seen = &run->seen;
    if (!seen->resumed)
        return tlc_because(run->reason, "an offered session was not resumed");
    int asked = run->one->version == TLC_TLS13 ? psk_mode : -1;
    if (seen->psk_mode != asked)
        return tlc_because(run->reason, "PSK mode %d instead of %d", seen->psk_mode, asked);
    bool exchanged = asked == 1;
    if (exchanged != (seen->group == run->one->group) || (!exchanged && seen->group))
        return tlc_because(run->reason, "group %s in a resumption with PSK mode %d",
                           tlc_name(TLC_NAME_GROUP, seen->group), asked);
    if (seen->chain_count)
        return tlc_because(run->reason, "a certificate in a resumed handshake");
    return true;
}

static bool run_handshake(struct run *run, bool sockets)
{
    if (!open_contexts(run) || !exchange(run, "localhost", false, sockets) || !demand_full(run))
        return false;
    return !run->seen.hello_retry_request ||
           tlc_because(run->reason, "a HelloRetryRequest nobody needed");
}

static bool run_retry(struct run *run)
{
    // The client sends a share of its first group only; the server has the second alone.
    const uint16_t offered[] = {run->one->group == TLC_GROUP_SECP384R1 ? TLC_GROUP_SECP256R1
                                                                       : TLC_GROUP_SECP384R1,
                                run->one->group};
    run->client_config.groups = offered;
    run->client_config.group_count = 2;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    return run->seen.hello_retry_request ||
           tlc_because(run->reason, "a HelloRetryRequest was not reported");
}

static bool run_resumption(struct run *run, enum tlc_ticket_mode mode, unsigned psk_modes)
{
    run->server_config.ticket_mode = mode;
    run->server_config.psk_modes = run->client_config.psk_modes = psk_modes;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    if (!run->session)
        return tlc_because(run->reason, "the server offered no session");
    return exchange(run, "localhost", true, false) &&
           demand_resumed(run, psk_modes == TLC_PSK_KE ? 0 : 1);
}

static bool replace_keys(struct run *run, const struct tlc_ticket_key *keys, size_t count)
{
    struct tlc_stack_error error = {""};
    return run->stack->ticket_keys_replace(run->server, keys, count, &error) ||
           tlc_because(run->reason, "%s", error.text);
}

static bool run_ticket_keys(struct run *run)
{
    struct tlc_ticket_key keys[3];
    for (size_t i = 0; i < 3; i++)
        memset(&keys[i], 'A' + (int)i, sizeof keys[i]);
    run->server_config.ticket_mode = TLC_TICKETS_STATELESS;
    run->server_config.ticket_keys = keys;
    run->server_config.ticket_key_count = 1;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    if (!exchange(run, "localhost", true, false) || !demand_resumed(run, 1))
        return false;
    // An old key that still decrypts: resumed. Gone altogether: a full handshake.
    const struct tlc_ticket_key rotated[] = {keys[1], keys[0]};
    if (!replace_keys(run, rotated, 2) || !exchange(run, "localhost", true, false) ||
        !demand_resumed(run, 1))
        return false;
    // TLS 1.2 servers may renew (RFC 5077, 3.3) but need not.
    if (!run->renewed && run->one->version == TLC_TLS13)
        return tlc_because(run->reason, "an old key's ticket was not renewed");
    return replace_keys(run, &keys[2], 1) && exchange(run, "localhost", true, false) &&
           demand_full(run);
}

static bool run_client_auth(struct run *run)
{
    const struct tlc_certs_pair *pair = &run->certificates->client;
    struct tlc_stack_certificate own = {.chain_pem = pair->chain_pem, .key_pem = pair->key_pem};
    // In TLS 1.2 the server's groups must hold the curve of the client's certificate too.
    const uint16_t groups[] = {run->one->group, TLC_GROUP_SECP256R1};
    run->server_config.groups = groups;
    run->server_config.group_count = run->one->version == TLC_TLS13 ? 1 : 2;
    run->server_config.client_auth = TLC_CLIENT_AUTH_REQUIRE;
    run->server_config.trust_pem = pair->ca_pem;
    run->client_config.certificates = &own;
    run->client_config.certificate_count = 1;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    close_contexts(run);
    run->client_config.certificate_count = 0;
    struct tlc_reason refused = {""}, *outer = run->reason;
    run->reason = &refused;
    bool opened = open_contexts(run), served = opened && exchange(run, "localhost", false, false);
    run->reason = outer;
    if (!opened)
        return tlc_because(outer, "%s", refused.text);
    return !served || tlc_because(outer, "a client without a certificate was served");
}

// The first other key type with a certificate, and no ECDSA one: its curve would have to be offered
// in TLS 1.2.
static const struct tlc_certs_pair *other_pair(const struct run *run, uint16_t *scheme)
{
    for (size_t i = 0; i < TLC_SELF_KEY_TYPES; i++) {
        const char *name = tlc_certs_name_at(i);
        *scheme = tlc_self_test_signature(name);
        if (i != run->one->certificate && run->certificates->pairs[i].chain_pem &&
            strncmp(name, "ecdsa", 5) != 0)
            return &run->certificates->pairs[i];
    }
    return NULL;
}

static bool run_sni(struct run *run)
{
    uint16_t scheme = 0;
    const struct tlc_certs_pair *other = other_pair(run, &scheme);
    if (!other)
        return tlc_because(run->reason, "needs two key types");
    // The named certificate is the case's; the default one has another key and CA.
    struct tlc_stack_certificate both[] = {
        {.chain_pem = other->chain_pem, .key_pem = other->key_pem},
        {.server_name = "localhost",
         .chain_pem = run->certificate.chain_pem,
         .key_pem = run->certificate.key_pem}};
    run->server_config.certificates = both;
    run->server_config.certificate_count = 2;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    if (strcmp(run->seen.server_name, "localhost") != 0)
        return tlc_because(run->reason, "server name '%s' reported", run->seen.server_name);
    close_contexts(run);
    run->client_config.trust_pem = other->ca_pem;
    run->schemes[0] = scheme; // some libraries offer not all of theirs by default
    if (!open_contexts(run) || !exchange(run, NULL, false, false))
        return false;
    return run->seen.peer_signature != run->one->signature ||
           tlc_because(run->reason, "without a server name the default certificate was not sent");
}

static bool run_alpn(struct run *run)
{
    const struct tlc_stack_alpn served[] = {{"h2"}, {"http/1.1"}}, asked[] = {{"x"}, {"http/1.1"}};
    run->server_config.alpn = served;
    run->server_config.alpn_count = 2;
    run->client_config.alpn = asked;
    run->client_config.alpn_count = 2;
    if (!open_contexts(run) || !exchange(run, "localhost", false, false) || !demand_full(run))
        return false;
    return !strcmp(run->seen.alpn, "http/1.1") ||
           tlc_because(run->reason, "ALPN '%s' instead of http/1.1", run->seen.alpn);
}

// Every first hello is sent back, over either transport, though its key share suits.
static bool run_cookie(struct run *run)
{
    run->server_config.cookie = true;
    if (!open_contexts(run))
        return false;
    for (int sockets = 0; sockets <= 1; sockets++)
        if (!exchange(run, "localhost", false, sockets) || !demand_full(run))
            return false;
        else if (!run->seen.hello_retry_request)
            return tlc_because(run->reason, "no HelloRetryRequest came");
    return true;
}

static bool dispatch(struct run *run)
{
    switch (run->one->feature) {
    case TLC_SELF_HANDSHAKE:
        return run_handshake(run, false);
    case TLC_SELF_SOCKET:
        return run_handshake(run, true);
    case TLC_SELF_RETRY:
        return run_retry(run);
    case TLC_SELF_STATELESS:
        return run_resumption(run, TLC_TICKETS_STATELESS, TLC_PSK_DHE_KE);
    case TLC_SELF_STATEFUL:
        return run_resumption(run, TLC_TICKETS_STATEFUL, TLC_PSK_DHE_KE);
    case TLC_SELF_PSK_KE:
        return run_resumption(run, TLC_TICKETS_STATELESS, TLC_PSK_KE);
    case TLC_SELF_TICKET_KEYS:
        return run_ticket_keys(run);
    case TLC_SELF_CLIENT_AUTH:
        return run_client_auth(run);
    case TLC_SELF_SNI:
        return run_sni(run);
    case TLC_SELF_ALPN:
        return run_alpn(run);
    case TLC_SELF_COOKIE:
        return run_cookie(run);
    case TLC_SELF_OPERATION:
        return false; // it needs no contexts
    }
    return false;
}

// Twice: what one run leaves behind, the next one finds.
static bool run_operation(const struct tlc_stack_operations *operations, const char *name,
                          struct tlc_reason *reason)
{
    struct tlc_stack_error why = {""};
    struct tlc_stack_operation *operation = operations->operation_new(name, NULL, &why);
    bool good =
        operation && operations->run(operation, 2, &why) && operations->check(operation, &why);
    operations->operation_free(operation);
    return good || tlc_because(reason, "%s", why.text[0] ? why.text : "without words");
}

bool tlc_self_test_run(const struct tlc_stack *stack, const struct tlc_self_test_case *one,
                       const struct tlc_self_test_certificates *certificates,
                       struct tlc_reason *reason)
{
    if (one->feature == TLC_SELF_OPERATION)
        return run_operation(stack->operations, one->operation, reason);
    struct run run = {.stack = stack, .one = one, .certificates = certificates, .reason = reason};
    set_up(&run);
    bool good = dispatch(&run);
    close_contexts(&run);
    return good;
}
