// Keys: made, imported, exported, compared (provider-keymgmt(7)).
#include <openssl/core_names.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "providers/parameters.h"
#include "providers/x25519_provider.h"

struct generation {
    struct x25519_provider *provider;
    int selection;
};

static void *key_new(void *context)
{
    struct x25519_key *key = calloc(1, sizeof *key);
    if (key) {
        key->provider = context;
        atomic_init(&key->references, 1);
    } else {
        x25519_fail(context, X25519_NO_MEMORY);
    }
    return key;
}

void x25519_key_free(struct x25519_key *key)
{
    if (!key || atomic_fetch_sub(&key->references, 1) != 1)
        return;
    explicit_bzero(key, sizeof *key);
    free(key);
}

static void key_free(void *key)
{
    x25519_key_free(key);
}

static int key_has(const void *data, int selection)
{
    const struct x25519_key *key = data;
    return key && (!(selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) || key->has_public) &&
           (!(selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) || key->has_private);
}

// Takes the same time whatever the bytes are.
static bool equal(const uint8_t *left, const uint8_t *right)
{
    uint8_t differ = 0;
    for (int i = 0; i < TLC_X25519_BYTES; i++)
        differ |= left[i] ^ right[i];
    return differ == 0;
}

static int key_match(const void *left, const void *right, int selection)
{
    const struct x25519_key *a = left, *b = right;
    if (!(selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
        return 1;
    if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && a->has_public && b->has_public)
        return equal(a->public_key, b->public_key);
    return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) && a->has_private && b->has_private &&
           equal(a->private_key, b->private_key);
}

// A public key is any 32 bytes (RFC 7748, section 5); a key pair has to belong together.
static int key_validate(const void *data, int selection, int check)
{
    (void)check;
    const struct x25519_key *key = data;
    uint8_t made[TLC_X25519_BYTES];
    if (!key_has(key, selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
        return 0;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != OSSL_KEYMGMT_SELECT_KEYPAIR)
        return 1;
    x25519_make_public(key->provider, made, key->private_key);
    return equal(made, key->public_key);
}

// Copies a key's bytes; an absent parameter is no error, another size is one.
static bool take_bytes(const struct x25519_provider *provider, const OSSL_PARAM *from,
                       uint8_t *bytes, bool *taken)
{
    *taken = false;
    if (!from)
        return true;
    if (from->data_type != OSSL_PARAM_OCTET_STRING || !from->data ||
        from->data_size != TLC_X25519_BYTES)
        return x25519_fail(provider, X25519_KEY_SIZE);
    memcpy(bytes, from->data, TLC_X25519_BYTES);
    *taken = true;
    return true;
}

static int key_import(void *data, int selection, const OSSL_PARAM list[])
{
    struct x25519_key *key = data;
    bool want_private = selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY;
    if (!(selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
        return 0;
    if (!take_bytes(key->provider, parameter_find_const(list, OSSL_PKEY_PARAM_PUB_KEY),
                    key->public_key, &key->has_public) ||
        (want_private &&
         !take_bytes(key->provider, parameter_find_const(list, OSSL_PKEY_PARAM_PRIV_KEY),
                     key->private_key, &key->has_private)))
        return 0;
    if (key->has_private && !key->has_public) {
        x25519_make_public(key->provider, key->public_key, key->private_key);
        key->has_public = true;
    }
    return key->has_public || x25519_fail(key->provider, X25519_NO_KEY);
}

static int key_export(void *data, int selection, OSSL_CALLBACK *callback, void *argument)
{
    struct x25519_key *key = data;
    OSSL_PARAM list[3];
    size_t count = 0;
    if (!(selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
        return 0;
    if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && key->has_public)
        list[count++] = (OSSL_PARAM){OSSL_PKEY_PARAM_PUB_KEY, OSSL_PARAM_OCTET_STRING,
                                     key->public_key, TLC_X25519_BYTES, OSSL_PARAM_UNMODIFIED};
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) && key->has_private)
        list[count++] = (OSSL_PARAM){OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PARAM_OCTET_STRING,
                                     key->private_key, TLC_X25519_BYTES, OSSL_PARAM_UNMODIFIED};
    list[count] = (OSSL_PARAM){NULL, 0, NULL, 0, 0};
    return count && callback(list, argument);
}

#define OCTETS(key)                                                                                \
    {                                                                                              \
        key, OSSL_PARAM_OCTET_STRING, NULL, 0, OSSL_PARAM_UNMODIFIED                               \
    }
#define NUMBER(key)                                                                                \
    {                                                                                              \
        key, OSSL_PARAM_INTEGER, NULL, sizeof(int), OSSL_PARAM_UNMODIFIED                          \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, 0, NULL, 0, 0                                                                        \
    }

static const OSSL_PARAM *key_types(int selection)
{
    static const OSSL_PARAM pair[] = {OCTETS(OSSL_PKEY_PARAM_PUB_KEY),
                                      OCTETS(OSSL_PKEY_PARAM_PRIV_KEY), END};
    static const OSSL_PARAM public_only[] = {OCTETS(OSSL_PKEY_PARAM_PUB_KEY), END};
    if (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY)
        return pair;
    return selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY ? public_only : NULL;
}

static int key_get_params(void *data, OSSL_PARAM list[])
{
    struct x25519_key *key = data;
    OSSL_PARAM *encoded = parameter_find(list, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY);
    OSSL_PARAM *plain = parameter_find(list, OSSL_PKEY_PARAM_PUB_KEY);
    OSSL_PARAM *secret = parameter_find(list, OSSL_PKEY_PARAM_PRIV_KEY);
    return parameter_set_number(parameter_find(list, OSSL_PKEY_PARAM_BITS), 253) &&
           parameter_set_number(parameter_find(list, OSSL_PKEY_PARAM_SECURITY_BITS), 128) &&
           parameter_set_number(parameter_find(list, OSSL_PKEY_PARAM_MAX_SIZE), TLC_X25519_BYTES) &&
           parameter_set_number(parameter_find(list, "security-category"), 0) &&
           (!encoded || (key->has_public &&
                         parameter_set_octets(encoded, key->public_key, TLC_X25519_BYTES))) &&
           (!plain ||
            (key->has_public && parameter_set_octets(plain, key->public_key, TLC_X25519_BYTES))) &&
           (!secret ||
            (key->has_private && parameter_set_octets(secret, key->private_key, TLC_X25519_BYTES)));
}

static const OSSL_PARAM *key_gettable(void *context)
{
    (void)context;
    static const OSSL_PARAM known[] = {NUMBER(OSSL_PKEY_PARAM_BITS),
                                       NUMBER(OSSL_PKEY_PARAM_SECURITY_BITS),
                                       NUMBER(OSSL_PKEY_PARAM_MAX_SIZE),
                                       NUMBER("security-category"),
                                       OCTETS(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY),
                                       OCTETS(OSSL_PKEY_PARAM_PUB_KEY),
                                       OCTETS(OSSL_PKEY_PARAM_PRIV_KEY),
                                       END};
    return known;
}

// A peer's share as TLS carries it (RFC 8446, section 4.2.8.2); a private key does not belong to
// it.
static int key_set_params(void *data, const OSSL_PARAM list[])
{
    struct x25519_key *key = data;
    bool taken;
    if (!take_bytes(key->provider, parameter_find_const(list, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY),
                    key->public_key, &taken))
        return 0;
    if (taken) {
        key->has_public = true;
        key->has_private = false;
        explicit_bzero(key->private_key, sizeof key->private_key);
    }
    return 1;
}

static const OSSL_PARAM *key_settable(void *context)
{
    (void)context;
    static const OSSL_PARAM known[] = {OCTETS(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY), END};
    return known;
}

static void *key_dup(const void *data, int selection)
{
    const struct x25519_key *key = data;
    struct x25519_key *copy = key_new(key->provider);
    if (copy && (selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) && key->has_public) {
        memcpy(copy->public_key, key->public_key, TLC_X25519_BYTES);
        copy->has_public = true;
    }
    if (copy && (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) && key->has_private) {
        memcpy(copy->private_key, key->private_key, TLC_X25519_BYTES);
        copy->has_private = true;
    }
    return copy;
}

static int generation_set_params(void *context, const OSSL_PARAM list[])
{
    const struct generation *generation = context;
    const OSSL_PARAM *group = parameter_find_const(list, OSSL_PKEY_PARAM_GROUP_NAME);
    // A key from given bytes (RFC 9180) must not come out as a random one.
    if (parameter_find_const(list, "dhkem-ikm"))
        return x25519_fail(generation->provider, X25519_PARAMETER);
    if (group && (group->data_type != OSSL_PARAM_UTF8_STRING || !group->data ||
                  strcasecmp(group->data, "X25519") != 0))
        return x25519_fail(generation->provider, X25519_PARAMETER);
    return 1;
}

static const OSSL_PARAM *generation_settable(void *context, void *provider)
{
    (void)context;
    (void)provider;
    static const OSSL_PARAM known[] = {
        {OSSL_PKEY_PARAM_GROUP_NAME, OSSL_PARAM_UTF8_STRING, NULL, 0, OSSL_PARAM_UNMODIFIED}, END};
    return known;
}

static void *generation_new(void *context, int selection, const OSSL_PARAM list[])
{
    struct generation *generation = malloc(sizeof *generation);
    if (!generation) {
        x25519_fail(context, X25519_NO_MEMORY);
        return NULL;
    }
    *generation = (struct generation){.provider = context, .selection = selection};
    if (!generation_set_params(generation, list)) {
        free(generation);
        return NULL;
    }
    return generation;
}

static void *generate(void *context, OSSL_CALLBACK *callback, void *argument)
{
    (void)callback;
    (void)argument;
    struct generation *generation = context;
    struct x25519_provider *provider = generation->provider;
    struct x25519_key *key = key_new(provider);
    if (!key || !(generation->selection & OSSL_KEYMGMT_SELECT_KEYPAIR))
        return key;
    if (getrandom(key->private_key, TLC_X25519_BYTES, 0) != TLC_X25519_BYTES) {
        x25519_fail(provider, X25519_NO_RANDOM);
        x25519_key_free(key);
        return NULL;
    }
    key->private_key[0] &= 248; // RFC 7748, section 5
    key->private_key[31] = (uint8_t)((key->private_key[31] & 127) | 64);
    x25519_make_public(provider, key->public_key, key->private_key);
    key->has_public = key->has_private = true;
    atomic_fetch_add_explicit(&provider->keygens, 1, memory_order_relaxed);
    return key;
}

static void generation_free(void *context)
{
    free(context);
}

const OSSL_DISPATCH x25519_keymgmt_functions[] = {
    {OSSL_FUNC_KEYMGMT_NEW, (void (*)(void))key_new},
    {OSSL_FUNC_KEYMGMT_FREE, (void (*)(void))key_free},
    {OSSL_FUNC_KEYMGMT_HAS, (void (*)(void))key_has},
    {OSSL_FUNC_KEYMGMT_MATCH, (void (*)(void))key_match},
    {OSSL_FUNC_KEYMGMT_VALIDATE, (void (*)(void))key_validate},
    {OSSL_FUNC_KEYMGMT_IMPORT, (void (*)(void))key_import},
    {OSSL_FUNC_KEYMGMT_IMPORT_TYPES, (void (*)(void))key_types},
    {OSSL_FUNC_KEYMGMT_EXPORT, (void (*)(void))key_export},
    {OSSL_FUNC_KEYMGMT_EXPORT_TYPES, (void (*)(void))key_types},
    {OSSL_FUNC_KEYMGMT_GET_PARAMS, (void (*)(void))key_get_params},
    {OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, (void (*)(void))key_gettable},
    {OSSL_FUNC_KEYMGMT_SET_PARAMS, (void (*)(void))key_set_params},
    {OSSL_FUNC_KEYMGMT_SETTABLE_PARAMS, (void (*)(void))key_settable},
    {OSSL_FUNC_KEYMGMT_DUP, (void (*)(void))key_dup},
    {OSSL_FUNC_KEYMGMT_GEN_INIT, (void (*)(void))generation_new},
    {OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS, (void (*)(void))generation_set_params},
    {OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS, (void (*)(void))generation_settable},
    {OSSL_FUNC_KEYMGMT_GEN, (void (*)(void))generate},
    {OSSL_FUNC_KEYMGMT_GEN_CLEANUP, (void (*)(void))generation_free},
    {0, NULL},
};
