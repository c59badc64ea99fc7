// PEM text (RFC 7468) to libcrypto objects and back.
#include <stdbool.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "certs/issue.h"

static char *take_text(BIO *memory)
{
    char *bytes;
    long count = BIO_get_mem_data(memory, &bytes);
    return count > 0 ? strndup(bytes, (size_t)count) : NULL;
}

char *tlc_certs_pem_chain(X509 *const *chain, size_t count)
{
    BIO *memory = BIO_new(BIO_s_mem());
    bool good = memory != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = PEM_write_bio_X509(memory, chain[i]) == 1;
    char *text = good ? take_text(memory) : NULL;
    BIO_free(memory);
    return text;
}

char *tlc_certs_pem_key(const EVP_PKEY *key)
{
    BIO *memory = BIO_new(BIO_s_secmem());
    char *text = NULL;
    if (memory && PEM_write_bio_PKCS8PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) == 1)
        text = take_text(memory);
    BIO_free(memory);
    return text;
}

STACK_OF(X509) * tlc_certs_parse_chain(const char *pem)
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    STACK_OF(X509) *chain = sk_X509_new_null();
    X509 *next;
    while (memory && chain && (next = PEM_read_bio_X509(memory, NULL, NULL, NULL)) != NULL)
        if (sk_X509_push(chain, next) <= 0) {
            X509_free(next);
            break;
        }
    BIO_free(memory);
    ERR_clear_error(); // the end of the text is an error to libcrypto
    if (sk_X509_num(chain) > 0)
        return chain;
    sk_X509_pop_free(chain, X509_free);
    return NULL;
}

// An encrypted key must fail, not ask on the terminal.
// NOLINTNEXTLINE(readability-non-const-parameter): the type is libcrypto's
static int no_password(char *buffer, int capacity, int writing, void *context)
{
    (void)buffer, (void)capacity, (void)writing, (void)context;
    return -1;
}

EVP_PKEY *tlc_certs_parse_key(const char *pem)
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = memory ? PEM_read_bio_PrivateKey(memory, NULL, no_password, NULL) : NULL;
    BIO_free(memory);
    ERR_clear_error();
    return key;
}
