// Any stack plug-in as client, over its memory transport, so that every loop can carry its bytes.
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "generator/engine.h"

enum { OUTPUT_BYTES = 16384, RECEIVED_BYTES = 65536, SESSIONS_KEPT = 8192, SESSION_BYTES = 32768 };

// A session as the library serialises it.
struct exported {
    uint8_t *bytes;
    size_t count;
    bool lasting; // before TLS 1.3 a session may be resumed again and again (RFC 5246, F.1.4)
};

struct full_context {
    struct tlc_engine_context base;
    const struct tlc_stack *stack;
    struct tlc_stack_context *settings;
    char *server_name;
    bool hash_certificate;
    struct exported *sessions; // NULL: nothing is to be resumed
    struct tlc_ticket_places places;
};

struct full_session {
    struct tlc_session base;
    struct full_context *context;
    struct tlc_stack_connection *connection;
    struct tlc_stack_error error;
    struct tlc_stack_evidence evidence;
    bool done, hello_seen, evidence_known;
    size_t tickets_kept;
    uint8_t certificate_sha256[32];
    size_t output_from, output_to, received;
    uint8_t output[OUTPUT_BYTES];
    uint8_t *data; // RECEIVED_BYTES of application data, made when the first arrives
};

static struct full_session *full(const struct tlc_session *session)
{
    return (struct full_session *)(uintptr_t)session;
}

static size_t fill_alpn(const struct tlc_target_options *options, struct tlc_stack_alpn *alpn,
                        size_t capacity)
{
    size_t count = 0;
    for (const char *const *name = options->alpn; name && *name && count < capacity; name++)
        alpn[count++].name = *name;
    return count;
}

static struct tlc_stack_context *settings_new(const struct tlc_stack *stack,
                                              const struct tlc_target_options *options,
                                              struct tlc_stack_error *why)
{
    struct tlc_stack_alpn alpn[16];
    const struct tlc_stack_certificate certificate = {.chain_pem = options->client_chain_pem,
                                                      .key_pem = options->client_key_pem};
    const struct tlc_stack_config config = {
        .min_version = options->min_version,
        .max_version = options->max_version,
        .groups = options->groups,
        .group_count = options->group_count,
        .ciphers = options->ciphers,
        .cipher_count = options->cipher_count,
        .certificates = options->client_chain_pem ? &certificate : NULL,
        .certificate_count = options->client_chain_pem ? 1 : 0,
        .trust_pem = options->trust_pem,
        .alpn = alpn,
        .alpn_count = fill_alpn(options, alpn, sizeof alpn / sizeof *alpn),
        .ticket_mode = TLC_TICKETS_STATELESS,
        .tickets_per_handshake = -1,
        .psk_modes = options->psk_modes,
    };
    return stack->context_new(TLC_STACK_CLIENT, &config, why);
}

static enum tlc_status refuse_lean_only(const struct tlc_target_options *options,
                                        struct tlc_error *error)
{
    const char *what = options->share != TLC_SHARE_HONEST   ? "key shares other than honest"
                       : options->stop != TLC_STOP_COMPLETE ? "stop points"
                       : options->wrong_share_first         ? "a wrong key share first"
                       : options->padding_bytes             ? "ClientHello padding"
                                                            : NULL;
    if (!what)
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE, "target: engine full: %s: only the lean engine has this",
                    what);
}

static void full_context_free(struct tlc_engine_context *context)
{
    struct full_context *mine = (struct full_context *)context;
    for (size_t i = 0; i < mine->places.capacity && mine->sessions; i++)
        free(mine->sessions[i].bytes);
    free(mine->sessions);
    mine->stack->context_free(mine->settings);
    free(mine->server_name);
    free(mine);
}

static enum tlc_status full_context_new(const struct tlc_target_options *options,
                                        struct tlc_engine_context **context,
                                        struct tlc_error *error)
{
    if (!options->plugin)
        return tlc_fail(error, TLC_USAGE, "target: engine full: no stack was named");
    enum tlc_status status = refuse_lean_only(options, error);
    if (status != TLC_OK)
        return status;
    const struct tlc_stack *stack = options->plugin->stack;
    if (options->resume_ratio > 0 && (!stack->session_export || !stack->tickets_received))
        return tlc_fail(error, TLC_USAGE,
                        "target: engine full: stack %s: it cannot export sessions to resume",
                        options->plugin->id);
    if (!stack->connection_on_memory || !stack->memory_feed || !stack->memory_take)
        return tlc_fail(error, TLC_USAGE,
                        "target: engine full: stack %s: it has no memory transport, which the "
                        "generator needs",
                        options->plugin->id);
    struct full_context *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    made->base.kind = &tlc_engine_full;
    made->stack = stack;
    made->hash_certificate = options->expect.certificate_known;
    struct tlc_stack_error why = {.text = ""};
    made->settings = settings_new(stack, options, &why);
    if (options->server_name)
        made->server_name = strdup(options->server_name);
    if (options->resume_ratio > 0) {
        made->places.capacity = SESSIONS_KEPT;
        made->sessions = calloc(SESSIONS_KEPT, sizeof *made->sessions);
    }
    if (!made->settings || (options->server_name && !made->server_name) ||
        (options->resume_ratio > 0 && !made->sessions)) {
        full_context_free(&made->base);
        return tlc_fail(error, TLC_USAGE, "target: engine full: stack %s: %s", options->plugin->id,
                        *why.text ? why.text : "no context could be made");
    }
    *context = &made->base;
    return TLC_OK;
}

static struct tlc_session *full_session_new(struct tlc_engine_context *context)
{
    struct full_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->base.kind = &tlc_engine_full;
    session->context = (struct full_context *)context;
    return &session->base;
}

static void full_session_free(struct tlc_session *session)
{
    struct full_session *mine = full(session);
    mine->context->stack->connection_free(mine->connection);
    free(mine->data);
    free(mine);
}

static bool take_data(struct full_session *session, const uint8_t *bytes, size_t count)
{
    if (!session->data && !(session->data = malloc(RECEIVED_BYTES)))
        return false;
    if (count > RECEIVED_BYTES - session->received)
        count = RECEIVED_BYTES - session->received; // a peer that sends more than was asked
    memcpy(session->data + session->received, bytes, count);
    session->received += count;
    return true;
}

// Reads what is there: application data, and on the way session tickets.
static enum tlc_session_state read_all(struct full_session *session)
{
    const struct tlc_stack *stack = session->context->stack;
    uint8_t bytes[4096];
    for (;;) {
        size_t done = 0;
        enum tlc_stack_step step =
            stack->read(session->connection, bytes, sizeof bytes, &done, &session->error);
        if (step == TLC_STEP_FAILED)
            return TLC_SESSION_FAILED;
        if (step != TLC_STEP_DONE)
            return TLC_SESSION_DONE;
        if (!take_data(session, bytes, done))
            return TLC_SESSION_FAILED;
    }
}

static enum tlc_session_state advance(struct full_session *session)
{
    const struct tlc_stack *stack = session->context->stack;
    if (session->done)
        return read_all(session);
    enum tlc_stack_step step = stack->handshake(session->connection, &session->error);
    if (step == TLC_STEP_WANT_READ || step == TLC_STEP_WANT_WRITE)
        return TLC_SESSION_WAIT;
    if (step != TLC_STEP_DONE)
        return TLC_SESSION_FAILED;
    session->done = true;
    return read_all(session);
}

static bool know_evidence(struct full_session *session)
{
    if (!session->evidence_known)
        session->evidence_known =
            session->context->stack->evidence(session->connection, &session->evidence);
    return session->evidence_known;
}

// Keeps the session once another ticket has arrived; before that there is nothing to resume.
static void keep_session(struct full_session *session)
{
    struct full_context *context = session->context;
    const struct tlc_stack *stack = context->stack;
    size_t tickets = stack->tickets_received(session->connection);
    if (tickets <= session->tickets_kept)
        return;
    session->tickets_kept = tickets;
    uint8_t bytes[SESSION_BYTES];
    size_t count = stack->session_export(session->connection, bytes, sizeof bytes);
    uint8_t *copy = count ? malloc(count) : NULL;
    if (!copy)
        return;
    bool lasting = know_evidence(session) && session->evidence.version < TLC_TLS13;
    memcpy(copy, bytes, count);
    struct exported *place = &context->sessions[tlc_ticket_place_new(&context->places)];
    free(place->bytes);
    *place = (struct exported){.bytes = copy, .count = count, .lasting = lasting};
}

static struct exported *choose_session(struct full_context *context)
{
    size_t place;
    if (!context->sessions ||
        !tlc_resumption_due(&context->base.resumption, context->places.count) ||
        !tlc_ticket_place_newest(&context->places, &place))
        return NULL;
    if (context->sessions[place].lasting)
        tlc_ticket_place_return(&context->places);
    return &context->sessions[place];
}

static enum tlc_session_state full_start(struct tlc_session *session, uint64_t now_ms,
                                         bool *offered)
{
    (void)now_ms;
    struct full_session *mine = full(session);
    const struct tlc_stack *stack = mine->context->stack;
    stack->connection_free(mine->connection);
    mine->done = mine->hello_seen = mine->evidence_known = false;
    mine->output_from = mine->output_to = mine->received = mine->tickets_kept = 0;
    mine->error.text[0] = '\0';
    const struct exported *old = choose_session(mine->context);
    *offered = old != NULL;
    const struct tlc_stack_connection_options options = {
        .server_name = mine->context->server_name,
        .session = old ? old->bytes : NULL,
        .session_bytes = old ? old->count : 0,
    };
    mine->connection = stack->connection_on_memory(mine->context->settings, &options, &mine->error);
    return mine->connection ? advance(mine) : TLC_SESSION_FAILED;
}

static const uint8_t *full_output(struct tlc_session *session, size_t *count)
{
    struct full_session *mine = full(session);
    if (mine->output_from == mine->output_to && mine->connection) {
        mine->output_from = 0;
        mine->output_to =
            mine->context->stack->memory_take(mine->connection, mine->output, sizeof mine->output);
    }
    *count = mine->output_to - mine->output_from;
    return mine->output + mine->output_from;
}

static void full_output_sent(struct tlc_session *session, size_t count)
{
    full(session)->output_from += count;
}

static enum tlc_session_state full_input(struct tlc_session *session, const uint8_t *bytes,
                                         size_t count, uint64_t now_ms)
{
    (void)now_ms;
    struct full_session *mine = full(session);
    mine->hello_seen = true;
    if (!mine->context->stack->memory_feed(mine->connection, bytes, count))
        return TLC_SESSION_FAILED;
    enum tlc_session_state state = advance(mine);
    if (mine->context->sessions && state == TLC_SESSION_DONE)
        keep_session(mine);
    return state;
}

static bool full_hello_seen(const struct tlc_session *session)
{
    return full(session)->hello_seen;
}

static bool full_resumed(struct tlc_session *session)
{
    return know_evidence(full(session)) && full(session)->evidence.resumed;
}

static bool full_facts(struct tlc_session *session, struct tlc_facts *facts)
{
    struct full_session *mine = full(session);
    const struct tlc_stack_evidence *evidence = &mine->evidence;
    if (!know_evidence(mine))
        return false;
    *facts = (struct tlc_facts){
        .version = evidence->version,
        .cipher = evidence->cipher,
        .group = evidence->group,
        .hello_retry_request = evidence->hello_retry_request,
        .resumed = evidence->resumed,
        .signature_verified = evidence->verified > 0 && !evidence->resumed,
        .psk_mode = evidence->psk_mode,
        .alpn = evidence->alpn,
    };
    if (mine->context->hash_certificate && evidence->chain_count) {
        SHA256(evidence->chain_der[0], evidence->chain_der_bytes[0], mine->certificate_sha256);
        facts->certificate_sha256 = mine->certificate_sha256;
    }
    return true;
}

static unsigned full_tickets(struct tlc_session *session)
{
    struct full_session *mine = full(session);
    const struct tlc_stack *stack = mine->context->stack;
    return stack->tickets_received ? (unsigned)stack->tickets_received(mine->connection) : 0;
}

static void full_failure(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES])
{
    const char *text = full(session)->error.text;
    snprintf(kind, TLC_FAILURE_BYTES, "%.*s", TLC_FAILURE_BYTES - 1,
             *text ? text : "library: no reason given");
    for (char *at = kind; *at; at++) // counted under JSON names, so plain characters only
        if (*at < ' ' || *at > '~')
            *at = '?';
}

static bool full_write(struct tlc_session *session, const uint8_t *bytes, size_t count)
{
    struct full_session *mine = full(session);
    while (count) {
        size_t done = 0;
        if (mine->context->stack->write(mine->connection, bytes, count, &done, &mine->error) !=
            TLC_STEP_DONE)
            return false;
        bytes += done;
        count -= done;
    }
    return true;
}

static const uint8_t *full_received(struct tlc_session *session, size_t *count)
{
    *count = full(session)->received;
    return full(session)->data;
}

static bool full_close(struct tlc_session *session)
{
    struct full_session *mine = full(session);
    return mine->context->stack->close(mine->connection, &mine->error) != TLC_STEP_FAILED;
}

const struct tlc_engine_kind tlc_engine_full = {
    .name = "full",
    .context_new = full_context_new,
    .context_free = full_context_free,
    .session_new = full_session_new,
    .session_free = full_session_free,
    .start = full_start,
    .output = full_output,
    .output_sent = full_output_sent,
    .input = full_input,
    .hello_seen = full_hello_seen,
    .facts = full_facts,
    .resumed = full_resumed,
    .tickets = full_tickets,
    .failure = full_failure,
    .write = full_write,
    .received = full_received,
    .close = full_close,
};
