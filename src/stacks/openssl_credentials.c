// Certificates, keys and trusted CAs from PEM text.
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static BIO *text_bio(const char *text)
{
    size_t length = strlen(text);
    return length > INT32_MAX ? NULL : BIO_new_mem_buf(text, (int)length);
}

static STACK_OF(X509) * read_chain(const struct tlc_stack_context *context, const char *pem)
{
    BIO *bio = text_bio(pem);
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (X509 *next; bio && chain && (next = openssl_next_certificate(context, bio));)
        if (!sk_X509_push(chain, next)) {
            X509_free(next);
            break;
        }
    BIO_free(bio);
    return chain;
}

static EVP_PKEY *read_key(const struct tlc_stack_context *context, const char *pem)
{
    BIO *bio = text_bio(pem);
    EVP_PKEY *key = bio ? openssl_read_key(context, bio) : NULL;
    BIO_free(bio);
    return key;
}

bool openssl_use_certificate(struct tlc_stack_context *context, SSL_CTX *ctx,
                             const struct tlc_stack_certificate *certificate,
                             struct tlc_stack_error *error)
{
    bool good = false;
    EVP_PKEY *key = NULL;
    X509 *leaf = NULL;
    STACK_OF(X509) *chain = read_chain(context, certificate->chain_pem);
    if (!chain || sk_X509_num(chain) == 0) {
        openssl_explain(error, "certificate");
        goto out;
    }
    leaf = sk_X509_shift(chain);
    key = read_key(context, certificate->key_pem);
    if (!key) {
        openssl_explain(error, "private key");
        goto out;
    }
    if (SSL_CTX_use_cert_and_key(ctx, leaf, key, chain, 0) != 1) {
        openssl_explain(error, "certificate and key");
        goto out;
    }
    good = true;
out:
    EVP_PKEY_free(key);
    X509_free(leaf);
    sk_X509_pop_free(chain, X509_free);
    return good;
}

bool openssl_trust(struct tlc_stack_context *context, SSL_CTX *ctx, const char *pem,
                   struct tlc_stack_error *error)
{
    STACK_OF(X509) *authorities = read_chain(context, pem);
    X509_STORE *store = SSL_CTX_get_cert_store(ctx);
    int count = authorities ? (int)sk_X509_num(authorities) : 0;
    bool good = count > 0;
    for (int i = 0; good && i < count; i++) {
        X509 *authority = sk_X509_value(authorities, i);
        good = X509_STORE_add_cert(store, authority) == 1 &&
               (context->role == TLC_STACK_CLIENT || SSL_CTX_add_client_CA(ctx, authority) == 1);
    }
    if (!good)
        openssl_explain(error, "trusted certificates");
    sk_X509_pop_free(authorities, X509_free);
    return good;
}
