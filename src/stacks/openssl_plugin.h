// Shared by the files of the OpenSSL plug-in. One source serves OpenSSL 3.0 to 4.0: what a version
// lacks is asked from the library or guarded by the macro that brings it. Most of the files serve
// AWS-LC too, whose interface is that of older OpenSSL; what the two do differently stands in
// openssl_library.c, openssl_provider.c, openssl_ticket_keys.c and openssl_operations_library.c for
// the one, in awslc*.c for the other.
#ifndef TLC_STACKS_OPENSSL_PLUGIN_H
#define TLC_STACKS_OPENSSL_PLUGIN_H

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdatomic.h>

#include "stacks/neutral.h"
#include "stacks/ticket_keys.h"
#include "stacks/watch.h"
#include "tlscost/stack.h"

struct openssl_named_context {
    char *name;   // server name, lower case
    SSL_CTX *ctx; // same settings, this name's certificates
};

struct tlc_stack_context {
    enum tlc_stack_role role;
    SSL_CTX *ctx;
    struct openssl_named_context *named; // sorted by name
    size_t named_count;
    unsigned char *alpn; // protocol list as on the wire (RFC 7301, 3.1)
    unsigned alpn_bytes;
    struct tlc_ticket_keys tickets;
    EVP_CIPHER *ticket_cipher; // fetched once: a fetch in each handshake would be charged to the
                               // server
    bool has_ticket_keys;
    bool cookie; // clients have to bring one back
    // OSSL_LIB_CTX and OSSL_PROVIDER, which AWS-LC has not.
    struct ossl_lib_ctx_st *library;   // NULL: the process's default, as real servers use it
    struct ossl_provider_st *provider; // the one asked for; NULL: none
    bool provider_counts;              // it tells itself what it did
    _Atomic uint64_t provider_handshakes;
};

// What the messages on the wire said; written by the message callback.
struct openssl_wire {
    struct tlc_hello hello;
    uint16_t peer_signature; // of the peer's CertificateVerify or ServerKeyExchange; 0: neither
    bool ticket;             // a client read a NewSessionTicket
};

struct tlc_stack_connection {
    SSL *ssl;
    BIO *in, *out; // memory transport only; owned by ssl
    bool client;
    bool waits;                        // for the client's cookie
    struct tlc_stack_context *watched; // whose provider is looked for in it; NULL: none is
    struct openssl_wire wire;
    SSL_SESSION *session; // newest one a client received
    size_t tickets;
    size_t chain_count; // DER of the peer's chain, filled when evidence is asked
    uint8_t *chain_der[TLC_STACK_MAX_CHAIN];
    size_t chain_der_bytes[TLC_STACK_MAX_CHAIN];
};

// openssl.c, awslc.c
void openssl_start(void); // library start-up, once in a process
// Puts "what: the library's own words" into `error` (NULL is allowed) and empties the error queue.
void openssl_explain(struct tlc_stack_error *error, const char *what);
bool openssl_set_groups(SSL_CTX *ctx, const uint16_t *groups, size_t count);
bool openssl_set_signatures(SSL_CTX *ctx, const uint16_t *schemes, size_t count);

// openssl_library.c, awslc_library.c
// A context with what is the same for all: no early data, psk modes.
SSL_CTX *openssl_new_ctx(const struct tlc_stack_context *context, unsigned psk_modes);
// Settings in the library's own language.
bool openssl_set_library_options(SSL_CTX *ctx, enum tlc_stack_role role, const char *options,
                                 struct tlc_stack_error *error);
// Next certificate of the text; NULL at its end or on an error (then the error queue says which).
X509 *openssl_next_certificate(const struct tlc_stack_context *context, BIO *bio);
EVP_PKEY *openssl_read_key(const struct tlc_stack_context *context, BIO *bio);
SSL_SESSION *openssl_read_session(const struct tlc_stack_context *context, const uint8_t *bytes,
                                  size_t count);
X509 *openssl_peer_leaf(const SSL *ssl); // the caller frees it; NULL: none was sent

// openssl_ciphers.c
// Sets TLS 1.3 and TLS 1.2 suites; a version none of whose suites is named is switched off.
bool openssl_set_ciphers(SSL_CTX *ctx, const uint16_t *ciphers, size_t count);

// openssl_context.c
struct tlc_stack_context *openssl_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error);
void openssl_context_free(struct tlc_stack_context *context);

// openssl_provider.c, awslc_library.c (which refuses)
// Loads "NAME-or-PATH[?KEY=VALUE;...]" in a library context of its own, so that other contexts of
// the process do not change; the default provider serves what it lacks. What was made before a
// failure is the caller's to free.
bool openssl_load_provider(const char *provider, struct ossl_lib_ctx_st **library,
                           struct ossl_provider_st **loaded, struct tlc_stack_error *error);
bool openssl_provider_load(struct tlc_stack_context *context, const char *provider,
                           struct tlc_stack_error *error);
void openssl_provider_unload(struct tlc_stack_context *context);
// What is left to do once a handshake has finished; returns as SSL_do_handshake does.
int openssl_after_handshake(struct tlc_stack_connection *connection);
bool openssl_provider_use(struct tlc_stack_context *context, struct tlc_stack_provider_use *use);

// openssl_lend.c
// Lends the library to a module that asks for it; such a one serves all that the library has. False
// for any other module.
bool openssl_lend_library(const char *module);

// openssl_credentials.c
// Adds one certificate with its chain and key to a context.
bool openssl_use_certificate(struct tlc_stack_context *context, SSL_CTX *ctx,
                             const struct tlc_stack_certificate *certificate,
                             struct tlc_stack_error *error);
// Trusts the CAs; a server also names them in its CertificateRequest.
bool openssl_trust(struct tlc_stack_context *context, SSL_CTX *ctx, const char *pem,
                   struct tlc_stack_error *error);

// openssl_ticket_keys.c, awslc_ticket_keys.c
// Has the context, and those of its names, use the explicit keys.
bool openssl_install_ticket_keys(struct tlc_stack_context *context, struct tlc_stack_error *error);
void openssl_remove_ticket_keys(struct tlc_stack_context *context);

// openssl_tickets.c
bool openssl_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error);
void openssl_tickets_clear(struct tlc_stack_context *context);
bool openssl_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error);
int openssl_keep_session(SSL *ssl, SSL_SESSION *session); // new-session callback of clients
size_t openssl_tickets_received(struct tlc_stack_connection *connection);
size_t openssl_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity);
bool openssl_offer_session(struct tlc_stack_connection *connection,
                           const struct tlc_stack_context *context, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error);

// openssl_cookie.c, awslc_library.c (which has none)
// Has a context demand cookies; `error` is set where it cannot.
bool openssl_demand_cookie(SSL_CTX *ctx, struct tlc_stack_error *error);
// Until the client has brought its cookie back: 1 then, 0 while it has not, below 0 on a failure.
int openssl_admit(struct tlc_stack_connection *connection);

// openssl_connection.c
struct tlc_stack_connection *
openssl_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
struct tlc_stack_connection *
openssl_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
bool openssl_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count);
size_t openssl_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes,
                           size_t capacity);
enum tlc_stack_step openssl_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error);
enum tlc_stack_step openssl_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step openssl_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step openssl_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error);
void openssl_connection_free(struct tlc_stack_connection *connection);

// openssl_evidence.c
// Message callback: reads what evidence needs from the handshake messages as they pass.
void openssl_watch(int write, int version, int type, const void *bytes, size_t count, SSL *ssl,
                   void *connection);
bool openssl_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence);

// openssl_operations.c
extern const struct tlc_stack_operations openssl_operations;

// openssl_supports.c
bool openssl_supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why);

#endif
