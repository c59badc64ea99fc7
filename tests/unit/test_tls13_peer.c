#include "test_tls13_peer.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <string.h>

// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

uint64_t peer_now_ms = 1000000;

static EVP_PKEY *make_key(const char *name)
{
    if (strcmp(name, "ecdsa-p256") == 0)
        return EVP_EC_gen("P-256");
    if (strcmp(name, "ecdsa-p384") == 0)
        return EVP_EC_gen("P-384");
    if (strcmp(name, "rsa-2048") == 0)
        return EVP_RSA_gen(2048);
    if (strcmp(name, "ed25519") == 0)
        return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (strcmp(name, "mldsa44") == 0)
        return EVP_PKEY_Q_keygen(NULL, NULL, "ML-DSA-44");
    if (strcmp(name, "mldsa65") == 0)
        return EVP_PKEY_Q_keygen(NULL, NULL, "ML-DSA-65");
    return EVP_PKEY_Q_keygen(NULL, NULL, "ML-DSA-87");
}

static const EVP_MD *sign_digest(EVP_PKEY *key)
{
    return EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "EC") ? EVP_sha256() : NULL;
}

static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    assert_non_null(certificate);
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_true(X509_sign(certificate, key, sign_digest(key)) > 0);
    return certificate;
}

static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_bytes,
                       const unsigned char *in, unsigned in_bytes, void *argument)
{
    const char *wanted = argument;
    (void)ssl;
    for (unsigned at = 0; at < in_bytes; at += 1u + in[at])
        if (in[at] == strlen(wanted) && memcmp(in + at + 1, wanted, in[at]) == 0) {
            *out = in + at + 1;
            *out_bytes = in[at];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

static int accept_any(int good, X509_STORE_CTX *store)
{
    (void)good, (void)store;
    return 1;
}

static int make_cookie(SSL *ssl, unsigned char *cookie, size_t *count)
{
    (void)ssl;
    memset(cookie, 0x5a, 40);
    *count = 40;
    return 1;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, size_t count)
{
    (void)ssl;
    return count == 40 && cookie[0] == 0x5a && cookie[39] == 0x5a;
}

static void set_options(SSL_CTX *context, const struct peer_options *options)
{
    assert_int_equal(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION), 1);
    if (options->groups != NULL)
        assert_int_equal(SSL_CTX_set1_groups_list(context, options->groups), 1);
    if (options->ciphers != NULL)
        assert_int_equal(SSL_CTX_set_ciphersuites(context, options->ciphers), 1);
    assert_int_equal(SSL_CTX_set_num_tickets(context, options->tickets), 1);
    if (options->alpn != NULL)
        SSL_CTX_set_alpn_select_cb(context, select_alpn, (void *)(uintptr_t)options->alpn);
    if (options->request_certificate)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, accept_any);
    if (options->no_dhe)
        SSL_CTX_set_options(context, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_PREFER_NO_DHE_KEX);
    if (options->stateful)
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"test", 4);
    SSL_CTX_set_stateless_cookie_generate_cb(context, make_cookie);
    SSL_CTX_set_stateless_cookie_verify_cb(context, check_cookie);
}

void peer_open(struct peer *peer, const struct peer_options *options)
{
    EVP_PKEY *key = make_key(options->key);
    assert_non_null(key);
    X509 *certificate = make_certificate(key);
    *peer = (struct peer){.context = SSL_CTX_new(TLS_server_method()), .cookie = options->cookie};
    assert_non_null(peer->context);
    assert_int_equal(SSL_CTX_use_certificate(peer->context, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(peer->context, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    set_options(peer->context, options);
    peer_next(peer);
}

void peer_next(struct peer *peer)
{
    if (peer->ssl != NULL) // libssl forgets the sessions of connections that were not shut down
        SSL_set_shutdown(peer->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(peer->ssl);
    ERR_clear_error();
    peer->ssl = SSL_new(peer->context);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    peer->cookie_done = !peer->cookie;
    assert_non_null(peer->ssl);
    BIO_set_mem_eof_return(peer->in, -1);
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_accept_state(peer->ssl);
}

void peer_close(struct peer *peer)
{
    SSL_free(peer->ssl);
    SSL_CTX_free(peer->context);
    *peer = (struct peer){0};
}

void peer_leaf_sha256(const struct peer *peer, uint8_t hash[32])
{
    unsigned char *der = NULL;
    int count = i2d_X509(SSL_CTX_get0_certificate(peer->context), &der);
    assert_true(count > 0);
    SHA256(der, (size_t)count, hash);
    OPENSSL_free(der);
}

size_t peer_feed(struct peer *peer, struct tlc_tls13_client *client)
{
    size_t count;
    char scratch[1];
    const uint8_t *bytes = tlc_tls13_output(client, &count);
    if (count > 0)
        assert_int_equal(BIO_write(peer->in, bytes, (int)count), (int)count);
    tlc_tls13_output_sent(client, count);
    if (!peer->cookie_done)
        peer->cookie_done = SSL_stateless(peer->ssl) == 1;
    if (peer->cookie_done && !SSL_is_init_finished(peer->ssl))
        SSL_do_handshake(peer->ssl);
    if (SSL_is_init_finished(peer->ssl))
        SSL_peek(peer->ssl, scratch, 0);
    return count;
}

size_t peer_take(struct peer *peer, uint8_t *bytes, size_t capacity)
{
    int count = BIO_read(peer->out, bytes, (int)capacity);
    return count > 0 ? (size_t)count : 0;
}

void peer_pump(struct peer *peer, struct tlc_tls13_client *client, size_t chunk)
{
    uint8_t bytes[65536];
    size_t moved = 1;
    while (moved > 0) {
        moved = peer_feed(peer, client);
        size_t count = peer_take(peer, bytes, sizeof(bytes));
        size_t step = chunk == 0 ? count : chunk;
        for (size_t at = 0; at < count; at += step)
            tlc_tls13_input(client, bytes + at, count - at < step ? count - at : step, peer_now_ms);
        moved += count;
    }
}
