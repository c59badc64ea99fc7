#include "tls13/messages.h"

#include <string.h>

#include "base/names.h"

// One extension of a list; false at the end of the list or on a malformed one (`malformed`).
static bool next_extension(struct tlc_reader *list, uint16_t *type, struct tlc_reader *data,
                           bool *malformed)
{
    *malformed = false;
    if (list->left == 0)
        return false;
    *malformed = !tlc_read_u16(list, type) || !tlc_read_vector(list, 2, data);
    return !*malformed;
}

// Whether an extension of the first 64 code points comes a second time (RFC 8446, 4.2).
static bool repeated(uint64_t *seen, uint16_t type)
{
    uint64_t bit = type < 64 ? UINT64_C(1) << type : 0;
    bool before = (*seen & bit) != 0;
    *seen |= bit;
    return before;
}

static bool read_u16_only(struct tlc_reader data, uint16_t *value)
{
    return tlc_read_u16(&data, value) && data.left == 0;
}

static bool read_key_share(struct tlc_reader data, struct tlc_server_hello *hello)
{
    hello->has_group = true;
    if (!tlc_read_u16(&data, &hello->group))
        return false;
    if (!hello->retry && !tlc_read_vector(&data, 2, &hello->share))
        return false;
    return data.left == 0 && (hello->retry || hello->share.left > 0);
}

static bool read_cookie(struct tlc_reader data, struct tlc_reader *cookie)
{
    return tlc_read_vector(&data, 2, cookie) && data.left == 0 && cookie->left > 0;
}

// One extension of ServerHello or HelloRetryRequest; others than these must not be there
// (RFC 8446, 4.2, table).
static bool hello_extension(uint16_t type, struct tlc_reader data, struct tlc_server_hello *hello,
                            struct tlc_fault *fault)
{
    bool formed;
    if (type == TLC_EXTENSION_SUPPORTED_VERSIONS) {
        formed = read_u16_only(data, &hello->version);
    } else if (type == TLC_EXTENSION_KEY_SHARE) {
        formed = read_key_share(data, hello);
    } else if (type == TLC_EXTENSION_PRE_SHARED_KEY && !hello->retry) {
        hello->has_psk = true;
        formed = read_u16_only(data, &hello->psk_index);
    } else if (type == TLC_EXTENSION_COOKIE && hello->retry) {
        formed = read_cookie(data, &hello->cookie);
    } else {
        return tlc_fault_set(fault, TLC_ALERT_UNSUPPORTED_EXTENSION, "extension",
                             "ServerHello: an extension that was not asked for");
    }
    return formed || tlc_fault_decode(fault, "ServerHello: malformed extension");
}

static bool hello_extensions(struct tlc_reader list, struct tlc_server_hello *hello,
                             struct tlc_fault *fault)
{
    uint64_t seen = 0;
    uint16_t type = 0;
    struct tlc_reader data;
    bool malformed;
    while (next_extension(&list, &type, &data, &malformed)) {
        if (repeated(&seen, type))
            return tlc_fault_set(fault, TLC_ALERT_ILLEGAL_PARAMETER, "extension",
                                 "ServerHello: an extension comes twice");
        if (!hello_extension(type, data, hello, fault))
            return false;
    }
    return !malformed || tlc_fault_decode(fault, "ServerHello: malformed extensions");
}

bool tlc_parse_server_hello(struct tlc_reader body, struct tlc_server_hello *hello,
                            struct tlc_fault *fault)
{
    // SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3)
    static const uint8_t retry_random[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
                                             0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
                                             0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
                                             0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
    uint16_t legacy_version = 0;
    uint8_t compression = 0;
    const uint8_t *random;
    struct tlc_reader list;
    *hello = (struct tlc_server_hello){0};
    if (!tlc_read_u16(&body, &legacy_version) || !tlc_read_bytes(&body, 32, &random) ||
        !tlc_read_vector(&body, 1, &hello->session_id) || hello->session_id.left > 32 ||
        !tlc_read_u16(&body, &hello->cipher) || !tlc_read_u8(&body, &compression))
        return tlc_fault_decode(fault, "ServerHello: truncated");
    if (body.left == 0) // a server of TLS 1.2 or older may leave the extensions out
        return tlc_fault_set(fault, TLC_ALERT_PROTOCOL_VERSION, "version",
                             "ServerHello: the server does not speak TLS 1.3");
    if (!tlc_read_vector(&body, 2, &list) || body.left != 0)
        return tlc_fault_decode(fault, "ServerHello: wrong length");
    if (legacy_version != TLC_TLS12)
        return tlc_fault_set(fault, TLC_ALERT_PROTOCOL_VERSION, "version",
                             "ServerHello: legacy_version is not 0x0303");
    if (compression != 0)
        return tlc_fault_set(fault, TLC_ALERT_ILLEGAL_PARAMETER, "decode",
                             "ServerHello: compression chosen");
    hello->retry = memcmp(random, retry_random, sizeof(retry_random)) == 0;
    return hello_extensions(list, hello, fault);
}

// Extensions that an EncryptedExtensions may answer and that we offered in every ClientHello or may
// have offered; the caller checks the latter.
static bool encrypted_extension(uint16_t type, struct tlc_reader data,
                                struct tlc_encrypted_extensions *extensions,
                                struct tlc_fault *fault)
{
    struct tlc_reader list;
    bool formed;
    if (type == TLC_EXTENSION_SERVER_NAME) {
        extensions->server_name = true;
        formed = data.left == 0; // RFC 6066, 3
    } else if (type == TLC_EXTENSION_SUPPORTED_GROUPS) {
        formed = tlc_read_vector(&data, 2, &list) && data.left == 0 && list.left % 2 == 0;
    } else if (type == TLC_EXTENSION_ALPN) { // RFC 7301, 3.1: exactly one name
        formed = tlc_read_vector(&data, 2, &list) && data.left == 0 &&
                 tlc_read_vector(&list, 1, &extensions->alpn) && list.left == 0 &&
                 extensions->alpn.left > 0;
    } else {
        return tlc_fault_set(fault, TLC_ALERT_UNSUPPORTED_EXTENSION, "extension",
                             "EncryptedExtensions: an extension that was not asked for");
    }
    return formed || tlc_fault_decode(fault, "EncryptedExtensions: malformed extension");
}

bool tlc_parse_encrypted_extensions(struct tlc_reader body,
                                    struct tlc_encrypted_extensions *extensions,
                                    struct tlc_fault *fault)
{
    uint64_t seen = 0;
    uint16_t type = 0;
    struct tlc_reader list, data;
    bool malformed;
    *extensions = (struct tlc_encrypted_extensions){0};
    if (!tlc_read_vector(&body, 2, &list) || body.left != 0)
        return tlc_fault_decode(fault, "EncryptedExtensions: wrong length");
    while (next_extension(&list, &type, &data, &malformed)) {
        if (repeated(&seen, type))
            return tlc_fault_set(fault, TLC_ALERT_ILLEGAL_PARAMETER, "extension",
                                 "EncryptedExtensions: an extension comes twice");
        if (!encrypted_extension(type, data, extensions, fault))
            return false;
    }
    return !malformed || tlc_fault_decode(fault, "EncryptedExtensions: malformed extensions");
}

bool tlc_parse_certificate(struct tlc_reader body, struct tlc_certificate_message *certificate,
                           struct tlc_fault *fault)
{
    struct tlc_reader context, list, entry, extensions;
    *certificate = (struct tlc_certificate_message){0};
    if (!tlc_read_vector(&body, 1, &context) || !tlc_read_vector(&body, 3, &list) || body.left != 0)
        return tlc_fault_decode(fault, "Certificate: wrong length");
    if (context.left != 0)
        return tlc_fault_set(fault, TLC_ALERT_ILLEGAL_PARAMETER, "certificate",
                             "Certificate: the server's has a request context");
    while (list.left > 0) {
        if (!tlc_read_vector(&list, 3, &entry) || entry.left == 0 ||
            !tlc_read_vector(&list, 2, &extensions))
            return tlc_fault_decode(fault, "Certificate: malformed entry");
        if (extensions.left > 0) // we ask for none (RFC 8446, 4.4.2)
            return tlc_fault_set(fault, TLC_ALERT_UNSUPPORTED_EXTENSION, "extension",
                                 "Certificate: an extension that was not asked for");
        if (certificate->count++ == 0)
            certificate->leaf = entry;
    }
    if (certificate->count == 0) // RFC 8446, 4.4.2.4
        return tlc_fault_set(fault, TLC_ALERT_DECODE_ERROR, "certificate",
                             "Certificate: the server sent none");
    return true;
}

bool tlc_parse_certificate_verify(struct tlc_reader body, struct tlc_certificate_verify *verify,
                                  struct tlc_fault *fault)
{
    if (!tlc_read_u16(&body, &verify->scheme) || !tlc_read_vector(&body, 2, &verify->signature) ||
        body.left != 0)
        return tlc_fault_decode(fault, "CertificateVerify: wrong length");
    return true;
}

bool tlc_parse_certificate_request(struct tlc_reader body, struct tlc_reader *context,
                                   struct tlc_fault *fault)
{
    uint16_t type = 0;
    struct tlc_reader list, data;
    bool malformed, algorithms = false;
    if (!tlc_read_vector(&body, 1, context) || !tlc_read_vector(&body, 2, &list) || body.left != 0)
        return tlc_fault_decode(fault, "CertificateRequest: wrong length");
    if (context->left != 0) // RFC 8446, 4.3.2: only after the handshake
        return tlc_fault_set(fault, TLC_ALERT_ILLEGAL_PARAMETER, "protocol",
                             "CertificateRequest: a request context within the handshake");
    while (next_extension(&list, &type, &data, &malformed))
        algorithms = algorithms || type == TLC_EXTENSION_SIGNATURE_ALGORITHMS;
    if (malformed)
        return tlc_fault_decode(fault, "CertificateRequest: malformed extensions");
    if (!algorithms)
        return tlc_fault_set(fault, TLC_ALERT_MISSING_EXTENSION, "extension",
                             "CertificateRequest: signature_algorithms is missing");
    return true;
}

bool tlc_parse_new_session_ticket(struct tlc_reader body, struct tlc_new_session_ticket *ticket,
                                  struct tlc_fault *fault)
{
    struct tlc_reader list, data;
    uint16_t type = 0;
    bool malformed;
    if (!tlc_read_number(&body, 4, &ticket->lifetime_s) ||
        !tlc_read_number(&body, 4, &ticket->age_add) ||
        !tlc_read_vector(&body, 1, &ticket->nonce) ||
        !tlc_read_vector(&body, 2, &ticket->identity) || ticket->identity.left == 0 ||
        !tlc_read_vector(&body, 2, &list) || body.left != 0)
        return tlc_fault_decode(fault, "NewSessionTicket: wrong length");
    while (next_extension(&list, &type, &data, &malformed)) // RFC 8446, 4.6.1: unknown ones ignored
        ;
    return !malformed || tlc_fault_decode(fault, "NewSessionTicket: malformed extensions");
}
