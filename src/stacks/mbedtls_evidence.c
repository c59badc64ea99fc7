// Evidence of finished handshakes. Mbed TLS has no getter of group, resumption and scheme: the
// first two come from the server's plaintext messages (watch.h).
#include <mbedtls/ecp.h>
#include <stdio.h>

#include "base/names.h"
#include "stacks/mbedtls_plugin.h"

// Schemes of TLS 1.3 by the signer's key (RFC 8446, 4.2.3: an ECDSA curve has one).
static bool fits_key(uint16_t scheme, mbedtls_pk_context *key)
{
    if (mbedtls_pk_can_do(key, MBEDTLS_PK_ECDSA)) {
        size_t bits = mbedtls_pk_get_bitlen(key);
        return (scheme == 0x0403 && bits == 256) || (scheme == 0x0503 && bits == 384) ||
               (scheme == 0x0603 && bits == 521);
    }
    return mbedtls_pk_can_do(key, MBEDTLS_PK_RSA) && scheme >= 0x0804 && scheme <= 0x0806;
}

// TLS 1.3 encrypts CertificateVerify. The library has verified that its scheme was offered and fits
// the certificate's key: where a single one does, that was it; else it is not told.
static uint16_t scheme_of_tls13(const struct tlc_stack_connection *connection,
                                const mbedtls_x509_crt *leaf)
{
    static const uint16_t defaults[] = {0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0};
    const uint16_t *scheme =
        connection->context->signatures ? connection->context->signatures : defaults;
    uint16_t found = 0;
    for (; *scheme; scheme++)
        if (fits_key(*scheme, (mbedtls_pk_context *)(uintptr_t)&leaf->pk)) {
            if (found)
                return 0;
            found = *scheme;
        }
    return found;
}

static void copy_chain(const struct tlc_stack_connection *connection,
                       struct tlc_stack_evidence *evidence)
{
    const mbedtls_x509_crt *leaf = mbedtls_ssl_get_peer_cert(&connection->ssl);
    if (!leaf)
        return;
    for (const mbedtls_x509_crt *one = leaf; one && evidence->chain_count < TLC_STACK_MAX_CHAIN;
         one = one->next) {
        evidence->chain_der[evidence->chain_count] = one->raw.p;
        evidence->chain_der_bytes[evidence->chain_count++] = one->raw.len;
    }
    if (evidence->version == TLC_TLS13)
        evidence->peer_signature = scheme_of_tls13(connection, leaf);
    else if (connection->transport.client)
        evidence->peer_signature = connection->transport.watch.hello.server_signature;
    if (connection->context->verifies)
        evidence->verified = mbedtls_ssl_get_verify_result(&connection->ssl) == 0 ? 1 : -1;
}

bool mbedtls_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence)
{
    const struct tlc_hello *hello = &connection->transport.watch.hello;
    if (!connection->finished)
        return false;
    uint16_t version = (uint16_t)mbedtls_ssl_get_version_number(&connection->ssl);
    *evidence = (struct tlc_stack_evidence){
        .version = version,
        .cipher = (uint16_t)mbedtls_ssl_get_ciphersuite_id_from_ssl(&connection->ssl),
        .group = hello->group,
        .hello_retry_request = hello->hello_retry_request,
        .resumed = version == TLC_TLS13 ? hello->psk : !hello->certificate,
        .psk_mode = -1,
    };
    if (evidence->resumed && version == TLC_TLS13)
        evidence->psk_mode = evidence->group ? 1 : 0;
    // In a resumed handshake the peer sends no certificate; the session's is not evidence of it.
    if (!evidence->resumed)
        copy_chain(connection, evidence);
    const char *protocol = mbedtls_ssl_get_alpn_protocol(&connection->ssl);
    if (protocol)
        snprintf(evidence->alpn, sizeof evidence->alpn, "%s", protocol);
    snprintf(evidence->server_name, sizeof evidence->server_name, "%s", connection->server_name);
    return true;
}
