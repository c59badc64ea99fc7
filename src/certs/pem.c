// PEM text (RFC 7468) to libcrypto objects and back.
#include <stdbool.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

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

enum { SEED_BYTES = 32, SEED_TAG = 0x80 };

// RFC 9881, section 6: of the three forms of an ML-DSA private key the seed alone is the one that
// every library reads, and the others follow from it. libcrypto writes seed and expanded key unless
// its provider is told otherwise. NULL for any other key, and for one without a seed.
static PKCS8_PRIV_KEY_INFO *seed_only(const EVP_PKEY *key)
{
    unsigned char value[2 + SEED_BYTES] = {SEED_TAG, SEED_BYTES};
    size_t count = 0;
    const char *algorithm = EVP_PKEY_get0_type_name(key);
    if (!algorithm || strncmp(algorithm, "ML-DSA-", 7) != 0 ||
        EVP_PKEY_get_octet_string_param(key, "seed", value + 2, SEED_BYTES, &count) != 1 ||
        count != SEED_BYTES)
        return NULL;
    PKCS8_PRIV_KEY_INFO *info = PKCS8_PRIV_KEY_INFO_new();
    unsigned char *copy = OPENSSL_memdup(value, sizeof value);
    OPENSSL_cleanse(value, sizeof value);
    if (info && copy &&
        PKCS8_pkey_set0(info, OBJ_txt2obj(algorithm, 0), 0, V_ASN1_UNDEF, NULL, copy,
                        sizeof value) == 1)
        return info;
    OPENSSL_clear_free(copy, sizeof value);
    PKCS8_PRIV_KEY_INFO_free(info);
    return NULL;
}

char *tlc_certs_pem_key(const EVP_PKEY *key)
{
    BIO *memory = BIO_new(BIO_s_secmem());
    PKCS8_PRIV_KEY_INFO *info = seed_only(key);
    char *text = NULL;
    if (memory &&
        (info ? PEM_write_bio_PKCS8_PRIV_KEY_INFO(memory, info)
              : PEM_write_bio_PKCS8PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL)) == 1)
        text = take_text(memory);
    PKCS8_PRIV_KEY_INFO_free(info);
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
