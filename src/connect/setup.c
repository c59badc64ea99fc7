#include "connect/setup.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "measure/clock.h"
#include "workload/arm_support.h"

enum { MAX_GROUPS = 17, SESSION_BYTES = 65536, MSS = 1460, PREPARE_MS = 20000 };

static enum tlc_status out_of_memory(struct tlc_error *error)
{
    return tlc_fail(error, TLC_ENVIRONMENT, "connect: out of memory");
}

// ---- clients

// With hello_retry the client begins with a group that the server lacks, whose key share is then
// the only one (RFC 8446, 4.1.4).
static enum tlc_status client_groups(const struct tlc_arm *arm, uint16_t *groups, size_t *count,
                                     struct tlc_error *error)
{
    size_t shift = arm->hello_retry ? 1 : 0;
    enum tlc_status status = tlc_codes_parse(TLC_NAME_GROUP, arm->groups, groups + shift,
                                             MAX_GROUPS - shift, count, error);
    if (status != TLC_OK || !shift)
        return status;
    groups[0] = tlc_group_outside(groups + 1, *count);
    (*count)++;
    if (groups[0])
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "arm '%s': hello_retry: the server has every group that the client could try "
                    "first; leave out one of P-384, P-521, P-256, X25519",
                    arm->name);
}

static enum tlc_status make_client(struct tlc_connect_arm *state, struct tlc_error *error)
{
    const struct tlc_arm *arm = state->arm;
    uint16_t groups[MAX_GROUPS], cipher = arm->cipher ? tlc_code(TLC_NAME_CIPHER, arm->cipher) : 0;
    uint16_t version = tlc_code(TLC_NAME_VERSION, arm->version);
    const struct tlc_stack_alpn alpn = {arm->alpn};
    struct tlc_certs_pair pair = {0};
    struct tlc_stack_config config = {
        .min_version = version,
        .max_version = version,
        .groups = groups,
        .ciphers = &cipher,
        .cipher_count = cipher ? 1 : 0,
        .alpn = &alpn,
        .alpn_count = arm->alpn ? 1 : 0,
        .ticket_mode = TLC_TICKETS_STATELESS,
        .tickets_per_handshake = -1,
        .psk_modes = strcmp(arm->resumption, "psk_ke") ? TLC_PSK_DHE_KE : TLC_PSK_KE,
    };
    struct tlc_stack_error words = {.text = ""};
    enum tlc_status status = client_groups(arm, groups, &config.group_count, error);
    if (status == TLC_OK)
        status = tlc_certs_read(state->certificates, arm->certificate, &pair, error);
    if (status != TLC_OK)
        return status;
    config.trust_pem = pair.ca_pem;
    state->context = state->plugin->stack->context_new(TLC_STACK_CLIENT, &config, &words);
    tlc_certs_pair_free(&pair);
    return state->context ? TLC_OK
                          : tlc_fail(error, TLC_USAGE, "arm '%s': stack %s: %s", arm->name,
                                     state->plugin->id, words.text);
}

static enum tlc_status make_arm(const struct tlc_connect_options *options,
                                const struct tlc_arm *arm, struct tlc_connect_arm *state,
                                struct tlc_error *error)
{
    state->arm = arm;
    enum tlc_status status = tlc_stack_load(arm->stack, &state->plugin, error);
    if (status != TLC_OK)
        return status;
    const struct tlc_stack *stack = state->plugin->stack;
    if (!stack->connection_on_memory || !stack->memory_feed || !stack->memory_take ||
        !stack->evidence || (strcmp(arm->resumption, "none") != 0 && !stack->session_export))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "arm '%s': stack %s: it has no memory transport, or cannot export "
                        "sessions; use another stack",
                        arm->name, arm->stack);
    status = tlc_arm_certificates(arm, options->certificate_directory, state->certificates,
                                  sizeof state->certificates, error);
    return status == TLC_OK ? make_client(state, error) : status;
}

// ---- servers

static bool same_server(const struct tlc_arm *a, const struct tlc_arm *b)
{
    static const char *const keys[] = {"stack",     "certificate",  "groups",  "version",
                                       "cipher",    "resumption",   "tickets", "workers",
                                       "accept",    "alpn",         "burn",    "intermediates",
                                       "authority", "serve_options"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char left[1024], right[1024];
        if (!tlc_arm_value(a, keys[i], left, sizeof left) ||
            !tlc_arm_value(b, keys[i], right, sizeof right) || strcmp(left, right) != 0)
            return false;
    }
    return true;
}

// Every connection asks for an answer, whether or not ALPN chose HTTP.
static enum tlc_status start_server(struct tlc_connect *connect,
                                    const struct tlc_connect_arm *state,
                                    struct tlc_connect_host *host, size_t number,
                                    struct tlc_error *error)
{
    char log[600], options[512];
    struct tlc_arm arm = *state->arm;
    snprintf(log, sizeof log, "%s/server-%zu.log", connect->options->work_directory, number);
    snprintf(options, sizeof options, "--http%s%s", arm.serve_options ? " " : "",
             arm.serve_options ? arm.serve_options : "");
    arm.serve_options = options;
    const int namespaces[] = {host->namespace ? host->namespace->own : -1, -1};
    const struct tlc_arm_place place = {.cpus = connect->options->server_cpus,
                                        .namespaces = host->namespace ? namespaces : NULL,
                                        .listen = "127.0.0.1:0"};
    return tlc_arm_server_start(&arm, state->certificates, &place, log, &host->server, error);
}

static enum tlc_status find_host(struct tlc_connect *connect, struct tlc_connect_spot *spot,
                                 struct tlc_error *error)
{
    size_t number = 0;
    for (struct tlc_connect_host *host = connect->hosts; host; host = host->next, number++)
        if (host->namespace == spot->target.namespace && same_server(host->arm, spot->arm->arm)) {
            spot->host = host;
            return TLC_OK;
        }
    struct tlc_connect_host *host = calloc(1, sizeof *host);
    if (!host)
        return out_of_memory(error);
    host->arm = spot->arm->arm;
    host->namespace = spot->target.namespace;
    host->server.process.control = -1;
    host->next = connect->hosts;
    connect->hosts = host;
    spot->host = host;
    return start_server(connect, spot->arm, host, number, error);
}

// ---- paths

static struct tlc_path path_of(const struct tlc_arm *arm, uint64_t rtt_us)
{
    return (struct tlc_path){.one_way_ns = rtt_us * 500,
                             .jitter_ns = (uint64_t)arm->jitter_us * 1000,
                             .loss = arm->loss,
                             .rate_bits = arm->rate_bits,
                             .mss = MSS,
                             .initial_window = arm->initial_window};
}

static enum tlc_status find_place(struct tlc_connect *connect, struct tlc_connect_spot *spot,
                                  struct tlc_error *error)
{
    const struct tlc_path *path = &spot->path;
    for (struct tlc_connect_place *place = connect->places; place; place = place->next) {
        const struct tlc_path *there = &place->path;
        if (there->one_way_ns != path->one_way_ns || there->jitter_ns != path->jitter_ns ||
            there->loss < path->loss || there->loss > path->loss ||
            there->rate_bits != path->rate_bits || there->initial_window != path->initial_window)
            continue;
        spot->target.namespace = &place->namespace;
        return TLC_OK;
    }
    struct tlc_connect_place *place = calloc(1, sizeof *place);
    if (!place)
        return out_of_memory(error);
    enum tlc_status status = tlc_namespace_open(path, &place->namespace, error);
    if (status != TLC_OK) {
        free(place);
        return status;
    }
    place->path = *path;
    place->next = connect->places;
    connect->places = place;
    spot->target.namespace = &place->namespace;
    return TLC_OK;
}

static enum tlc_status set_address(struct tlc_visit_target *target, const char *text,
                                   struct tlc_error *error)
{
    char host[64];
    unsigned port;
    target->address = (struct sockaddr_in){.sin_family = AF_INET};
    if (sscanf(text, "%63[0-9.]:%u", host, &port) != 2 || port > 65535 ||
        inet_pton(AF_INET, host, &target->address.sin_addr) != 1)
        return tlc_fail(error, TLC_USAGE,
                        "connect: %.100s: the server listens elsewhere than on an IPv4 address; "
                        "leave --listen out of serve_options",
                        text);
    target->address.sin_port = htons((uint16_t)port);
    return TLC_OK;
}

// ---- one connection like those that will be measured

static enum tlc_status visit_once(const struct tlc_connect_spot *spot, struct tlc_visit *visit,
                                  const struct tlc_visit_target *target, struct tlc_error *error)
{
    uint64_t start = tlc_now_ns(), end = start + PREPARE_MS * 1000000ull;
    tlc_visit_begin(visit, target, start);
    while (!tlc_visit_go_on(visit)) {
        struct pollfd wait = {.fd = visit->fd, .events = POLLIN};
        if (visit->state == TLC_VISIT_CONNECTING)
            wait.events = POLLOUT;
        (void)poll(&wait, 1, 100);
        if (tlc_now_ns() > end)
            tlc_visit_fail(visit, "no answer in time");
    }
    if (visit->state == TLC_VISIT_DONE)
        return TLC_OK;
    return tlc_fail(error, TLC_REFUSED, "arm '%s': its server was tried once: %s",
                    spot->arm->arm->name, visit->failure);
}

// A full handshake whose session the measured ones resume, each time anew.
static enum tlc_status take_session(struct tlc_connect_spot *spot, struct tlc_visit *visit,
                                    struct tlc_visit_target target, struct tlc_error *error)
{
    struct tlc_connect_arm *state = spot->arm;
    target.resumed = false;
    enum tlc_status status = visit_once(spot, visit, &target, error);
    if (status == TLC_OK && !(state->session = malloc(SESSION_BYTES)))
        status = out_of_memory(error);
    if (status == TLC_OK) {
        state->session_bytes =
            target.stack->session_export(visit->tls, state->session, SESSION_BYTES);
        if (!state->session_bytes)
            status = tlc_fail(error, TLC_REFUSED, "arm '%s': the server gave no session to resume",
                              state->arm->name);
    }
    tlc_visit_end(visit);
    return status;
}

// Straight to the server, so that it takes no time: the relay is not running yet.
static enum tlc_status try_server(struct tlc_connect_spot *spot, struct tlc_error *error)
{
    struct tlc_connect_arm *state = spot->arm;
    struct tlc_visit_target target = spot->target;
    struct tlc_visit *visit = malloc(sizeof *visit);
    if (!visit)
        return out_of_memory(error);
    enum tlc_status status = set_address(&target, spot->host->server.address, error);
    target.announced = false;
    if (status == TLC_OK && target.resumed && !state->session)
        status = take_session(spot, visit, target, error);
    target.session = state->session;
    target.session_bytes = state->session_bytes;
    if (status == TLC_OK && !state->evidence) {
        status = visit_once(spot, visit, &target, error);
        if (status == TLC_OK)
            state->evidence = tlc_visit_evidence(visit);
        state->wire = visit->wire;
        tlc_visit_end(visit);
    }
    free(visit);
    return status;
}

static enum tlc_status make_spot(struct tlc_connect *connect, struct tlc_connect_spot *spot,
                                 struct tlc_error *error)
{
    const struct tlc_arm *arm = spot->arm->arm;
    char address[64];
    spot->path = path_of(arm, spot->rtt_us);
    spot->target = (struct tlc_visit_target){
        .announced = connect->relay != NULL,
        .upgrade = arm->upgrade,
        .stack = spot->arm->plugin->stack,
        .context = spot->arm->context,
        .version = tlc_code(TLC_NAME_VERSION, arm->version),
        .resumed = strcmp(arm->resumption, "none") != 0,
        .hello_retry_request = arm->hello_retry,
    };
    spot->errors = json_object();
    enum tlc_status status = TLC_OK;
    for (int phase = 0; phase < TLC_PHASES && status == TLC_OK; phase++) {
        spot->us[phase] = calloc(connect->options->plan->schedule.connections, sizeof(double));
        status = spot->us[phase] ? TLC_OK : out_of_memory(error);
    }
    if (status == TLC_OK && !connect->relay)
        status = find_place(connect, spot, error);
    if (status == TLC_OK)
        status = find_host(connect, spot, error);
    if (status == TLC_OK)
        status = try_server(spot, error);
    if (status == TLC_OK && connect->relay)
        status = tlc_relay_route(connect->relay, spot->host->server.address, &spot->path, true,
                                 address, sizeof address, error);
    if (status == TLC_OK)
        status = set_address(&spot->target, connect->relay ? address : spot->host->server.address,
                             error);
    spot->target.session = spot->arm->session;
    spot->target.session_bytes = spot->arm->session_bytes;
    return status;
}

// ---- all of it

static enum tlc_status choose_network(struct tlc_connect *connect, struct tlc_error *error)
{
    const struct tlc_connect_options *options = connect->options;
    struct tlc_error why = {.text = ""};
    if (options->network != TLC_NETWORK_RELAY) {
        enum tlc_status status = tlc_netem_here(&why);
        if (status == TLC_OK)
            return TLC_OK;
        if (options->network == TLC_NETWORK_NETEM)
            return tlc_fail(error, status, "%.900s; use --network relay", why.text);
        snprintf(connect->why, sizeof connect->why, "%.500s", why.text);
    }
    return tlc_relay_new(options->seed, &connect->relay, error);
}

static enum tlc_status make_spots(struct tlc_connect *connect, struct tlc_error *error)
{
    const struct tlc_plan *plan = connect->options->plan;
    enum tlc_status status = TLC_OK;
    connect->spots = calloc(plan->arm_count * TLC_MOST_RTTS, sizeof *connect->spots);
    if (!connect->spots)
        return out_of_memory(error);
    for (size_t i = 0; i < plan->arm_count && status == TLC_OK; i++) {
        uint64_t rtts[TLC_MOST_RTTS];
        size_t count = tlc_arm_rtts(&plan->arms[i], rtts);
        for (size_t j = 0; j < count && status == TLC_OK; j++) {
            struct tlc_connect_spot *spot = &connect->spots[connect->spot_count++];
            spot->arm = &connect->arms[i];
            spot->rtt_us = rtts[j];
            status = make_spot(connect, spot, error);
        }
    }
    return status;
}

enum tlc_status tlc_connect_open(const struct tlc_connect_options *options,
                                 struct tlc_connect **opened, struct tlc_error *error)
{
    const struct tlc_plan *plan = options->plan;
    struct tlc_connect *connect = calloc(1, sizeof *connect);
    *opened = NULL;
    if (!connect)
        return out_of_memory(error);
    connect->options = options;
    connect->arms = calloc(plan->arm_count, sizeof *connect->arms);
    enum tlc_status status = connect->arms ? choose_network(connect, error) : out_of_memory(error);
    for (size_t i = 0; i < plan->arm_count && status == TLC_OK; i++)
        status = make_arm(options, &plan->arms[i], &connect->arms[i], error);
    if (status == TLC_OK)
        status = make_spots(connect, error);
    if (status == TLC_OK && connect->relay)
        status = tlc_relay_start(connect->relay, error);
    if (status == TLC_OK) {
        connect->late_us =
            calloc(connect->spot_count * plan->schedule.connections, sizeof *connect->late_us);
        if (!connect->late_us)
            status = out_of_memory(error);
    }
    if (status == TLC_OK)
        *opened = connect;
    else
        tlc_connect_close(connect);
    return status;
}

static void close_spot(struct tlc_connect_spot *spot)
{
    for (int phase = 0; phase < TLC_PHASES; phase++)
        free(spot->us[phase]);
    json_decref(spot->errors);
}

static void close_arm(struct tlc_connect_arm *state)
{
    if (state->context)
        state->plugin->stack->context_free(state->context);
    free(state->session);
    json_decref(state->evidence);
}

void tlc_connect_close(struct tlc_connect *connect)
{
    if (!connect)
        return;
    tlc_relay_free(connect->relay);
    for (size_t i = 0; connect->spots && i < connect->spot_count; i++)
        close_spot(&connect->spots[i]);
    for (size_t i = 0; connect->arms && i < connect->options->plan->arm_count; i++)
        close_arm(&connect->arms[i]);
    for (struct tlc_connect_host *host = connect->hosts, *next; host; host = next) {
        next = host->next;
        tlc_arm_server_stop(&host->server);
        free(host);
    }
    for (struct tlc_connect_place *place = connect->places, *next; place; place = next) {
        next = place->next;
        tlc_namespace_close(&place->namespace);
        free(place);
    }
    free(connect->late_us);
    free(connect->spots);
    free(connect->arms);
    free(connect);
}
