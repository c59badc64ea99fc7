// The lean TLS 1.3 client as an engine.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "generator/engine.h"
#include "generator/visits.h"

enum { TICKETS_KEPT = 8192 };

// A name to be visited, with what its certificate must be.
struct place {
    struct tlc_tls13_name name;
    char host[TLC_CERTS_HOST_BYTES];
    uint8_t sha256[32];
};

struct lean_context {
    struct tlc_engine_context base;
    struct tlc_tls13_config *config;
    struct tlc_tls13_ticket *tickets; // NULL: nothing is to be resumed
    struct tlc_ticket_places places;
    struct place *names; // NULL: one name for all
    struct tlc_visits visits;
    bool partial;          // handshakes stop at the server's first answer
    size_t visitors, seen; // clients that take turns, and how many of them have been here
};

struct lean_session {
    struct tlc_session base;
    struct lean_context *context;
    struct tlc_tls13_client *client;
};

static struct lean_session *lean(const struct tlc_session *session)
{
    return (struct lean_session *)(uintptr_t)session;
}

static const uint16_t default_groups[] = {TLC_GROUP_X25519};
static const uint16_t default_ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                           TLC_CHACHA20_POLY1305_SHA256};

static void lean_context_free(struct tlc_engine_context *context)
{
    struct lean_context *mine = (struct lean_context *)context;
    tlc_tls13_config_free(mine->config);
    free(mine->tickets);
    tlc_visits_free(&mine->visits);
    free(mine->names);
    free(mine);
}

// The certificates are read from where the server's were read, but not through the server.
static enum tlc_status know_names(const struct tlc_target_options *options,
                                  struct lean_context *context, struct tlc_error *error)
{
    struct tlc_certs_numbered numbered;
    enum tlc_status status = tlc_certs_numbered_read(options->names_folder, options->names_key_type,
                                                     options->names, &numbered, error);
    if (status != TLC_OK)
        return status;
    context->names = calloc(options->names, sizeof *context->names);
    if (!context->names || !tlc_visits_init(&context->visits, options->names, options->visits_zipf,
                                            options->visits_seed))
        status = tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    for (size_t i = 0; status == TLC_OK && i < options->names; i++) {
        struct place *place = &context->names[i];
        tlc_certs_numbered_host(i, place->host);
        place->name = (struct tlc_tls13_name){place->host, place->sha256};
        if (!tlc_certs_pem_sha256(numbered.chains[i], place->sha256))
            status = tlc_fail(error, TLC_ENVIRONMENT, "target: %s: its certificate is not PEM",
                              place->host);
    }
    tlc_certs_numbered_free(&numbered);
    return status;
}

static enum tlc_status lean_context_new(const struct tlc_target_options *options,
                                        struct tlc_engine_context **context,
                                        struct tlc_error *error)
{
    const struct tlc_tls13_options tls13 = {
        .groups = options->group_count ? options->groups : default_groups,
        .group_count = options->group_count ? options->group_count : 1,
        .ciphers = options->cipher_count ? options->ciphers : default_ciphers,
        .cipher_count = options->cipher_count ? options->cipher_count : 3,
        .share = options->share,
        .stop = options->stop,
        .server_name = options->names ? NULL : options->server_name,
        .alpn = options->alpn,
        .verify_every = options->verify_every,
        .certificate_sha256 =
            options->expect.certificate_known ? options->expect.certificate_sha256 : NULL,
        .wrong_share_first = options->wrong_share_first,
        .padding_bytes = options->padding_bytes,
        .psk_modes = options->psk_modes ? options->psk_modes : TLC_PSK_DHE_KE,
        .count_tickets_only = options->resume_ratio <= 0,
    };
    struct lean_context *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    made->base.kind = &tlc_engine_lean;
    made->partial =
        options->stop == TLC_STOP_AFTER_CLIENT_HELLO || options->stop == TLC_STOP_AFTER_HELLO_RETRY;
    enum tlc_status status = tlc_tls13_config_new(&tls13, &made->config, error);
    if (status == TLC_OK && options->names)
        status = know_names(options, made, error);
    if (status == TLC_OK && options->resume_ratio > 0) {
        made->visitors = options->visitors;
        made->places.capacity = options->visitors ? options->visitors : TICKETS_KEPT;
        made->tickets = calloc(made->places.capacity, sizeof *made->tickets);
        if (!made->tickets)
            status = tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    }
    if (status == TLC_OK)
        *context = &made->base;
    else
        lean_context_free(&made->base);
    return status;
}

static struct tlc_session *lean_session_new(struct tlc_engine_context *context)
{
    struct lean_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->base.kind = &tlc_engine_lean;
    session->context = (struct lean_context *)context;
    session->client = tlc_tls13_client_new();
    if (session->client)
        return &session->base;
    free(session);
    return NULL;
}

static void lean_session_free(struct tlc_session *session)
{
    tlc_tls13_client_free(lean(session)->client);
    free(session);
}

static enum tlc_session_state state_of(enum tlc_tls13_state state)
{
    switch (state) {
    case TLC_TLS13_WAIT:
        return TLC_SESSION_WAIT;
    case TLC_TLS13_DONE:
        return TLC_SESSION_DONE;
    case TLC_TLS13_STOPPED:
        return TLC_SESSION_STOPPED;
    case TLC_TLS13_FAILED:
        break;
    }
    return TLC_SESSION_FAILED;
}

static bool next_place(struct lean_context *context, size_t *place)
{
    return context->visitors ? tlc_ticket_place_oldest(&context->places, place)
                             : tlc_ticket_place_newest(&context->places, place);
}

// The newest ticket that the server still honours, or that of the client whose turn it is; NULL
// when there is none. It is not offered again.
static const struct tlc_tls13_ticket *take_ticket(struct lean_context *context, uint64_t now_ms)
{
    size_t place;
    while (next_place(context, &place))
        if (tlc_tls13_ticket_fresh(&context->tickets[place], now_ms))
            return &context->tickets[place];
    return NULL;
}

static void keep_tickets(struct lean_session *session)
{
    struct lean_context *context = session->context;
    struct tlc_tls13_ticket ticket;
    while (tlc_tls13_take_ticket(session->client, &ticket))
        context->tickets[tlc_ticket_place_new(&context->places)] = ticket;
}

static const struct tlc_tls13_ticket *choose_ticket(struct lean_context *context, uint64_t now_ms)
{
    if (context->tickets && context->seen < context->visitors) {
        context->seen++;
        return NULL;
    }
    if (!context->tickets || !tlc_resumption_due(&context->base.resumption, context->places.count))
        return NULL;
    const struct tlc_tls13_ticket *ticket = take_ticket(context, now_ms);
    if (!ticket)
        context->base.resumption.owed += 1; // only stale ones were left
    return ticket;
}

static enum tlc_session_state lean_start(struct tlc_session *session, uint64_t now_ms,
                                         bool *offered)
{
    struct lean_session *mine = lean(session);
    const struct tlc_tls13_ticket *ticket = choose_ticket(mine->context, now_ms);
    *offered = ticket != NULL;
    if (mine->context->names)
        tlc_tls13_visit(mine->client,
                        &mine->context->names[tlc_visits_next(&mine->context->visits)].name);
    if (tlc_tls13_start(mine->client, mine->context->config, ticket, now_ms, NULL) != TLC_OK)
        return TLC_SESSION_FAILED;
    return state_of(tlc_tls13_state(mine->client));
}

static const uint8_t *lean_output(struct tlc_session *session, size_t *count)
{
    return tlc_tls13_output(lean(session)->client, count);
}

static void lean_output_sent(struct tlc_session *session, size_t count)
{
    tlc_tls13_output_sent(lean(session)->client, count);
}

static enum tlc_session_state lean_input(struct tlc_session *session, const uint8_t *bytes,
                                         size_t count, uint64_t now_ms)
{
    struct lean_session *mine = lean(session);
    enum tlc_tls13_state state = tlc_tls13_input(mine->client, bytes, count, now_ms);
    if (mine->context->tickets && state == TLC_TLS13_DONE)
        keep_tickets(mine);
    return state_of(state);
}

static bool lean_resumed(struct tlc_session *session)
{
    return tlc_tls13_evidence(lean(session)->client)->resumed;
}

static bool lean_hello_seen(const struct tlc_session *session)
{
    return tlc_tls13_server_hello_seen(lean(session)->client);
}

static bool lean_facts(struct tlc_session *session, struct tlc_facts *facts)
{
    static const uint8_t none[32];
    const struct tlc_tls13_evidence *evidence = tlc_tls13_evidence(lean(session)->client);
    *facts = (struct tlc_facts){
        .version = evidence->version,
        .cipher = evidence->cipher,
        .group = evidence->group,
        .hello_retry_request = evidence->hello_retry_request,
        .cookie = evidence->cookie,
        .partial = lean(session)->context->partial,
        .resumed = evidence->resumed,
        .signature_verified = evidence->signature_verified,
        .psk_mode = evidence->psk_mode,
        .alpn = evidence->alpn,
    };
    if (memcmp(evidence->certificate_sha256, none, sizeof none) != 0)
        facts->certificate_sha256 = evidence->certificate_sha256;
    return true;
}

static unsigned lean_tickets(struct tlc_session *session)
{
    return tlc_tls13_evidence(lean(session)->client)->tickets;
}

static void lean_failure(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES])
{
    const struct tlc_tls13_client *client = lean(session)->client;
    const char *word = tlc_tls13_failure_kind(client);
    snprintf(kind, TLC_FAILURE_BYTES, "%s", word && *word ? word : "start");
    // "server alert: NAME" is counted by the alert's name.
    const char *text = tlc_tls13_failure(client);
    const char *name = text ? strstr(text, "alert: ") : NULL;
    if (!strcmp(kind, "alert") && name)
        snprintf(kind, TLC_FAILURE_BYTES, "alert-%s", name + strlen("alert: "));
}

static bool lean_write(struct tlc_session *session, const uint8_t *bytes, size_t count)
{
    return tlc_tls13_write(lean(session)->client, bytes, count, NULL) == TLC_OK;
}

static const uint8_t *lean_received(struct tlc_session *session, size_t *count)
{
    return tlc_tls13_application_data(lean(session)->client, count);
}

static bool lean_close(struct tlc_session *session)
{
    return tlc_tls13_close(lean(session)->client, NULL) == TLC_OK;
}

const struct tlc_engine_kind tlc_engine_lean = {
    .name = "lean",
    .output_stays = true,
    .stops = true,
    .context_new = lean_context_new,
    .context_free = lean_context_free,
    .session_new = lean_session_new,
    .session_free = lean_session_free,
    .start = lean_start,
    .output = lean_output,
    .output_sent = lean_output_sent,
    .input = lean_input,
    .hello_seen = lean_hello_seen,
    .facts = lean_facts,
    .resumed = lean_resumed,
    .tickets = lean_tickets,
    .failure = lean_failure,
    .write = lean_write,
    .received = lean_received,
    .close = lean_close,
};
