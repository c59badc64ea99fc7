// The provider's start, its parameters, its TLS group and what it counts.
#include <inttypes.h>
#include <openssl/core_names.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/parameters.h"
#include "providers/x25519_provider.h"

#define NAME    "tlscost-x25519"
#define VERSION "1"

enum { STACK_BYTES = 4096 };

// Erases what a computation has left below this frame. It is not inlined, so that its frame lies
// where theirs were.
__attribute__((noinline)) static void wipe_stack(void)
{
    uint8_t frame[STACK_BYTES];
    explicit_bzero(frame, sizeof frame);
}

static void raise_error(const struct x25519_provider *provider, enum x25519_reason reason,
                        const char *format, ...)
{
    if (!provider->new_error || !provider->vset_error)
        return;
    va_list arguments;
    va_start(arguments, format);
    provider->new_error(provider->core);
    provider->vset_error(provider->core, (uint32_t)reason, format, arguments);
    va_end(arguments);
}

int x25519_fail(const struct x25519_provider *provider, enum x25519_reason reason)
{
    raise_error(provider, reason, NULL);
    return 0;
}

static const OSSL_ITEM reasons[] = {
    {X25519_SELF_CHECK, (void *)"self-check failed: the vectors of RFC 7748 do not come out"},
    {X25519_PARAMETER, (void *)"parameter: variant is fixed-base or variable-base, backend is one "
                               "that this processor runs"},
    {X25519_NO_RANDOM, (void *)"no random bytes from the kernel"},
    {X25519_NO_KEY, (void *)"the key has no part that this needs"},
    {X25519_KEY_SIZE, (void *)"a key of X25519 has 32 bytes"},
    {X25519_ZERO_SECRET, (void *)"the shared secret is zero: the peer's key has a small order"},
    {X25519_NO_MEMORY, (void *)"out of memory"},
    {0, NULL},
};

void x25519_make_public(const struct x25519_provider *provider, uint8_t *public_key,
                        const uint8_t *private_key)
{
    static const uint8_t base_point[TLC_X25519_BYTES] = {9}; // RFC 7748, section 4.1
    if (provider->variable_base)
        provider->backend->derive(public_key, private_key, base_point);
    else
        provider->backend->public_key(public_key, private_key);
    wipe_stack();
}

bool x25519_derive(const struct x25519_provider *provider, uint8_t *shared,
                   const uint8_t *private_key, const uint8_t *peer)
{
    provider->backend->derive(shared, private_key, peer);
    wipe_stack();
    uint8_t any = 0;
    for (int i = 0; i < TLC_X25519_BYTES; i++)
        any |= shared[i];
    return any != 0;
}

// The exchange of RFC 7748, section 6.1, by the very functions that serve.
static bool self_check(const struct x25519_provider *provider)
{
    static const uint8_t alice[] = {0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d,
                                    0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45,
                                    0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a,
                                    0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
    static const uint8_t alice_public[] = {0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54,
                                           0x74, 0x8b, 0x7d, 0xdc, 0xb4, 0x3e, 0xf7, 0x5a,
                                           0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38, 0x1a, 0xf4,
                                           0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b, 0x4e, 0x6a};
    static const uint8_t bob_public[] = {0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4,
                                         0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4, 0x35, 0x37,
                                         0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78, 0x67, 0x4d,
                                         0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f};
    static const uint8_t secret[] = {0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1,
                                     0x72, 0x8e, 0x3b, 0xf4, 0x80, 0x35, 0x0f, 0x25,
                                     0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33,
                                     0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42};
    uint8_t got[TLC_X25519_BYTES];
    x25519_make_public(provider, got, alice);
    if (memcmp(got, alice_public, sizeof got) != 0)
        return false;
    return x25519_derive(provider, got, alice, bob_public) && !memcmp(got, secret, sizeof got);
}

static const OSSL_PARAM *gettable_params(void *context)
{
    (void)context;
    static const OSSL_PARAM known[] = {
        {OSSL_PROV_PARAM_NAME, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_VERSION, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_BUILDINFO, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_STATUS, OSSL_PARAM_INTEGER, NULL, sizeof(int), 0},
        {"tlscost-operations", OSSL_PARAM_UTF8_STRING, NULL, 0, 0},
        {NULL, 0, NULL, 0, 0},
    };
    return known;
}

static int get_params(void *context, OSSL_PARAM list[])
{
    struct x25519_provider *provider = context;
    char operations[96];
    snprintf(operations, sizeof operations, "x25519-keygen=%" PRIu64 " x25519-derive=%" PRIu64,
             atomic_load_explicit(&provider->keygens, memory_order_relaxed),
             atomic_load_explicit(&provider->derives, memory_order_relaxed));
    return parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_NAME), NAME) &&
           parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_VERSION), VERSION) &&
           parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_BUILDINFO),
                                 provider->backend->name) &&
           parameter_set_number(parameter_find(list, OSSL_PROV_PARAM_STATUS), 1) &&
           parameter_set_text(parameter_find(list, "tlscost-operations"), operations);
}

// A library takes a group only from the provider whose key management it would use for it.
static int get_capabilities(void *context, const char *capability, OSSL_CALLBACK *callback,
                            void *argument)
{
    (void)context;
    static unsigned id = 0x1d, security_bits = 128, is_kem = 0; // RFC 8446, section 4.2.7
    static int min_tls = 0x0301, max_tls = 0, min_dtls = 0xFEFF, max_dtls = 0;
#define TEXT(key, text)                                                                            \
    {                                                                                              \
        key, OSSL_PARAM_UTF8_STRING, (void *)(text), sizeof(text) - 1, 0                           \
    }
#define UNSIGNED(key, from)                                                                        \
    {                                                                                              \
        key, OSSL_PARAM_UNSIGNED_INTEGER, &(from), sizeof(from), 0                                 \
    }
#define SIGNED(key, from)                                                                          \
    {                                                                                              \
        key, OSSL_PARAM_INTEGER, &(from), sizeof(from), 0                                          \
    }
    static const OSSL_PARAM group[] = {
        TEXT(OSSL_CAPABILITY_TLS_GROUP_NAME, "x25519"),
        TEXT(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, "X25519"),
        TEXT(OSSL_CAPABILITY_TLS_GROUP_ALG, "X25519"),
        UNSIGNED(OSSL_CAPABILITY_TLS_GROUP_ID, id),
        UNSIGNED(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, security_bits),
        UNSIGNED(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, is_kem),
        SIGNED(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, min_tls),
        SIGNED(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, max_tls),
        SIGNED(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, min_dtls),
        SIGNED(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, max_dtls),
        {NULL, 0, NULL, 0, 0},
    };
    return strcmp(capability, "TLS-GROUP") != 0 || callback(group, argument);
}

static const OSSL_ALGORITHM *query_operation(void *context, int operation, int *no_cache)
{
    (void)context;
    static const OSSL_ALGORITHM keymgmts[] = {
        {"X25519:1.3.101.110", "provider=" NAME, x25519_keymgmt_functions, "X25519 of tlscost"},
        {NULL, NULL, NULL, NULL}};
    static const OSSL_ALGORITHM exchanges[] = {
        {"X25519:1.3.101.110", "provider=" NAME, x25519_exchange_functions, "X25519 of tlscost"},
        {NULL, NULL, NULL, NULL}};
    *no_cache = 0;
    return operation == OSSL_OP_KEYMGMT   ? keymgmts
           : operation == OSSL_OP_KEYEXCH ? exchanges
                                          : NULL;
}

static const OSSL_ITEM *get_reason_strings(void *context)
{
    (void)context;
    return reasons;
}

static void teardown(void *context)
{
    free(context);
}

// What the configuration says: `variant` and `backend`.
static bool configure(struct x25519_provider *provider, OSSL_FUNC_core_get_params_fn *ask)
{
    const char *variant = NULL, *backend = NULL;
    OSSL_PARAM asked[] = {
        {"variant", OSSL_PARAM_UTF8_PTR, &variant, sizeof variant, OSSL_PARAM_UNMODIFIED},
        {"backend", OSSL_PARAM_UTF8_PTR, &backend, sizeof backend, OSSL_PARAM_UNMODIFIED},
        {NULL, 0, NULL, 0, 0}};
    struct tlc_error ignored;
    if (ask && !ask(provider->core, asked))
        return false;
    provider->variable_base = variant && !strcmp(variant, "variable-base");
    provider->backend = backend ? tlc_x25519_find(backend, &ignored) : tlc_x25519_best(1);
    return provider->backend && provider->backend->field->lanes == 1 &&
           (!variant || provider->variable_base || !strcmp(variant, "fixed-base"));
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))gettable_params},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))get_params},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))get_capabilities},
    {OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, (void (*)(void))get_reason_strings},
    {0, NULL},
};

__attribute__((visibility("default"))) OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
                       const OSSL_DISPATCH **out, void **context)
{
    struct x25519_provider *provider = calloc(1, sizeof *provider);
    OSSL_FUNC_core_get_params_fn *ask = NULL;
    if (!provider)
        return 0;
    provider->core = core;
    for (; in->function_id; in++) {
        if (in->function_id == OSSL_FUNC_CORE_GET_PARAMS)
            ask = OSSL_FUNC_core_get_params(in);
        else if (in->function_id == OSSL_FUNC_CORE_NEW_ERROR)
            provider->new_error = OSSL_FUNC_core_new_error(in);
        else if (in->function_id == OSSL_FUNC_CORE_VSET_ERROR)
            provider->vset_error = OSSL_FUNC_core_vset_error(in);
    }
    enum x25519_reason wrong = !configure(provider, ask) ? X25519_PARAMETER
                               : !self_check(provider)   ? X25519_SELF_CHECK
                                                         : 0;
    if (wrong) {
        // The library asks for the words of reasons only after a start that went well.
        raise_error(provider, wrong, "%s", (const char *)reasons[wrong - 1].ptr);
        free(provider);
        return 0;
    }
    *out = provider_functions;
    *context = provider;
    return 1;
}
