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

// RFC 8446, 4.1.3: the random of a HelloRetryRequest.
static const unsigned char retry_random[32] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

static uint16_t get16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

// ServerHello (RFC 8446, 4.1.3): random at 6, session id at 38, then cipher, compression and the
// extensions; of these key_share (4.2.8) tells the group.
static void watch_server_hello(struct openssl_wire *wire, const unsigned char *bytes, size_t count)
{
    if (count < 39)
        return;
    if (!memcmp(bytes + 6, retry_random, sizeof retry_random)) {
        wire->hello_retry_request = true;
        return;
    }
    size_t at = 39u + bytes[38] + 3u + 2u;
    while (at + 4 <= count) {
        size_t size = get16(bytes + at + 2);
        if (get16(bytes + at) == TLSEXT_TYPE_key_share && size >= 2 && at + 6 <= count) {
            wire->group = get16(bytes + at + 4);
            return;
        }
        at += 4 + size;
    }
}

// ServerKeyExchange of ECDHE (RFC 8422, 5.4): curve type 3, group, point, then scheme and
// signature.
static void watch_key_exchange(struct openssl_wire *wire, bool from_peer,
                               const unsigned char *bytes, size_t count)
{
    if (count < 8 || bytes[4] != 3)
        return;
    wire->group = get16(bytes + 5);
    size_t scheme = 8u + bytes[7];
    if (from_peer && scheme + 2 <= count)
        wire->peer_signature = get16(bytes + scheme);
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
        watch_server_hello(&connection->wire, message, count);
        break;
    case SSL3_MT_SERVER_KEY_EXCHANGE:
        watch_key_exchange(&connection->wire, !write, message, count);
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

static void keep_der(struct tlc_stack_connection *connection, const X509 *certificate)
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
        X509 *leaf = SSL_get1_peer_certificate(connection->ssl);
        if (leaf)
            keep_der(connection, leaf);
        X509_free(leaf);
    }
    for (int i = 0; chain && i < sk_X509_num(chain); i++)
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
    if (!(SSL_get_verify_mode(connection->ssl) & SSL_VERIFY_PEER) ||
        !SSL_get0_peer_certificate(connection->ssl))
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
        .group = connection->wire.group,
        .peer_signature = connection->wire.peer_signature,
        .hello_retry_request = connection->wire.hello_retry_request,
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
