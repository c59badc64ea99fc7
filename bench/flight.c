#include "bench/flight.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <string.h>

static EVP_PKEY *make_key(const char *name)
{
    if (!strcmp(name, "rsa-2048"))
        return EVP_RSA_gen(2048);
    if (!strcmp(name, "mldsa-65"))
        return EVP_PKEY_Q_keygen(NULL, NULL, "ML-DSA-65");
    return EVP_EC_gen("P-256");
}

static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    if (!certificate)
        return NULL;
    X509_NAME *name = X509_get_subject_name(certificate);
    const EVP_MD *digest =
        EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "EC") ? EVP_sha256() : NULL;
    bool made = X509_set_version(certificate, X509_VERSION_3) &&
                ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
                X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
                X509_gmtime_adj(X509_getm_notAfter(certificate), 86400) &&
                X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                           (const unsigned char *)"localhost", -1, -1, 0) &&
                X509_set_issuer_name(certificate, name) && X509_set_pubkey(certificate, key) &&
                X509_sign(certificate, key, digest) > 0;
    if (made)
        return certificate;
    X509_free(certificate);
    return NULL;
}

static SSL_CTX *make_context(const char *key_name)
{
    EVP_PKEY *key = make_key(key_name);
    X509 *certificate = key ? make_certificate(key) : NULL;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    bool made = context && certificate && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
                SSL_CTX_use_certificate(context, certificate) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1;
    X509_free(certificate);
    EVP_PKEY_free(key);
    if (made)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

enum tlc_status flight_record(const char *key, const uint8_t *hello, size_t hello_bytes,
                              uint8_t *flight, size_t capacity, size_t *used,
                              struct tlc_error *error)
{
    SSL_CTX *context = make_context(key);
    SSL *ssl = context ? SSL_new(context) : NULL;
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    int count = 0;
    if (ssl && in && out) {
        BIO_up_ref(in);
        BIO_up_ref(out);
        BIO_set_mem_eof_return(in, -1);
        SSL_set_bio(ssl, in, out);
        SSL_set_accept_state(ssl);
        BIO_write(in, hello, (int)hello_bytes);
        SSL_do_handshake(ssl); // stops for the client's Finished
        count = BIO_read(out, flight, (int)capacity);
    }
    BIO_free(in);
    BIO_free(out);
    SSL_free(ssl);
    SSL_CTX_free(context);
    *used = count > 0 ? (size_t)count : 0;
    if (!*used || *used == capacity)
        return tlc_fail(error, TLC_ENVIRONMENT, "record: %s: libssl gave no flight", key);
    return TLC_OK;
}
