// Builds the ClientHello (RFC 8446, 4.1.2): prepared extensions, key share, then what a
// HelloRetryRequest or a ticket adds; pre_shared_key stands last (4.2.11).
#include <string.h>

#include "base/names.h"
#include "tls13/handshake.h"

// Bytes around the variable parts: headers, random, session id, ciphers, extension headers.
#define FRAME_BYTES 256

struct writer {
    uint8_t *at;
};

static void fill_number(uint8_t *at, unsigned width, size_t value)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

static void put(struct writer *out, unsigned width, size_t value)
{
    fill_number(out->at, width, value);
    out->at += width;
}

static void put_bytes(struct writer *out, const uint8_t *bytes, size_t count)
{
    memcpy(out->at, bytes, count);
    out->at += count;
}

static const uint8_t *share_bytes(struct tlc_tls13_client *client, uint8_t *honest)
{
    const struct tlc_tls13_config *config = client->config;
    struct tlc_standing_share *standing;
    if (config->share == TLC_SHARE_HONEST)
        return tlc_key_pair_make(&config->runtime->maker, client->now.group, &client->pair, honest)
                   ? honest
                   : NULL;
    standing = tlc_config_standing_share(config, client->now.group_index);
    if (standing == NULL)
        return NULL;
    return config->share == TLC_SHARE_REUSED ? standing->share : standing->cheap.share;
}

static void put_key_share(struct writer *out, uint16_t group, const uint8_t *share, size_t count)
{
    put(out, 2, TLC_EXTENSION_KEY_SHARE);
    put(out, 2, count + 6);
    put(out, 2, count + 4);
    put(out, 2, group);
    put(out, 2, count);
    put_bytes(out, share, count);
}

static void put_server_name(struct writer *out, const char *name) // RFC 6066, 3
{
    size_t count = strlen(name);
    put(out, 2, TLC_EXTENSION_SERVER_NAME);
    put(out, 2, count + 5);
    put(out, 2, count + 3);
    put(out, 1, 0);
    put(out, 2, count);
    put_bytes(out, (const uint8_t *)name, count);
}

static void put_padding(struct writer *out, size_t count) // RFC 7685, 3
{
    put(out, 2, TLC_EXTENSION_PADDING);
    put(out, 2, count);
    memset(out->at, 0, count);
    out->at += count;
}

static void put_cookie(struct writer *out, struct tlc_reader cookie)
{
    put(out, 2, TLC_EXTENSION_COOKIE);
    put(out, 2, cookie.left + 2);
    put(out, 2, cookie.left);
    put_bytes(out, cookie.at, cookie.left);
}

// pre_shared_key with one identity; returns where the binders list begins.
static uint8_t *put_psk(struct writer *out, const struct tlc_ticket_offer *offer, uint64_t now_ms)
{
    size_t identity = offer->identity.count, binder = tlc_hash_bytes(offer->hash);
    put(out, 2, TLC_EXTENSION_PRE_SHARED_KEY);
    put(out, 2, 2 + 2 + identity + 4 + 2 + 1 + binder);
    put(out, 2, 2 + identity + 4);
    put(out, 2, identity);
    put_bytes(out, offer->identity.bytes, identity);
    put(out, 4, tlc_ticket_obfuscated_age(offer, now_ms));
    uint8_t *binders = out->at;
    put(out, 2, 1 + binder);
    put(out, 1, binder);
    out->at += binder;
    return binders;
}

// Fills the binder over the transcript so far and the ClientHello up to the binders list.
static void fill_binder(struct tlc_tls13_client *client, const uint8_t *hello, uint8_t *binders)
{
    uint8_t digest[TLC_HASH_MAX_BYTES];
    const struct tlc_ticket_offer *offer = &client->offer;
    struct tlc_hash hash;
    if (client->now.suite != NULL) // after a HelloRetryRequest
        hash = client->schedule.transcript;
    else
        tlc_hash_init(&hash, offer->hash);
    tlc_hash_update(&hash, hello, (size_t)(binders - hello));
    tlc_hash_snapshot(&hash, digest);
    tlc_psk_binder(offer->hash, offer->psk, digest, binders + 3);
}

static void put_fields(struct writer *out, const struct tlc_tls13_client *client)
{
    const struct tlc_tls13_config *config = client->config;
    put(out, 2, TLC_TLS12);
    put_bytes(out, client->now.random, TLC_RANDOM_BYTES);
    put(out, 1, TLC_RANDOM_BYTES); // a session id, for middlebox compatibility (RFC 8446, D.4)
    put_bytes(out, client->now.session_id, TLC_RANDOM_BYTES);
    put(out, 2, 2 * config->cipher_count);
    for (size_t i = 0; i < config->cipher_count; i++)
        put(out, 2, config->ciphers[i]);
    put(out, 2, 0x0100); // compression_methods: null
}

static size_t hello_room(const struct tlc_tls13_client *client, struct tlc_reader cookie)
{
    return FRAME_BYTES + client->config->extensions.count + TLC_SHARE_MAX_BYTES + cookie.left +
           client->config->padding_bytes + client->offer.identity.count +
           (client->name != NULL ? strlen(client->name->server_name) : 0);
}

bool tlc_client_hello_put(struct tlc_tls13_client *client, struct tlc_reader cookie)
{
    const struct tlc_tls13_config *config = client->config;
    uint8_t honest[TLC_SHARE_MAX_BYTES], *binders = NULL;
    const uint8_t *share = share_bytes(client, honest);
    if (share == NULL)
        return tlc_client_crypto_failed(client);
    if (!tlc_buffer_reserve(&client->out, hello_room(client, cookie)))
        return tlc_client_out_of_memory(client);
    uint8_t *record = client->out.bytes + client->out.count;
    uint8_t *hello = record + TLC_RECORD_HEADER_BYTES;
    struct writer out = {hello + 4};
    put_fields(&out, client);
    uint8_t *extensions = out.at;
    out.at += 2;
    if (client->name != NULL)
        put_server_name(&out, client->name->server_name);
    put_bytes(&out, config->extensions.bytes, config->extensions.count);
    put_key_share(&out, client->now.group->code, share, tlc_group_client_bytes(client->now.group));
    if (cookie.left > 0)
        put_cookie(&out, cookie);
    if (config->padding_bytes > 0)
        put_padding(&out, config->padding_bytes);
    if (client->offer.present)
        binders = put_psk(&out, &client->offer, client->now_ms);
    size_t count = (size_t)(out.at - hello);
    fill_number(extensions, 2, (size_t)(out.at - extensions) - 2);
    fill_number(hello, 4, count - 4);
    hello[0] = TLC_MESSAGE_CLIENT_HELLO;
    if (count > TLC_MAX_PLAINTEXT)
        return tlc_client_fault(client, TLC_ALERT_INTERNAL_ERROR, "internal",
                                "ClientHello: larger than one record; ask for less padding");
    record[0] = TLC_RECORD_HANDSHAKE;
    fill_number(record + 1, 2, client->now.suite == NULL ? 0x0301 : TLC_TLS12); // RFC 8446, 5.1
    fill_number(record + 3, 2, count);
    if (binders != NULL)
        fill_binder(client, hello, binders);
    client->now.hello_bytes = count;
    client->out.count += TLC_RECORD_HEADER_BYTES + count;
    return true;
}
