// Evidence of finished handshakes.
//
// Group, HelloRetryRequest and signature scheme are read from the messages themselves: OpenSSL's
// getters differ between versions, and after psk_ke or a TLS 1.2 resumption its group getter tells
// the group of the *first* connection (RFC 8446, 4.2.9 has no key exchange there). The callback
// runs about twenty times in a handshake and returns at once for all but four messages.
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static uint16_t get16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

void openssl_watch(int write, int version, int type, const void *bytes, size_t count, SSL *ssl,
                   void *argument)
{
    (void)version;
    (void)ssl;
    struct tlc_stack_connection *connection = argument;
    if (type != SSL3_RT_HANDSHAKE || !connection || count < 6)
        return;
    const unsigned char *message = bytes;
    switch (message[0]) {
    case SSL3_MT_SERVER_HELLO:
        tlc_hello_read(&connection->wire.hello, message, count);
        break;
    case SSL3_MT_SERVER_KEY_EXCHANGE:
        tlc_hello_read_key_exchange(&connection->wire.hello, message, count);
        if (!write)
            connection->wire.peer_signature = connection->wire.hello.server_signature;
        break;
    case SSL3_MT_CERTIFICATE_VERIFY:
        if (!write)
            connection->wire.peer_signature = get16(message + 4);
        break;
    case SSL3_MT_NEWSESSION_TICKET:
        connection->wire.ticket |= !write;
        break;
    default:
        break;
    }
}

static void keep_der(struct tlc_stack_connection *connection, X509 *certificate)
{
    unsigned char *der = NULL;
    int size = i2d_X509(certificate, &der);
    if (size <= 0 || connection->chain_count == TLC_STACK_MAX_CHAIN) {
        OPENSSL_free(der);
        return;
    }
    connection->chain_der[connection->chain_count] = der;
    connection->chain_der_bytes[connection->chain_count++] = (size_t)size;
}

static void read_chain(struct tlc_stack_connection *connection)
{
    // In a resumed handshake the peer sends no certificate; the session's is not evidence of it.
    if (connection->chain_count || SSL_session_reused(connection->ssl))
        return;
    const STACK_OF(X509) *chain = SSL_get_peer_cert_chain(connection->ssl);
    if (!connection->client) { // a server's chain lacks the leaf
        X509 *leaf = openssl_peer_leaf(connection->ssl);
        if (leaf)
            keep_der(connection, leaf);
        X509_free(leaf);
    }
    for (int i = 0; chain && i < (int)sk_X509_num(chain); i++)
        keep_der(connection, sk_X509_value(chain, i));
}

static void copy_names(const SSL *ssl, struct tlc_stack_evidence *evidence)
{
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &size);
    if (size)
        snprintf(evidence->alpn, sizeof evidence->alpn, "%.*s", (int)size, (const char *)protocol);
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name)
        snprintf(evidence->server_name, sizeof evidence->server_name, "%s", name);
}

static int verified(const struct tlc_stack_connection *connection)
{
    X509 *leaf = openssl_peer_leaf(connection->ssl);
    X509_free(leaf);
    if (!(SSL_get_verify_mode(connection->ssl) & SSL_VERIFY_PEER) || !leaf)
        return 0;
    return SSL_get_verify_result(connection->ssl) == X509_V_OK ? 1 : -1;
}

bool openssl_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence)
{
    SSL *ssl = connection->ssl;
    if (!SSL_is_init_finished(ssl))
        return false;
    *evidence = (struct tlc_stack_evidence){
        .version = (uint16_t)SSL_version(ssl),
        .cipher = SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl)),
        .group = connection->wire.hello.group,
        .peer_signature = connection->wire.peer_signature,
        .hello_retry_request = connection->wire.hello.hello_retry_request,
        .resumed = SSL_session_reused(ssl) == 1,
        .psk_mode = -1,
        .verified = verified(connection),
    };
    if (evidence->resumed && evidence->version == TLS1_3_VERSION)
        evidence->psk_mode = evidence->group ? 1 : 0;
    copy_names(ssl, evidence);
    read_chain(connection);
    evidence->chain_count = connection->chain_count;
    for (size_t i = 0; i < connection->chain_count; i++) {
        evidence->chain_der[i] = connection->chain_der[i];
        evidence->chain_der_bytes[i] = connection->chain_der_bytes[i];
    }
    return true;
}
