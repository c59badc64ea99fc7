// Private to the room.
// Shared by the files of the wolfSSL plug-in. The library must be built with its OpenSSL-compatible
// interface (OPENSSL_ALL, as distributions do): session export, cipher lists by code point and the
// peer's signature scheme are part of it.
#ifndef TLC_STACKS_WOLFSSL_PLUGIN_H
#define TLC_STACKS_WOLFSSL_PLUGIN_H

#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#include "stacks/neutral.h"
#include "stacks/ticket_keys.h"
#include "stacks/transport.h"
#include "tlscost/stack.h"

struct wolfssl_named_context {
    char *name; // server name
    WOLFSSL_CTX *ctx;
};

struct tlc_stack_context {
    enum tlc_stack_role role;
    WOLFSSL_CTX *ctx;
    struct wolfssl_named_context *named; // sorted by name
    size_t named_count;
    char *alpn; // "a,b" as wolfSSL takes it
    bool verifies;
    struct tlc_ticket_keys tickets;
    bool has_ticket_keys;
};

struct tlc_stack_connection {
    struct tlc_stack_context *context;
    WOLFSSL *ssl; // NULL until the ClientHello has told which certificate is wanted
    struct tlc_transport transport;
    size_t tickets;
    size_t chain_count;
    uint8_t *chain_der[TLC_STACK_MAX_CHAIN];
    size_t chain_der_bytes[TLC_STACK_MAX_CHAIN];
};

// wolfssl.c
void wolfssl_start(void); // library start-up, once in a process
// Puts "what: the library's own words" into `error` (NULL is allowed); `code` is the library's, 0
// when it gave none.
void wolfssl_explain(struct tlc_stack_error *error, const char *what, int code);
bool wolfssl_set_groups(WOLFSSL_CTX *ctx, const uint16_t *groups, size_t count);
bool wolfssl_set_signatures(WOLFSSL_CTX *ctx, const uint16_t *schemes, size_t count);
bool wolfssl_has_cipher(uint16_t code);
// The signature scheme of the peer of a finished handshake; 0: none or not told.
uint16_t wolfssl_peer_signature(WOLFSSL *ssl);

// wolfssl_context.c
struct tlc_stack_context *wolfssl_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error);
void wolfssl_context_free(struct tlc_stack_context *context);

// wolfssl_tickets.c
bool wolfssl_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error);
bool wolfssl_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error);
int wolfssl_count_session(WOLFSSL *ssl,
                          WOLFSSL_SESSION *session); // new-session callback of clients
size_t wolfssl_tickets_received(struct tlc_stack_connection *connection);
size_t wolfssl_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity);
bool wolfssl_offer_session(struct tlc_stack_connection *connection, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error);

// wolfssl_names.c
int wolfssl_compare_names(const void *left, const void *right);
// The context that a new connection's ClientHello asks for.
enum tlc_stack_step wolfssl_choose(struct tlc_stack_connection *connection, WOLFSSL_CTX **ctx);
int wolfssl_accept_name(WOLFSSL *ssl, int *alert, void *argument);

// wolfssl_connection.c
int wolfssl_receive(WOLFSSL *ssl, char *bytes, int count, void *transport); // I/O callbacks
int wolfssl_send(WOLFSSL *ssl, char *bytes, int count, void *transport);
struct tlc_stack_connection *
wolfssl_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
struct tlc_stack_connection *
wolfssl_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
bool wolfssl_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count);
size_t wolfssl_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes,
                           size_t capacity);
enum tlc_stack_step wolfssl_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error);
enum tlc_stack_step wolfssl_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step wolfssl_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step wolfssl_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error);
void wolfssl_connection_free(struct tlc_stack_connection *connection);
bool wolfssl_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence);

#endif
