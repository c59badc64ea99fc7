#include "workload/memory_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "measure/clock.h"
#include "workload/network_target.h"

// Chains of the largest certificates stay far below; more turns than any handshake has.
enum { FLIGHT_BYTES = 1 << 18, MOST_TURNS = 32, SESSION_CACHE = 1 << 14 };

// ---- contexts

static unsigned psk_modes_of(const struct tlc_arm *arm)
{
    return !strcmp(arm->resumption, "psk_ke") ? TLC_PSK_KE : TLC_PSK_DHE_KE;
}

struct settings {
    uint16_t groups[TLC_ARM_GROUPS], cipher;
    struct tlc_stack_alpn alpn;
    struct tlc_stack_config config; // what both sides have in common
};

static enum tlc_status common_settings(const struct tlc_arm *arm, struct settings *settings,
                                       struct tlc_error *error)
{
    struct tlc_stack_config *config = &settings->config;
    uint16_t version = tlc_code(TLC_NAME_VERSION, arm->version);
    *config = (struct tlc_stack_config){.min_version = version,
                                        .max_version = version,
                                        .groups = settings->groups,
                                        .ciphers = &settings->cipher,
                                        .alpn = &settings->alpn,
                                        .ticket_mode = TLC_TICKETS_STATELESS,
                                        .tickets_per_handshake = arm->tickets,
                                        .psk_modes = psk_modes_of(arm)};
    if (!strcmp(arm->resumption, "session-id")) {
        config->ticket_mode = TLC_TICKETS_STATEFUL;
        config->session_cache_entries = SESSION_CACHE;
    }
    settings->alpn.name = arm->alpn;
    config->alpn_count = arm->alpn ? 1 : 0;
    enum tlc_status status =
        tlc_arm_codes(arm, settings->groups, &config->group_count, &settings->cipher, error);
    config->cipher_count = settings->cipher ? 1 : 0;
    return status;
}

static enum tlc_status open_side(struct tlc_memory_side *side, enum tlc_stack_role role,
                                 const struct tlc_stack_config *config, struct tlc_error *error)
{
    struct tlc_stack_error words = {{0}};
    side->stack = side->plugin->stack;
    if (!side->stack->connection_on_memory || !side->stack->memory_feed ||
        !side->stack->memory_take || !side->stack->evidence)
        return tlc_fail(error, TLC_ENVIRONMENT, "stack %s: has no memory transport; use another",
                        side->plugin->id);
    side->out.bytes = malloc(FLIGHT_BYTES);
    side->out.capacity = FLIGHT_BYTES;
    if (!side->out.bytes)
        return tlc_fail(error, TLC_ENVIRONMENT, "pair: out of memory");
    side->context = side->stack->context_new(role, config, &words);
    return side->context ? TLC_OK
                         : tlc_fail(error, TLC_ENVIRONMENT, "%s: stack %s: %s", side->name,
                                    side->plugin->id, words.text);
}

static enum tlc_status open_sides(struct tlc_memory_pair *pair, const struct tlc_certs_pair *leaf,
                                  const struct tlc_certs_pair *of_client, struct tlc_error *error)
{
    struct settings settings = {.cipher = 0};
    const struct tlc_arm *arm = pair->arm;
    enum tlc_status status = common_settings(arm, &settings, error);
    if (status != TLC_OK)
        return status;
    struct tlc_stack_certificate served = {.chain_pem = leaf->chain_pem, .key_pem = leaf->key_pem};
    struct tlc_stack_certificate shown = {.chain_pem = of_client->chain_pem,
                                          .key_pem = of_client->key_pem};
    struct tlc_stack_config server = settings.config, client = settings.config;
    server.certificates = &served;
    server.certificate_count = 1;
    char *provider = arm->provider ? tlc_provider_find(arm->provider) : NULL;
    server.provider = provider;
    client.trust_pem = leaf->ca_pem;
    if (arm->client_auth) {
        server.client_auth = TLC_CLIENT_AUTH_REQUIRE;
        server.trust_pem = leaf->ca_pem;
        client.certificates = &shown;
        client.certificate_count = 1;
    }
    status = open_side(&pair->server, TLC_STACK_SERVER, &server, error);
    free(provider);
    return status == TLC_OK ? open_side(&pair->client, TLC_STACK_CLIENT, &client, error) : status;
}

enum tlc_status tlc_memory_pair_open(const struct tlc_arm *arm, const char *folder,
                                     struct tlc_memory_pair *pair, struct tlc_error *error)
{
    struct tlc_certs_pair leaf = {0}, of_client = {0};
    char name[80];
    *pair = (struct tlc_memory_pair){
        .arm = arm, .client = {.name = "client"}, .server = {.name = "server"}};
    enum tlc_status status = tlc_stack_load(arm->stack, &pair->server.plugin, error);
    if (status == TLC_OK)
        status = tlc_stack_load(arm->client_stack ? arm->client_stack : arm->stack,
                                &pair->client.plugin, error);
    if (status == TLC_OK)
        status = tlc_certs_read(folder, arm->certificate, &leaf, error);
    if (status == TLC_OK && arm->client_auth) {
        snprintf(name, sizeof name, "client-%s", arm->client_auth);
        status = tlc_certs_read(folder, name, &of_client, error);
    }
    if (status == TLC_OK)
        status = open_sides(pair, &leaf, &of_client, error);
    tlc_certs_pair_free(&leaf);
    tlc_certs_pair_free(&of_client);
    if (status != TLC_OK)
        tlc_memory_pair_close(pair);
    return status;
}

static void close_side(struct tlc_memory_side *side)
{
    if (!side->stack)
        return;
    tlc_memory_side_end(side);
    side->stack->context_free(side->context);
    free(side->out.bytes);
}

void tlc_memory_pair_close(struct tlc_memory_pair *pair)
{
    close_side(&pair->client);
    close_side(&pair->server);
    free(pair->session);
    *pair = (struct tlc_memory_pair){0};
}

// ---- one handshake

static bool failed(char *failure, size_t bytes, const struct tlc_memory_side *side,
                   const char *words)
{
    snprintf(failure, bytes, "%s: %.200s", side->name,
             words[0] ? words : "the library gave no reason");
    return false;
}

static bool take_out(struct tlc_memory_side *side)
{
    struct tlc_memory_bytes *out = &side->out;
    for (size_t got; out->count < out->capacity; out->count += got) {
        got = side->stack->memory_take(side->connection, out->bytes + out->count,
                                       out->capacity - out->count);
        if (!got)
            return true;
    }
    return false;
}

// What follows a finished handshake: on a client, tickets.
static enum tlc_stack_step read_behind(struct tlc_memory_side *side, struct tlc_stack_error *words)
{
    uint8_t bytes[64];
    size_t done;
    return side->stack->read(side->connection, bytes, sizeof bytes, &done, words);
}

// The whole records of a server's bytes, as they come.
static void watch_server(struct tlc_wire *wire, const struct tlc_memory_bytes *bytes)
{
    for (size_t at = 0, size; at < bytes->count; at += size)
        if (!tlc_wire_record_size(bytes->bytes + at, bytes->count - at, &size) || !size ||
            size > bytes->count - at)
            return;
        else
            tlc_wire_server(wire, bytes->bytes + at, size);
}

static void record(struct tlc_memory_recording *recording, bool client,
                   const struct tlc_memory_bytes *sent)
{
    if (client && !recording->hello) {
        recording->hello = malloc(sent->count);
        if (recording->hello)
            memcpy(recording->hello, sent->bytes, recording->hello_bytes = sent->count);
    } else if (!client && !recording->flight_bytes) {
        recording->flight_bytes = sent->count;
    }
}

static void watch(struct tlc_memory_pair *pair, const struct tlc_memory_side *side, size_t before)
{
    struct tlc_memory_bytes sent = {side->out.bytes + before, side->out.count - before, 0};
    if (pair->recording && sent.count)
        record(pair->recording, side == &pair->client, &sent);
    if (!pair->wire || !sent.count)
        return;
    if (side == &pair->client)
        tlc_wire_client(pair->wire, sent.bytes, sent.count);
    else if (side->done && !strcmp(pair->arm->version, "TLSv1.3"))
        pair->wire->tickets += sent.count; // all that a server sends behind the client's Finished
    else
        watch_server(pair->wire, &sent);
}

bool tlc_memory_turn(struct tlc_memory_pair *pair, struct tlc_memory_side *side,
                     struct tlc_memory_bytes *in, char *failure, size_t bytes)
{
    struct tlc_stack_error words = {{0}};
    size_t before = side->out.count;
    bool fed = in->count > 0;
    if (fed && !side->stack->memory_feed(side->connection, in->bytes, in->count))
        return failed(failure, bytes, side, "the memory transport took no more bytes");
    in->count = 0;
    enum tlc_stack_step step = TLC_STEP_WANT_READ;
    bool was_done = side->done;
    if (!side->done)
        step = side->stack->handshake(side->connection, &words);
    if (step == TLC_STEP_DONE)
        side->done = true;
    // TLS 1.3 tickets come behind the handshake (RFC 8446, 4.6.1), perhaps in its last bytes.
    if (step != TLC_STEP_FAILED && side->done && fed && (was_done || side == &pair->client))
        step = read_behind(side, &words);
    if (step == TLC_STEP_FAILED || step == TLC_STEP_CLOSED)
        return failed(failure, bytes, side, words.text);
    if (!take_out(side))
        return failed(failure, bytes, side, "sends more than any handshake needs");
    watch(pair, side, before);
    return true;
}

bool tlc_memory_client_open(struct tlc_memory_pair *pair, bool resume, char *failure, size_t bytes)
{
    struct tlc_memory_side *client = &pair->client;
    struct tlc_stack_connection_options options = {.server_name = "localhost"};
    struct tlc_stack_error words = {{0}};
    if (resume && pair->session_bytes) {
        options.session = pair->session;
        options.session_bytes = pair->session_bytes;
    }
    client->done = false;
    client->connection = client->stack->connection_on_memory(client->context, &options, &words);
    return client->connection || failed(failure, bytes, client, words.text);
}

bool tlc_memory_server_open(struct tlc_memory_pair *pair, char *failure, size_t bytes)
{
    struct tlc_memory_side *server = &pair->server;
    struct tlc_stack_error words = {{0}};
    server->done = false;
    server->connection = server->stack->connection_on_memory(server->context, NULL, &words);
    return server->connection || failed(failure, bytes, server, words.text);
}

// Keeps the newest session. A TLS 1.3 ticket is used once (RFC 8446, C.4); a TLS 1.2 session goes
// on until the server sends another.
static void keep_session(struct tlc_memory_pair *pair, bool offered,
                         struct tlc_memory_outcome *outcome)
{
    const struct tlc_memory_side *client = &pair->client;
    outcome->tickets =
        client->stack->tickets_received ? client->stack->tickets_received(client->connection) : 0;
    if (!strcmp(pair->arm->resumption, "none") || !client->stack->session_export)
        return;
    size_t size = client->stack->session_export(client->connection, NULL, 0);
    if (size > pair->session_capacity) {
        uint8_t *grown = realloc(pair->session, size);
        if (!grown)
            return;
        pair->session = grown;
        pair->session_capacity = size;
    }
    if (size)
        size = client->stack->session_export(client->connection, pair->session,
                                             pair->session_capacity);
    if (size || (offered && outcome->seen.version == TLC_TLS13))
        pair->session_bytes = size;
}

static void charge(uint64_t *since_ns, uint64_t *sum_ns, unsigned *reads)
{
    uint64_t now = tlc_now_ns();
    *sum_ns += now - *since_ns;
    *since_ns = now;
    ++*reads;
}

static bool exchange(struct tlc_memory_pair *pair, bool resume, struct tlc_memory_times *times,
                     uint64_t *since_ns, struct tlc_memory_outcome *outcome)
{
    struct tlc_memory_side *client = &pair->client, *server = &pair->server;
    char *failure = outcome->failure;
    size_t size = sizeof outcome->failure;
    bool good = tlc_memory_client_open(pair, resume, failure, size);
    for (unsigned turn = 0; good && turn < MOST_TURNS; turn++) {
        good = tlc_memory_turn(pair, client, &server->out, failure, size);
        charge(since_ns, &times->client_ns, &times->client_reads);
        if (good && client->done && server->done && !client->out.count)
            return true;
        good = good && (server->connection || tlc_memory_server_open(pair, failure, size)) &&
               tlc_memory_turn(pair, server, &client->out, failure, size);
        charge(since_ns, &times->server_ns, &times->server_reads);
        // TLS 1.2 resumed ends with the client's Finished: nothing is left for the client.
        if (good && client->done && server->done && !server->out.count)
            return true;
    }
    return good && failed(failure, size, server, "the handshake does not end");
}

bool tlc_memory_handshake(struct tlc_memory_pair *pair, bool resume, struct tlc_memory_times *times,
                          struct tlc_memory_outcome *outcome)
{
    uint64_t since_ns = tlc_now_ns();
    bool offered = resume && pair->session_bytes;
    outcome->failure[0] = '\0';
    outcome->resumed_by_client = offered;
    pair->client.out.count = pair->server.out.count = 0;
    bool good = exchange(pair, resume, times, &since_ns, outcome);
    if (good && !pair->server.stack->evidence(pair->server.connection, &outcome->seen))
        good = failed(outcome->failure, sizeof outcome->failure, &pair->server,
                      "gives no evidence of the connection");
    if (good)
        keep_session(pair, offered, outcome);
    else
        pair->session_bytes = 0;
    return good;
}

// RFC 8446, 5.1 and 4: a handshake record that begins with a ServerHello. Signatures of ECDSA vary
// in size by a few bytes; a certificate that is missing, or an alert, differs by far more.
static bool answers_as_recorded(const struct tlc_memory_bytes *out, size_t recorded)
{
    enum { HANDSHAKE = 22, SERVER_HELLO = 2, SIGNATURE_VARIES = 16 };
    size_t apart = out->count > recorded ? out->count - recorded : recorded - out->count;
    return out->count > TLC_RECORD_HEADER && out->bytes[0] == HANDSHAKE &&
           out->bytes[TLC_RECORD_HEADER] == SERVER_HELLO && apart <= SIGNATURE_VARIES;
}

bool tlc_memory_replay(struct tlc_memory_pair *pair, const struct tlc_memory_recording *recording,
                       struct tlc_memory_times *times, char *failure, size_t bytes)
{
    struct tlc_memory_side *server = &pair->server;
    struct tlc_memory_bytes hello = {recording->hello, recording->hello_bytes, 0};
    uint64_t since_ns = tlc_now_ns();
    server->out.count = 0;
    bool good = tlc_memory_server_open(pair, failure, bytes) &&
                tlc_memory_turn(pair, server, &hello, failure, bytes);
    if (good && (server->done || !answers_as_recorded(&server->out, recording->flight_bytes)))
        good = failed(failure, bytes, server, "answers the recorded ClientHello in another way");
    tlc_memory_side_end(server);
    charge(&since_ns, &times->server_ns, &times->server_reads);
    return good;
}

void tlc_memory_side_end(struct tlc_memory_side *side)
{
    if (side->connection)
        side->stack->connection_free(side->connection);
    side->connection = NULL;
    side->done = false;
    side->out.count = 0;
}

void tlc_memory_end(struct tlc_memory_pair *pair, struct tlc_memory_times *times)
{
    uint64_t since_ns = tlc_now_ns();
    tlc_memory_side_end(&pair->server);
    charge(&since_ns, &times->server_ns, &times->server_reads);
    tlc_memory_side_end(&pair->client);
    charge(&since_ns, &times->client_ns, &times->client_reads);
}
