// Resumption: ticket modes and keys of servers, sessions of clients.
#include "stacks/wolfssl_plugin.h"

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/hmac.h>
#include <wolfssl/wolfcrypt/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

// HMAC-SHA-256 over name, iv and ciphertext (RFC 5077, 4).
static bool make_mac(const struct tlc_ticket_key *key, const uint8_t *name, const uint8_t *iv,
                     const uint8_t *bytes, int count, uint8_t *mac)
{
    Hmac hmac;
    if (wc_HmacInit(&hmac, NULL, INVALID_DEVID))
        return false;
    bool good = !wc_HmacSetKey(&hmac, WC_SHA256, key->hmac, sizeof key->hmac) &&
                !wc_HmacUpdate(&hmac, name, WOLFSSL_TICKET_NAME_SZ) &&
                !wc_HmacUpdate(&hmac, iv, WOLFSSL_TICKET_IV_SZ) &&
                !wc_HmacUpdate(&hmac, bytes, (word32)count) && !wc_HmacFinal(&hmac, mac);
    wc_HmacFree(&hmac);
    return good;
}

static bool run_cipher(const struct tlc_ticket_key *key, const uint8_t *iv, uint8_t *bytes,
                       int count, bool encrypt)
{
    Aes aes;
    if (wc_AesInit(&aes, NULL, INVALID_DEVID))
        return false;
    bool good = !wc_AesSetKey(&aes, key->aes, sizeof key->aes, iv,
                              encrypt ? AES_ENCRYPTION : AES_DECRYPTION) &&
                !(encrypt ? wc_AesCbcEncrypt(&aes, bytes, bytes, (word32)count)
                          : wc_AesCbcDecrypt(&aes, bytes, bytes, (word32)count));
    wc_AesFree(&aes);
    return good;
}

static int encrypt_ticket(WOLFSSL *ssl, const struct tlc_ticket_key *key, uint8_t *name,
                          uint8_t *iv, uint8_t *mac, uint8_t *ticket, int count, int *out)
{
    // The state's own lengths end it, so that zeros up to the cipher's block do not matter.
    int padded = (count + AES_BLOCK_SIZE - 1) / AES_BLOCK_SIZE * AES_BLOCK_SIZE;
    if (padded > *out)
        return WOLFSSL_TICKET_RET_FATAL;
    memset(ticket + count, 0, (size_t)(padded - count));
    memcpy(name, key->name, WOLFSSL_TICKET_NAME_SZ);
    if (wc_RNG_GenerateBlock(wolfSSL_GetRNG(ssl), iv, WOLFSSL_TICKET_IV_SZ) ||
        !run_cipher(key, iv, ticket, padded, true) || !make_mac(key, name, iv, ticket, padded, mac))
        return WOLFSSL_TICKET_RET_FATAL;
    *out = padded;
    return WOLFSSL_TICKET_RET_OK;
}

static int decrypt_ticket(const struct tlc_ticket_key *key, const uint8_t *name, const uint8_t *iv,
                          const uint8_t *mac, uint8_t *ticket, int count, int *out)
{
    uint8_t wanted[WC_SHA256_DIGEST_SIZE], difference = 0;
    if (count % AES_BLOCK_SIZE || !make_mac(key, name, iv, ticket, count, wanted))
        return WOLFSSL_TICKET_RET_REJECT;
    for (size_t i = 0; i < sizeof wanted; i++)
        difference |= wanted[i] ^ mac[i];
    if (difference || !run_cipher(key, iv, ticket, count, false))
        return WOLFSSL_TICKET_RET_REJECT;
    *out = count;
    return WOLFSSL_TICKET_RET_OK;
}

static int use_ticket_key(WOLFSSL *ssl, unsigned char *name, unsigned char *iv, unsigned char *mac,
                          int encrypt, unsigned char *ticket, int count, int *out, void *argument)
{
    struct tlc_stack_context *context = argument;
    struct tlc_ticket_key key;
    ptrdiff_t index = tlc_ticket_keys_find(&context->tickets, encrypt ? NULL : name, &key);
    if (index < 0)
        return WOLFSSL_TICKET_RET_REJECT;
    int result = encrypt ? encrypt_ticket(ssl, &key, name, iv, mac, ticket, count, out)
                         : decrypt_ticket(&key, name, iv, mac, ticket, count, out);
    explicit_bzero(&key, sizeof key);
    // An old key's ticket is renewed (RFC 5077, 3.3). In TLS 1.3 every resumption brings a new
    // ticket, and the library takes the wish for one as a refusal.
    bool renew = index > 0 && wolfSSL_version(ssl) != TLC_TLS13;
    return result == WOLFSSL_TICKET_RET_OK && renew ? WOLFSSL_TICKET_RET_CREATE : result;
}

static void set_mode(WOLFSSL_CTX *ctx, const struct tlc_stack_config *config)
{
    wolfSSL_CTX_set_session_cache_mode(ctx, config->ticket_mode == TLC_TICKETS_STATEFUL
                                                ? WOLFSSL_SESS_CACHE_SERVER
                                                : WOLFSSL_SESS_CACHE_OFF);
    if (config->ticket_mode != TLC_TICKETS_STATELESS)
        wolfSSL_CTX_NoTicketTLSv12(ctx);
    // In TLS 1.3 the ticket is then the session's id in the cache.
    if (config->ticket_mode == TLC_TICKETS_STATEFUL)
        wolfSSL_CTX_set_options(ctx, WOLFSSL_OP_NO_TICKET);
    if (config->ticket_mode == TLC_TICKETS_OFF) {
        wolfSSL_CTX_no_ticket_TLSv13(ctx);
        wolfSSL_CTX_set_num_tickets(ctx, 0);
    } else if (config->tickets_per_handshake >= 0) {
        wolfSSL_CTX_set_num_tickets(ctx, (size_t)config->tickets_per_handshake);
    }
    if (config->session_lifetime_s) {
        wolfSSL_CTX_set_timeout(ctx, config->session_lifetime_s);
        wolfSSL_CTX_set_TicketHint(ctx, (int)config->session_lifetime_s);
    }
}

static void install_ticket_keys(struct tlc_stack_context *context, WOLFSSL_CTX *ctx)
{
    wolfSSL_CTX_set_TicketEncCb(ctx, use_ticket_key);
    wolfSSL_CTX_set_TicketEncCtx(ctx, context);
}

// The library's own keys belong to one of its contexts; those that stand behind server names need
// the same ones.
static bool make_random_key(struct tlc_ticket_key *key)
{
    WC_RNG random;
    if (wc_InitRng(&random))
        return false;
    bool good = !wc_RNG_GenerateBlock(&random, (byte *)key, sizeof *key);
    wc_FreeRng(&random);
    return good;
}

static bool check_cache(const struct tlc_stack_context *context,
                        const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    long most = wolfSSL_CTX_sess_get_cache_size(context->ctx);
    if (config->ticket_mode != TLC_TICKETS_STATEFUL || config->session_cache_entries <= most)
        return true;
    snprintf(error->text, sizeof error->text,
             "session cache: this build of wolfSSL holds %ld sessions in a process, %u are asked "
             "for; one with a larger cache is made by -DBIG_SESSION_CACHE or -DHUGE_SESSION_CACHE",
             most, config->session_cache_entries);
    return false;
}

bool wolfssl_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error)
{
    struct tlc_ticket_key key;
    const struct tlc_ticket_key *keys = config->ticket_keys;
    size_t count = config->ticket_key_count;
    if (!check_cache(context, config, error))
        return false;
    set_mode(context->ctx, config);
    for (size_t i = 0; i < context->named_count; i++)
        set_mode(context->named[i].ctx, config);
    if (config->ticket_mode != TLC_TICKETS_STATELESS || (!count && !context->named_count))
        return true;
    context->has_ticket_keys = count > 0;
    if (!count) {
        if (!make_random_key(&key))
            return false;
        keys = &key;
        count = 1;
    }
    install_ticket_keys(context, context->ctx);
    for (size_t i = 0; i < context->named_count; i++)
        install_ticket_keys(context, context->named[i].ctx);
    return tlc_ticket_keys_replace(&context->tickets, keys, count, error);
}

bool wolfssl_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error)
{
    return tlc_ticket_keys_renew(&context->tickets, context->has_ticket_keys, keys, count, error);
}

int wolfssl_count_session(WOLFSSL *ssl, WOLFSSL_SESSION *session)
{
    struct tlc_transport *transport = wolfSSL_GetIOReadCtx(ssl);
    struct tlc_stack_connection *connection =
        (void *)((char *)transport - offsetof(struct tlc_stack_connection, transport));
    connection->tickets += wolfSSL_SESSION_is_resumable(session) == 1;
    return 0; // the connection keeps the newest itself
}

size_t wolfssl_tickets_received(struct tlc_stack_connection *connection)
{
    return connection->tickets;
}

size_t wolfssl_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity)
{
    if (!connection->tickets)
        return 0;
    WOLFSSL_SESSION *session = wolfSSL_get1_session(connection->ssl);
    int needed = session ? wolfSSL_i2d_SSL_SESSION(session, NULL) : 0;
    size_t size = needed > 0 ? (size_t)needed : 0;
    if (bytes && size) {
        unsigned char *at = bytes;
        if (size > capacity || wolfSSL_i2d_SSL_SESSION(session, &at) != needed)
            size = 0;
    }
    wolfSSL_SESSION_free(session);
    return size;
}

bool wolfssl_offer_session(struct tlc_stack_connection *connection, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error)
{
    const unsigned char *at = bytes;
    WOLFSSL_SESSION *session =
        count > INT32_MAX ? NULL : wolfSSL_d2i_SSL_SESSION(NULL, &at, (long)count);
    bool good = session && wolfSSL_set_session(connection->ssl, session) == WOLFSSL_SUCCESS;
    if (!good)
        wolfssl_explain(error, "session: it cannot be offered", 0);
    wolfSSL_SESSION_free(session);
    return good;
}
