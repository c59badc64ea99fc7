// The exchange of two keys (provider-keyexch(7)).
#include <stdlib.h>
#include <string.h>

#include "providers/x25519_provider.h"

struct exchange {
    struct x25519_provider *provider;
    struct x25519_key *own, *peer; // references
};

static void *exchange_new(void *context)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange)
        exchange->provider = context;
    else
        x25519_fail(context, X25519_NO_MEMORY);
    return exchange;
}

static void exchange_free(void *context)
{
    struct exchange *exchange = context;
    x25519_key_free(exchange->own);
    x25519_key_free(exchange->peer);
    free(exchange);
}

static void keep(struct x25519_key **place, struct x25519_key *key)
{
    if (key)
        atomic_fetch_add(&key->references, 1);
    x25519_key_free(*place);
    *place = key;
}

static int exchange_init(void *context, void *key, const OSSL_PARAM list[])
{
    (void)list;
    struct exchange *exchange = context;
    struct x25519_key *own = key;
    if (!own || !own->has_private)
        return x25519_fail(exchange->provider, X25519_NO_KEY);
    keep(&exchange->own, own);
    return 1;
}

static int exchange_set_peer(void *context, void *key)
{
    struct exchange *exchange = context;
    struct x25519_key *peer = key;
    if (!peer || !peer->has_public)
        return x25519_fail(exchange->provider, X25519_NO_KEY);
    keep(&exchange->peer, peer);
    return 1;
}

static int exchange_derive(void *context, unsigned char *secret, size_t *bytes, size_t room)
{
    struct exchange *exchange = context;
    struct x25519_provider *provider = exchange->provider;
    if (!exchange->own || !exchange->peer)
        return x25519_fail(provider, X25519_NO_KEY);
    *bytes = TLC_X25519_BYTES;
    if (!secret)
        return 1;
    if (room < TLC_X25519_BYTES)
        return x25519_fail(provider, X25519_KEY_SIZE);
    // RFC 7748, section 6.1 and RFC 8446, section 7.4.2: a secret of zeros is refused.
    if (!x25519_derive(provider, secret, exchange->own->private_key, exchange->peer->public_key))
        return x25519_fail(provider, X25519_ZERO_SECRET);
    atomic_fetch_add_explicit(&provider->derives, 1, memory_order_relaxed);
    return 1;
}

static void *exchange_dup(void *context)
{
    const struct exchange *exchange = context;
    struct exchange *copy = exchange_new(exchange->provider);
    if (copy) {
        keep(&copy->own, exchange->own);
        keep(&copy->peer, exchange->peer);
    }
    return copy;
}

const OSSL_DISPATCH x25519_exchange_functions[] = {
    {OSSL_FUNC_KEYEXCH_NEWCTX, (void (*)(void))exchange_new},
    {OSSL_FUNC_KEYEXCH_INIT, (void (*)(void))exchange_init},
    {OSSL_FUNC_KEYEXCH_SET_PEER, (void (*)(void))exchange_set_peer},
    {OSSL_FUNC_KEYEXCH_DERIVE, (void (*)(void))exchange_derive},
    {OSSL_FUNC_KEYEXCH_FREECTX, (void (*)(void))exchange_free},
    {OSSL_FUNC_KEYEXCH_DUPCTX, (void (*)(void))exchange_dup},
    {0, NULL},
};
