// Evidence of finished handshakes. Group and HelloRetryRequest come from the server's plaintext
// messages (watch.h): the getter names a group after psk_ke too.
#include <stdio.h>

#include "base/names.h"
#include "stacks/gnutls_plugin.h"

static void copy_chain(const struct tlc_stack_connection *connection,
                       struct tlc_stack_evidence *evidence)
{
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(connection->session, &count);
    if (!chain || !count)
        return;
    for (unsigned i = 0; i < count && i < TLC_STACK_MAX_CHAIN; i++) {
        evidence->chain_der[i] = chain[i].data;
        evidence->chain_der_bytes[i] = chain[i].size;
        evidence->chain_count = i + 1;
    }
    int scheme = connection->transport.client
                     ? gnutls_sign_algorithm_get(connection->session)
                     : gnutls_sign_algorithm_get_client(connection->session);
    evidence->peer_signature = gtls_signature_code((gnutls_sign_algorithm_t)scheme);
    evidence->verified = connection->verified;
}

static void copy_names(const struct tlc_stack_connection *connection,
                       struct tlc_stack_evidence *evidence)
{
    gnutls_datum_t protocol = {NULL, 0};
    size_t size = sizeof evidence->server_name;
    unsigned type;
    if (!gnutls_alpn_get_selected_protocol(connection->session, &protocol))
        snprintf(evidence->alpn, sizeof evidence->alpn, "%.*s", (int)protocol.size, protocol.data);
    if (connection->transport.client)
        snprintf(evidence->server_name, sizeof evidence->server_name, "%s", connection->sent_name);
    else if (gnutls_server_name_get(connection->session, evidence->server_name, &size, &type, 0))
        evidence->server_name[0] = '\0';
}

bool gtls_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence)
{
    const struct tlc_hello *hello = &connection->transport.watch.hello;
    if (!connection->finished)
        return false;
    gnutls_protocol_t version = gnutls_protocol_get_version(connection->session);
    *evidence = (struct tlc_stack_evidence){
        .version = version == GNUTLS_TLS1_3   ? TLC_TLS13
                   : version == GNUTLS_TLS1_2 ? TLC_TLS12
                                              : 0,
        .cipher = gtls_cipher_code(connection->session),
        .group = hello->group,
        .hello_retry_request = hello->hello_retry_request,
        .resumed = gnutls_session_is_resumed(connection->session) != 0,
        .psk_mode = -1,
    };
    if (evidence->resumed && evidence->version == TLC_TLS13)
        evidence->psk_mode = evidence->group ? 1 : 0;
    // In a resumed handshake the peer sends no certificate; the session's is not evidence of it.
    if (!evidence->resumed)
        copy_chain(connection, evidence);
    copy_names(connection, evidence);
    return true;
}
