// Resumption: ticket keys of servers, sessions of clients.
#include <mbedtls/aes.h>
#include <mbedtls/constant_time.h>
#include <mbedtls/md.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "stacks/mbedtls_plugin.h"

// A ticket under explicit keys: name, iv, state in AES-256-CBC, HMAC-SHA-256 over all (RFC 5077,
// 4). The state begins with its length.
enum { NAME = 16, IV = 16, MAC = 32, BLOCK = 16, STATE_LENGTH = 2, DEFAULT_LIFETIME_S = 7200 };

static int make_mac(const struct tlc_ticket_key *key, const unsigned char *bytes, size_t count,
                    unsigned char mac[MAC])
{
    return mbedtls_md_hmac(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), key->hmac,
                           sizeof key->hmac, bytes, count, mac);
}

static int run_cipher(const struct tlc_ticket_key *key, const unsigned char *iv,
                      unsigned char *bytes, size_t count, int mode)
{
    unsigned char chain[IV];
    mbedtls_aes_context aes;
    mbedtls_aes_init(&aes);
    memcpy(chain, iv, IV);
    int code = mode == MBEDTLS_AES_ENCRYPT ? mbedtls_aes_setkey_enc(&aes, key->aes, 256)
                                           : mbedtls_aes_setkey_dec(&aes, key->aes, 256);
    if (!code)
        code = mbedtls_aes_crypt_cbc(&aes, mode, count, chain, bytes, bytes);
    mbedtls_aes_free(&aes);
    return code;
}

static int seal(struct tlc_stack_context *context, const struct tlc_ticket_key *key,
                const mbedtls_ssl_session *session, unsigned char *start, size_t capacity,
                size_t *size)
{
    unsigned char *iv = start + NAME, *state = iv + IV;
    size_t clear = 0;
    if (capacity < NAME + IV + STATE_LENGTH + BLOCK + MAC)
        return MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
    size_t most = capacity - NAME - IV - STATE_LENGTH - BLOCK - MAC;
    int code = mbedtls_ssl_session_save(session, state + STATE_LENGTH, most, &clear);
    if (!code && clear > UINT16_MAX)
        code = MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
    if (code)
        return code;
    state[0] = (unsigned char)(clear >> 8);
    state[1] = (unsigned char)clear;
    size_t padded = (STATE_LENGTH + clear + BLOCK - 1) / BLOCK * BLOCK;
    memset(state + STATE_LENGTH + clear, 0, padded - STATE_LENGTH - clear);
    memcpy(start, key->name, NAME);
    code = mbedtls_ctr_drbg_random(&context->random, iv, IV);
    if (!code)
        code = run_cipher(key, iv, state, padded, MBEDTLS_AES_ENCRYPT);
    if (!code)
        code = make_mac(key, start, NAME + IV + padded, state + padded);
    *size = NAME + IV + padded + MAC;
    return code;
}

static int write_ticket(void *argument, const mbedtls_ssl_session *session, unsigned char *start,
                        const unsigned char *end, size_t *size, uint32_t *lifetime_s)
{
    struct tlc_stack_context *context = argument;
    struct tlc_ticket_key key;
    if (tlc_ticket_keys_find(&context->tickets, NULL, &key) < 0)
        return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    int code = seal(context, &key, session, start, (size_t)(end - start), size);
    explicit_bzero(&key, sizeof key);
    *lifetime_s = context->lifetime_s;
    return code;
}

static int unseal(const struct tlc_ticket_key *key, unsigned char *ticket, size_t size,
                  mbedtls_ssl_session *session)
{
    unsigned char mac[MAC], *state = ticket + NAME + IV;
    size_t padded = size - NAME - IV - MAC;
    int code = make_mac(key, ticket, size - MAC, mac);
    if (!code && mbedtls_ct_memcmp(mac, ticket + size - MAC, MAC))
        code = MBEDTLS_ERR_SSL_INVALID_MAC;
    if (!code)
        code = run_cipher(key, ticket + NAME, state, padded, MBEDTLS_AES_DECRYPT);
    if (code)
        return code;
    size_t clear = (size_t)state[0] << 8 | state[1];
    if (clear > padded - STATE_LENGTH)
        return MBEDTLS_ERR_SSL_BAD_INPUT_DATA;
    return mbedtls_ssl_session_load(session, state + STATE_LENGTH, clear);
}

static int parse_ticket(void *argument, mbedtls_ssl_session *session, unsigned char *ticket,
                        size_t size)
{
    struct tlc_stack_context *context = argument;
    struct tlc_ticket_key key;
    mbedtls_ms_time_t made;
    if (size < NAME + IV + BLOCK + MAC || (size - NAME - IV - MAC) % BLOCK)
        return MBEDTLS_ERR_SSL_BAD_INPUT_DATA;
    if (tlc_ticket_keys_find(&context->tickets, ticket, &key) < 0)
        return MBEDTLS_ERR_SSL_SESSION_TICKET_EXPIRED;
    int code = unseal(&key, ticket, size, session);
    explicit_bzero(&key, sizeof key);
    if (!code)
        code = mbedtls_ssl_session_get_ticket_creation_time(session, &made);
    if (!code && mbedtls_ms_time() - made > (mbedtls_ms_time_t)context->lifetime_s * 1000)
        code = MBEDTLS_ERR_SSL_SESSION_TICKET_EXPIRED;
    return code;
}

bool mbedtls_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    mbedtls_ssl_config *own = &context->config;
    if (context->role == TLC_STACK_CLIENT) {
        mbedtls_ssl_conf_session_tickets(own, MBEDTLS_SSL_SESSION_TICKETS_ENABLED);
        mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
            own, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
        return true;
    }
    context->lifetime_s =
        config->session_lifetime_s ? config->session_lifetime_s : DEFAULT_LIFETIME_S;
    if (config->ticket_mode == TLC_TICKETS_STATEFUL) {
        snprintf(error->text, sizeof error->text,
                 "stateful sessions: Mbed TLS keeps no TLS 1.3 sessions in the server");
        return false;
    }
    if (config->ticket_mode == TLC_TICKETS_OFF) {
        mbedtls_ssl_conf_new_session_tickets(own, 0);
        return true;
    }
    if (config->tickets_per_handshake >= 0)
        mbedtls_ssl_conf_new_session_tickets(own, (uint16_t)config->tickets_per_handshake);
    context->has_ticket_keys = config->ticket_key_count > 0;
    if (context->has_ticket_keys) {
        mbedtls_ssl_conf_session_tickets_cb(own, write_ticket, parse_ticket, context);
        return tlc_ticket_keys_replace(&context->tickets, config->ticket_keys,
                                       config->ticket_key_count, error);
    }
    int code =
        mbedtls_ssl_ticket_setup(&context->own_tickets, mbedtls_ctr_drbg_random, &context->random,
                                 MBEDTLS_CIPHER_AES_256_GCM, context->lifetime_s);
    mbedtls_ssl_conf_session_tickets_cb(own, mbedtls_ssl_ticket_write, mbedtls_ssl_ticket_parse,
                                        &context->own_tickets);
    if (code)
        mbedtls_explain(error, "ticket keys", code);
    return code == 0;
}

bool mbedtls_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error)
{
    return tlc_ticket_keys_renew(&context->tickets, context->has_ticket_keys, keys, count, error);
}

static void serialise(struct tlc_stack_connection *connection, const mbedtls_ssl_session *session)
{
    size_t size = 0;
    mbedtls_ssl_session_save(session, NULL, 0, &size);
    uint8_t *bytes = size ? malloc(size) : NULL;
    if (!bytes || mbedtls_ssl_session_save(session, bytes, size, &size)) {
        free(bytes);
        return;
    }
    free(connection->session);
    connection->session = bytes;
    connection->session_bytes = size;
    connection->tickets++;
}

void mbedtls_take_session(struct tlc_stack_connection *connection)
{
    mbedtls_ssl_session session;
    mbedtls_ssl_session_init(&session);
    if (mbedtls_ssl_get_session(&connection->ssl, &session) == 0)
        serialise(connection, &session);
    mbedtls_ssl_session_free(&session);
}

// A TLS 1.2 session is there at the handshake's end and can be taken once; in TLS 1.3 they come
// with their tickets.
static void take_older_session(struct tlc_stack_connection *connection)
{
    if (!connection->finished || connection->exported || !connection->transport.client)
        return;
    connection->exported = true;
    if (mbedtls_ssl_get_version_number(&connection->ssl) == MBEDTLS_SSL_VERSION_TLS1_2 &&
        connection->transport.watch.hello.ticket)
        mbedtls_take_session(connection);
}

size_t mbedtls_tickets_received(struct tlc_stack_connection *connection)
{
    take_older_session(connection);
    return connection->tickets;
}

size_t mbedtls_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity)
{
    take_older_session(connection);
    size_t size = connection->session_bytes;
    if (!bytes)
        return size;
    if (!size || size > capacity)
        return 0;
    memcpy(bytes, connection->session, size);
    return size;
}

bool mbedtls_offer_session(struct tlc_stack_connection *connection, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error)
{
    mbedtls_ssl_session session;
    mbedtls_ssl_session_init(&session);
    int code = mbedtls_ssl_session_load(&session, bytes, count);
    if (!code)
        code = mbedtls_ssl_set_session(&connection->ssl, &session);
    mbedtls_ssl_session_free(&session);
    if (code)
        mbedtls_explain(error, "session", code);
    return code == 0;
}
