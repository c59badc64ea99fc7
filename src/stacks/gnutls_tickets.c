// Resumption: ticket keys of servers, sessions of clients.
//
// GnuTLS has one key a session, of which it derives a new one three times a ticket's lifetime: a
// ticket begins with 16 bytes of SHA3-512(period || key). So a server with several keys looks at
// the ticket that a ClientHello brings and gives the session the key which that one is of; the
// tickets that follow are of the same key.
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/names.h"
#include "stacks/gnutls_plugin.h"

enum { NAME = 16, MASTER = 64, DIGEST = 64, PERIODS = 3, LIFETIME_MOST_S = 604800 };
enum { SESSION_TICKET = 35, PRE_SHARED_KEY = 41 }; // RFC 5077, 3.2; RFC 8446, 4.2
enum { LIBRARY_TICKETS = 2 };                      // after a TLS 1.3 handshake

static void master_of(const struct tlc_ticket_key *key, unsigned char master[MASTER])
{
    memcpy(master, key->aes, sizeof key->aes);
    memcpy(master + sizeof key->aes, key->hmac, sizeof key->hmac);
}

static int enable(gnutls_session_t session, const struct tlc_ticket_key *key)
{
    unsigned char master[MASTER];
    gnutls_datum_t datum = {master, MASTER};
    master_of(key, master);
    int code = gnutls_session_ticket_enable_server(session, &datum);
    gnutls_memset(master, 0, sizeof master);
    return code;
}

static bool is_of_period(const unsigned char master[MASTER], uint64_t period,
                         const unsigned char *name)
{
    unsigned char bytes[8 + MASTER], digest[DIGEST];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(period >> (56 - 8 * i));
    memcpy(bytes + 8, master, MASTER);
    bool same = !gnutls_hash_fast(GNUTLS_DIG_SHA3_512, bytes, sizeof bytes, digest) &&
                !memcmp(digest, name, NAME);
    gnutls_memset(bytes, 0, sizeof bytes);
    return same;
}

static bool is_key_of(const struct tlc_stack_context *context, const struct tlc_ticket_key *key,
                      const unsigned char *name)
{
    unsigned char master[MASTER];
    uint64_t period = (uint64_t)time(NULL) / ((uint64_t)context->lifetime_s * PERIODS);
    master_of(key, master);
    bool same = is_of_period(master, period, name) || is_of_period(master, period - 1, name);
    gnutls_memset(master, 0, sizeof master);
    return same;
}

// Keeps the first bytes of an offered ticket; of a pre-shared key they stand behind the lengths of
// the list and of its first identity (RFC 8446, 4.2.11).
static int find_ticket(void *argument, unsigned type, const unsigned char *bytes, unsigned count)
{
    unsigned char *name = argument;
    unsigned skipped = type == PRE_SHARED_KEY ? 4 : 0;
    if ((type == SESSION_TICKET || type == PRE_SHARED_KEY) && count >= skipped + NAME)
        memcpy(name, bytes + skipped, NAME);
    return 0;
}

// The ClientHello is seen before the library looks at its extensions.
static int choose_key(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                      const gnutls_datum_t *message)
{
    (void)type;
    (void)when;
    (void)incoming;
    struct tlc_stack_connection *connection = gnutls_session_get_ptr(session);
    struct tlc_stack_context *context = connection->context;
    unsigned char name[NAME] = {0};
    struct tlc_ticket_key key, first;
    if (connection->has_ticket_key) // the ClientHello after a HelloRetryRequest
        return 0;
    connection->has_ticket_key = true;
    int code =
        gnutls_ext_raw_parse(name, find_ticket, message, GNUTLS_EXT_RAW_FLAG_TLS_CLIENT_HELLO);
    if (code < 0)
        return code;
    bool found = false;
    for (size_t i = 0; !found && tlc_ticket_keys_at(&context->tickets, i, &key); i++) {
        if (!i)
            first = key;
        found = is_key_of(context, &key, name);
    }
    code = enable(session, found ? &key : &first);
    gnutls_memset(&key, 0, sizeof key);
    gnutls_memset(&first, 0, sizeof first);
    return code;
}

static int attach_key(struct tlc_stack_connection *connection)
{
    struct tlc_stack_context *context = connection->context;
    struct tlc_ticket_key key, second;
    if (!context->has_ticket_keys)
        return gnutls_session_ticket_enable_server(connection->session, &context->own_key);
    if (!tlc_ticket_keys_at(&context->tickets, 0, &key))
        return GNUTLS_E_INTERNAL_ERROR;
    bool several = tlc_ticket_keys_at(&context->tickets, 1, &second);
    int code = 0;
    if (several)
        gnutls_handshake_set_hook_function(connection->session, GNUTLS_HANDSHAKE_CLIENT_HELLO,
                                           GNUTLS_HOOK_PRE, choose_key);
    else
        code = enable(connection->session, &key);
    gnutls_memset(&key, 0, sizeof key);
    gnutls_memset(&second, 0, sizeof second);
    return code;
}

static int count_ticket(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                        const gnutls_datum_t *message)
{
    (void)type;
    (void)when;
    (void)message;
    struct tlc_stack_connection *connection = gnutls_session_get_ptr(session);
    connection->tickets += incoming != 0;
    return 0;
}

bool gtls_tickets_set_up(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                         struct tlc_stack_error *error)
{
    context->ticket_mode = config->ticket_mode;
    context->tickets_per_handshake = config->tickets_per_handshake;
    context->lifetime_s = config->session_lifetime_s ? config->session_lifetime_s
                                                     : gnutls_db_get_default_cache_expiration();
    if (context->lifetime_s > LIFETIME_MOST_S)
        context->lifetime_s = LIFETIME_MOST_S;
    if (context->role == TLC_STACK_CLIENT)
        return true;
    if (config->ticket_mode == TLC_TICKETS_STATEFUL)
        return tlc_neutral_refuse(
            error, "stateful sessions: GnuTLS keeps no TLS 1.3 sessions in the server");
    context->has_ticket_keys = config->ticket_key_count > 0;
    if (context->has_ticket_keys)
        return tlc_ticket_keys_replace(&context->tickets, config->ticket_keys,
                                       config->ticket_key_count, error);
    int code = gnutls_session_ticket_key_generate(&context->own_key);
    if (code)
        gtls_explain(error, "ticket key", code);
    return code == 0;
}

int gtls_tickets_attach(struct tlc_stack_connection *connection)
{
    if (connection->transport.client) {
        gnutls_handshake_set_hook_function(connection->session, GNUTLS_HANDSHAKE_NEW_SESSION_TICKET,
                                           GNUTLS_HOOK_POST, count_ticket);
        return 0;
    }
    gnutls_db_set_cache_expiration(connection->session, (int)connection->context->lifetime_s);
    return connection->context->ticket_mode == TLC_TICKETS_OFF ? 0 : attach_key(connection);
}

// As many as asked for after a full handshake, one after a resumption.
static void plan_tickets(struct tlc_stack_connection *connection)
{
    const struct tlc_stack_context *context = connection->context;
    bool ours = !connection->transport.client && context->ticket_mode != TLC_TICKETS_OFF &&
                gtls_sends_tickets_itself(context) &&
                gnutls_protocol_get_version(connection->session) == GNUTLS_TLS1_3;
    connection->tickets_planned = true;
    if (!ours)
        return;
    unsigned asked = (unsigned)context->tickets_per_handshake;
    connection->tickets_to_send =
        gnutls_session_is_resumed(connection->session) && asked ? 1 : asked;
}

bool gtls_sends_tickets_itself(const struct tlc_stack_context *context)
{
    return context->tickets_per_handshake >= 0 && context->tickets_per_handshake != LIBRARY_TICKETS;
}

int gtls_tickets_send(struct tlc_stack_connection *connection)
{
    if (!connection->tickets_planned)
        plan_tickets(connection);
    if (!connection->tickets_to_send)
        return 0;
    int code = gnutls_session_ticket_send(connection->session, connection->tickets_to_send, 0);
    if (!code)
        connection->tickets_to_send = 0;
    return code;
}

bool gtls_ticket_keys_replace(struct tlc_stack_context *context, const struct tlc_ticket_key *keys,
                              size_t count, struct tlc_stack_error *error)
{
    return tlc_ticket_keys_renew(&context->tickets, context->has_ticket_keys, keys, count, error);
}

// A TLS 1.2 session can have an id and no ticket.
static bool has_older_session(const struct tlc_stack_connection *connection)
{
    gnutls_datum_t id = {NULL, 0};
    return connection->finished && connection->transport.client &&
           gnutls_protocol_get_version(connection->session) == GNUTLS_TLS1_2 &&
           !gnutls_session_is_resumed(connection->session) &&
           gnutls_session_get_id2(connection->session, &id) == 0 && id.size;
}

size_t gtls_tickets_received(struct tlc_stack_connection *connection)
{
    return connection->tickets ? connection->tickets : has_older_session(connection);
}

size_t gtls_session_export(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity)
{
    size_t received = gtls_tickets_received(connection);
    if (received != connection->serialised) {
        gnutls_datum_t fresh = {NULL, 0};
        if (gnutls_session_get_data2(connection->session, &fresh))
            return 0;
        gtls_forget_session(connection);
        connection->state = fresh;
        connection->serialised = received;
    }
    size_t size = connection->state.size;
    if (!bytes)
        return size;
    if (!size || size > capacity)
        return 0;
    memcpy(bytes, connection->state.data, size);
    return size;
}

void gtls_forget_session(struct tlc_stack_connection *connection)
{
    if (connection->state.data)
        gnutls_memset(connection->state.data, 0, connection->state.size);
    gnutls_free(connection->state.data);
    connection->state = (gnutls_datum_t){NULL, 0};
}
