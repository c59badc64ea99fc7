// What a module that wraps a library's own algorithms needs of it beyond a provider's core
// dispatch. A library whose functions are visible in the process is asked for them by name; a
// plug-in, which hides them, lends them (docs/trace.md).
#ifndef TLC_STACKS_LENT_LIBRARY_H
#define TLC_STACKS_LENT_LIBRARY_H

#include <openssl/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

// All are there since OpenSSL 3.0.
#define TLC_LENT_FUNCTIONS(X)                                                                      \
    X(OSSL_LIB_CTX_new)                                                                            \
    X(OSSL_LIB_CTX_free)                                                                           \
    X(OSSL_PROVIDER_load)                                                                          \
    X(OSSL_PROVIDER_unload)                                                                        \
    X(OSSL_PROVIDER_add_builtin)                                                                   \
    X(OSSL_PROVIDER_get0_provider_ctx)                                                             \
    X(OSSL_PROVIDER_query_operation)                                                               \
    X(OSSL_PROVIDER_get_capabilities)                                                              \
    X(EVP_set_default_properties)

#define TLC_LENT_MEMBER(name) __typeof__(name) *name;
struct tlc_lent_library {
    TLC_LENT_FUNCTIONS(TLC_LENT_MEMBER)
};
#undef TLC_LENT_MEMBER

// A module that wants such a loan exports this function; `library` stays the lender's and lives as
// long as the process.
#define TLC_LENT_SYMBOL "tlscost_lend_library"
typedef void tlc_lend_library(const struct tlc_lent_library *library);

#endif
