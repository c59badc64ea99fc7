// Parsers of the server's handshake messages: bytes in, facts out, no state. What they return
// points into the message. `body` is the message without its four-byte header.
#ifndef TLC_TLS13_MESSAGES_H
#define TLC_TLS13_MESSAGES_H

#include "tls13/fault.h"
#include "tls13/reader.h"

enum tlc_message_type { // RFC 8446, B.3
    TLC_MESSAGE_CLIENT_HELLO = 1,
    TLC_MESSAGE_SERVER_HELLO = 2,
    TLC_MESSAGE_NEW_SESSION_TICKET = 4,
    TLC_MESSAGE_ENCRYPTED_EXTENSIONS = 8,
    TLC_MESSAGE_CERTIFICATE = 11,
    TLC_MESSAGE_CERTIFICATE_REQUEST = 13,
    TLC_MESSAGE_CERTIFICATE_VERIFY = 15,
    TLC_MESSAGE_FINISHED = 20,
    TLC_MESSAGE_KEY_UPDATE = 24
};

enum tlc_extension { // RFC 8446, 4.2
    TLC_EXTENSION_SERVER_NAME = 0,
    TLC_EXTENSION_SUPPORTED_GROUPS = 10,
    TLC_EXTENSION_SIGNATURE_ALGORITHMS = 13,
    TLC_EXTENSION_ALPN = 16,
    TLC_EXTENSION_PADDING = 21,
    TLC_EXTENSION_PRE_SHARED_KEY = 41,
    TLC_EXTENSION_SUPPORTED_VERSIONS = 43,
    TLC_EXTENSION_COOKIE = 44,
    TLC_EXTENSION_PSK_MODES = 45,
    TLC_EXTENSION_KEY_SHARE = 51
};

struct tlc_server_hello {
    bool retry; // a HelloRetryRequest (RFC 8446, 4.1.3)
    struct tlc_reader session_id;
    uint16_t cipher, version; // version: supported_versions, 0 without it
    bool has_group;           // key_share is there
    uint16_t group;
    struct tlc_reader share; // empty in a HelloRetryRequest
    bool has_psk;
    uint16_t psk_index;
    struct tlc_reader cookie; // `at` is NULL without one
};

struct tlc_encrypted_extensions {
    bool server_name;       // acknowledged
    struct tlc_reader alpn; // the one protocol; `at` is NULL without one
};

struct tlc_certificate_message {
    struct tlc_reader leaf; // DER
    unsigned count;
};

struct tlc_certificate_verify {
    uint16_t scheme;
    struct tlc_reader signature;
};

struct tlc_new_session_ticket {
    uint32_t lifetime_s, age_add;
    struct tlc_reader nonce, identity;
};

bool tlc_parse_server_hello(struct tlc_reader body, struct tlc_server_hello *hello,
                            struct tlc_fault *fault) TLC_CHECKED;
bool tlc_parse_encrypted_extensions(struct tlc_reader body,
                                    struct tlc_encrypted_extensions *extensions,
                                    struct tlc_fault *fault) TLC_CHECKED;
bool tlc_parse_certificate(struct tlc_reader body, struct tlc_certificate_message *certificate,
                           struct tlc_fault *fault) TLC_CHECKED;
bool tlc_parse_certificate_verify(struct tlc_reader body, struct tlc_certificate_verify *verify,
                                  struct tlc_fault *fault) TLC_CHECKED;
// Only the form is checked; `context` is certificate_request_context.
bool tlc_parse_certificate_request(struct tlc_reader body, struct tlc_reader *context,
                                   struct tlc_fault *fault) TLC_CHECKED;
bool tlc_parse_new_session_ticket(struct tlc_reader body, struct tlc_new_session_ticket *ticket,
                                  struct tlc_fault *fault) TLC_CHECKED;

#endif
