// An OpenSSL provider that loads well and serves nothing: arms that name it must be refused.
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <stddef.h>

static const OSSL_ALGORITHM *query_operation(void *context, int operation, int *no_cache)
{
    (void)context;
    (void)operation;
    *no_cache = 0;
    return NULL;
}

static const OSSL_DISPATCH functions[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {0, NULL},
};

OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
                       const OSSL_DISPATCH **out, void **context)
{
    (void)in;
    *out = functions;
    *context = (void *)(size_t)core;
    return 1;
}
