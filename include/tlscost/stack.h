// The stack plug-in contract: what a TLS library must offer to be measured by tlscost.
//
// A plug-in is a shared object with exactly one visible symbol, `tlc_stack`, a constant table of
// functions. Everything of the library inside is hidden, so several versions of one library can
// live in one process. A function that the library cannot serve is NULL; the arm that needs it is
// refused by name before anything runs.
//
// Code points are those of the IANA TLS registries (RFC 8447): versions 0x0303 and 0x0304,
// supported groups, signature schemes, cipher suites. PEM text is RFC 7468. No function may print,
// exit or install signal handlers. A context may be used by several threads at once for making
// connections; a connection belongs to one thread at a time.
#ifndef TLSCOST_STACK_H
#define TLSCOST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TLC_STACK_ABI    3u
#define TLC_STACK_SYMBOL "tlc_stack"

enum tlc_stack_role { TLC_STACK_CLIENT, TLC_STACK_SERVER };

// The outcome of a call that may have to wait for the peer.
enum tlc_stack_step {
    TLC_STEP_DONE,       // the call did what it was asked
    TLC_STEP_WANT_READ,  // call again when bytes from the peer are there
    TLC_STEP_WANT_WRITE, // call again when the transport takes bytes
    TLC_STEP_CLOSED,     // read only: the peer ended the connection in order (close_notify)
    TLC_STEP_FAILED      // `error` holds the library's own words; the connection is unusable
};

struct tlc_stack_error {
    char text[256]; // NUL-terminated, one line, the library's own words; empty when it gave none
};

// What a stack may be asked to support; `code` of tlc_stack.supports is read by kind.
enum tlc_stack_feature {
    TLC_FEATURE_VERSION,          // code: 0x0303, 0x0304
    TLC_FEATURE_GROUP,            // code: supported group
    TLC_FEATURE_SIGNATURE,        // code: signature scheme
    TLC_FEATURE_CIPHER,           // code: cipher suite
    TLC_FEATURE_PSK_MODE,         // code: 0 psk_ke, 1 psk_dhe_ke (RFC 8446, 4.2.9)
    TLC_FEATURE_TICKETS,          // code: enum tlc_ticket_mode
    TLC_FEATURE_TICKET_KEYS,      // code: 0; explicit ticket keys can be set and replaced
    TLC_FEATURE_CLIENT_AUTH,      // code: 0
    TLC_FEATURE_SNI_TABLE,        // code: 0; several certificates chosen by server name
    TLC_FEATURE_MEMORY_TRANSPORT, // code: 0
    TLC_FEATURE_COOKIE            // code: 0; tlc_stack_config.cookie can be served
};

enum tlc_ticket_mode {
    TLC_TICKETS_OFF,       // no resumption offered
    TLC_TICKETS_STATELESS, // the session travels in the ticket, encrypted under the ticket keys
    TLC_TICKETS_STATEFUL   // the session stays in the server's cache
};

enum tlc_client_auth { TLC_CLIENT_AUTH_NONE, TLC_CLIENT_AUTH_REQUEST, TLC_CLIENT_AUTH_REQUIRE };

// Bits of tlc_stack_config.psk_modes.
#define TLC_PSK_DHE_KE 0x1u // resumption keeps a key exchange (psk_dhe_ke)
#define TLC_PSK_KE     0x2u // resumption without a key exchange (psk_ke)

// One certificate with its key. All text is NUL-terminated PEM, borrowed during context_new.
struct tlc_stack_certificate {
    const char *server_name; // SNI it answers to; NULL: the default certificate
    const char *chain_pem;   // leaf first, then intermediates as sent on the wire
    const char *key_pem;     // PKCS#8 private key of the leaf
};

// One key of a stateless ticket (the shape of RFC 5077, section 4, in today's sizes).
struct tlc_ticket_key {
    uint8_t name[16]; // identifies the key on the wire
    uint8_t aes[32];  // AES-256
    uint8_t hmac[32]; // HMAC-SHA-256
};

struct tlc_stack_alpn {
    const char *name; // protocol id, 1 to 255 bytes, for example "h2"
};

// Neutral configuration of a context. Zero or NULL means the library's default unless said
// otherwise. Every pointer is borrowed during context_new only.
struct tlc_stack_config {
    uint16_t min_version, max_version;
    const uint16_t *groups; // in order of preference
    size_t group_count;
    const uint16_t *ciphers; // TLS 1.3 and TLS 1.2 suites together, in order of preference
    size_t cipher_count;
    const uint16_t *signatures; // signature schemes in order of preference
    size_t signature_count;
    const struct tlc_stack_certificate *certificates; // server: at least one; client: none or one
    size_t certificate_count;
    const char
        *trust_pem; // CAs to verify the peer against; NULL on a client: the peer is not verified
    enum tlc_client_auth client_auth;
    const struct tlc_stack_alpn *alpn; // in order of preference; none: the extension is not used
    size_t alpn_count;
    enum tlc_ticket_mode ticket_mode;
    int tickets_per_handshake;   // TLS 1.3 tickets after a full handshake; negative: the library's
                                 // default
    uint32_t session_lifetime_s; // ticket or cache lifetime
    const struct tlc_ticket_key *ticket_keys; // first encrypts, all decrypt; none: random at start
    size_t ticket_key_count;
    unsigned psk_modes;             // TLC_PSK_* bits
    uint32_t session_cache_entries; // stateful mode
    const char *provider; // crypto provider or engine to load, by path or name; its settings may
                          // follow: "NAME?KEY=VALUE;KEY=VALUE"
    const char *library_options; // extra settings in the library's own language (plug-in's docs)
    // Server: every first ClientHello is answered by a HelloRetryRequest with a cookie, and only
    // one that brings it back is served (RFC 8446, 4.2.2).
    bool cookie;
};

// Options of one connection; all borrowed during the call.
struct tlc_stack_connection_options {
    const char *server_name; // client: SNI to send and name to verify; NULL: neither
    const uint8_t *session;  // client: a session from session_export to offer; NULL: full handshake
    size_t session_bytes;
};

#define TLC_STACK_MAX_CHAIN 8

// What a finished handshake really negotiated. Strings are NUL-terminated; zero means "none" or
// "the library does not tell" where noted.
struct tlc_stack_evidence {
    uint16_t version;
    uint16_t cipher;
    uint16_t group;          // 0: no key exchange (psk_ke) or not told
    uint16_t peer_signature; // scheme of the peer's CertificateVerify or ServerKeyExchange; 0: none
    bool hello_retry_request;
    bool resumed;
    int psk_mode; // -1 not resumed or not told, 0 psk_ke, 1 psk_dhe_ke
    int verified; // the peer: 1 its chain (and a server's name) was verified, 0 not asked or sent,
                  // -1 failed
    char alpn[256];
    char server_name[256];
    size_t chain_count; // certificates the peer sent, leaf first, at most TLC_STACK_MAX_CHAIN kept
    const uint8_t *chain_der[TLC_STACK_MAX_CHAIN]; // owned by the connection, valid until free
    size_t chain_der_bytes[TLC_STACK_MAX_CHAIN];
};

// What the provider of a context (tlc_stack_config.provider) has done since the context was made.
struct tlc_stack_provider_use {
    char name[64], version[64]; // as the library reports them
    // Finished handshakes in which the library used an object of the provider: a key of the key
    // exchange, the certificate's key, the cipher. Counted when the provider does not count.
    uint64_t handshakes;
    char operations[256]; // as the provider counts: "NAME=COUNT NAME=COUNT"; "" when it does not
};

struct tlc_stack_context;
struct tlc_stack_connection;

// Raw operations of the library's cryptography, for measuring them alone. An operation is named
// after what it does, in small letters: "x25519-keygen", "x25519-derive", "mlkem-768-encapsulate",
// "ecdsa-p256-sign", ...; docs/speed.md lists all names with their exact contract.
struct tlc_stack_operation;

struct tlc_stack_operations {
    // The i-th name that this library can run, NULL past the end; asked from the library.
    const char *(*name_at)(size_t index);
    // Prepares keys and inputs, which no run includes; `provider` as in tlc_stack_config. NULL with
    // `error` set when the library lacks the operation.
    struct tlc_stack_operation *(*operation_new)(const char *name, const char *provider,
                                                 struct tlc_stack_error *error);
    // Does the operation `count` times, with what its contract compares inside (two equal secrets).
    // Its time is what is measured. False with `error` set.
    bool (*run)(struct tlc_stack_operation *operation, uint64_t count,
                struct tlc_stack_error *error);
    // Whether the last result of a run is right (a signature that verifies, a key pair that agrees
    // with another). Apart from `run`, because checking a key pair costs as much as making some.
    bool (*check)(struct tlc_stack_operation *operation, struct tlc_stack_error *error);
    // The provider that really serves the operation, as the library names it; "" when it does not
    // tell. Owned by the operation.
    const char *(*provider)(struct tlc_stack_operation *operation);
    void (*operation_free)(struct tlc_stack_operation *operation); // NULL is allowed
};

struct tlc_stack {
    uint32_t abi;         // TLC_STACK_ABI
    uint32_t table_bytes; // sizeof(struct tlc_stack) at the plug-in's build
    const char *name;     // short library name: "openssl", "gnutls", ...

    // Version and build as the library that really runs reports them; static text, never NULL.
    const char *(*version)(void);
    const char *(*build)(void);

    // Whether the library itself says it can serve (kind, code); asks the library, not a table of
    // ours. On false, `why` (may be NULL) gets a reason fit for a user ("OpenSSL 3.0.19 has no
    // X25519MLKEM768").
    bool (*supports)(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why);

    // A context holds parsed certificates and settings for one role. NULL on failure with `error`
    // set.
    struct tlc_stack_context *(*context_new)(enum tlc_stack_role role,
                                             const struct tlc_stack_config *config,
                                             struct tlc_stack_error *error);
    void (*context_free)(struct tlc_stack_context *context); // NULL is allowed

    // A connection on a connected non-blocking socket, as real servers use the library. The caller
    // keeps `fd` and closes it after connection_free.
    struct tlc_stack_connection *(*connection_on_socket)(
        struct tlc_stack_context *context, int fd,
        const struct tlc_stack_connection_options *options, struct tlc_stack_error *error);

    // A connection on memory: the caller carries the bytes with memory_feed and memory_take.
    struct tlc_stack_connection *(*connection_on_memory)(
        struct tlc_stack_context *context, const struct tlc_stack_connection_options *options,
        struct tlc_stack_error *error);
    // Hands bytes from the peer to the connection; all are taken. False when memory runs out.
    bool (*memory_feed)(struct tlc_stack_connection *connection, const uint8_t *bytes,
                        size_t count);
    // Takes up to `capacity` bytes meant for the peer; returns how many (0: none pending).
    size_t (*memory_take)(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity);

    // Advances the handshake: DONE, WANT_READ, WANT_WRITE or FAILED.
    enum tlc_stack_step (*handshake)(struct tlc_stack_connection *connection,
                                     struct tlc_stack_error *error);
    // Application data. DONE sets *done to the bytes moved (at least 1); read also returns CLOSED.
    // On a client, read also takes in session tickets.
    enum tlc_stack_step (*read)(struct tlc_stack_connection *connection, uint8_t *bytes,
                                size_t capacity, size_t *done, struct tlc_stack_error *error);
    enum tlc_stack_step (*write)(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                 size_t count, size_t *done, struct tlc_stack_error *error);
    // Sends close_notify; does not wait for the peer's.
    enum tlc_stack_step (*close)(struct tlc_stack_connection *connection,
                                 struct tlc_stack_error *error);
    void (*connection_free)(struct tlc_stack_connection *connection); // NULL is allowed

    // Fills `evidence` of a finished handshake; false when the handshake is not finished.
    bool (*evidence)(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence);

    // Session tickets or ids a client connection has received so far.
    size_t (*tickets_received)(struct tlc_stack_connection *connection);
    // Serialises the newest session of a client connection into `bytes`; returns its size, 0 when
    // there is none or it does not fit (call with capacity 0 and NULL to ask the size: returns the
    // size needed).
    size_t (*session_export)(struct tlc_stack_connection *connection, uint8_t *bytes,
                             size_t capacity);

    // Replaces the ticket keys of a serving context: the first encrypts, all decrypt. Open
    // connections go on.
    bool (*ticket_keys_replace)(struct tlc_stack_context *context,
                                const struct tlc_ticket_key *keys, size_t count,
                                struct tlc_stack_error *error);

    const struct tlc_stack_operations *operations; // NULL: none can be run

    // Whether the context has a provider, and then what it did. Any thread may ask at any time.
    bool (*provider_use)(struct tlc_stack_context *context, struct tlc_stack_provider_use *use);
};

#ifdef __cplusplus
}
#endif

#endif
