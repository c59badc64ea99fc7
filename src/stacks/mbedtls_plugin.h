// Private to the room.
// Shared by the files of the Mbed TLS plug-in (3.6).
#ifndef TLC_STACKS_MBEDTLS_PLUGIN_H
#define TLC_STACKS_MBEDTLS_PLUGIN_H

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/x509_crt.h>

#include "stacks/neutral.h"
#include "stacks/ticket_keys.h"
#include "stacks/transport.h"
#include "tlscost/stack.h"

struct mbedtls_credentials {
    char *name; // server name; NULL: the default certificate
    mbedtls_x509_crt chain;
    mbedtls_pk_context key;
};

struct tlc_stack_context {
    enum tlc_stack_role role;
    mbedtls_ssl_config config;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random; // locks itself
    mbedtls_x509_crt trust;
    struct mbedtls_credentials *credentials;
    size_t credential_count;
    // Lists that the configuration points to; all end with 0 or NULL.
    uint16_t *groups, *signatures;
    int *ciphers;
    char **alpn;
    bool verifies;
    mbedtls_ssl_ticket_context own_tickets; // with keys of the library's own
    struct tlc_ticket_keys tickets;
    bool has_ticket_keys;
    uint32_t lifetime_s;
};

struct tlc_stack_connection {
    struct tlc_stack_context *context;
    mbedtls_ssl_context ssl;
    struct tlc_transport transport;
    char server_name[256];
    bool finished, exported;
    size_t tickets;
    uint8_t *session; // newest one a client received, serialised
    size_t session_bytes;
};

// mbedtls.c
bool mbedtls_start(struct tlc_stack_error *error); // library start-up, once in a process
// Puts "what: the library's own words" into `error` (NULL is allowed); code 0: it gave none.
void mbedtls_explain(struct tlc_stack_error *error, const char *what, int code);
bool mbedtls_has_group(uint16_t code);
bool mbedtls_has_signature(uint16_t code);
bool mbedtls_has_cipher(uint16_t code);

// mbedtls_context.c
struct tlc_stack_context *mbedtls_context_new(enum tlc_stack_role role,
                                              const struct tlc_stack_config *config,
                                              struct tlc_stack_error *error);
void mbedtls_context_free(struct tlc_stack_context *context);

// mbedtls_tickets.c
bool mbedtls_tickets_set_up(struct tlc_stack_context *context,
                            const struct tlc_stack_config *config, struct tlc_stack_error *error);
bool mbedtls_ticket_keys_replace(struct tlc_stack_context *context,
                                 const struct tlc_ticket_key *keys, size_t count,
                                 struct tlc_stack_error *error);
void mbedtls_take_session(struct tlc_stack_connection *connection);
size_t mbedtls_tickets_received(struct tlc_stack_connection *connection);
size_t mbedtls_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                              size_t capacity);
bool mbedtls_offer_session(struct tlc_stack_connection *connection, const uint8_t *bytes,
                           size_t count, struct tlc_stack_error *error);

// mbedtls_connection.c
struct tlc_stack_connection *
mbedtls_connection_on_socket(struct tlc_stack_context *context, int fd,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
struct tlc_stack_connection *
mbedtls_connection_on_memory(struct tlc_stack_context *context,
                             const struct tlc_stack_connection_options *options,
                             struct tlc_stack_error *error);
bool mbedtls_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes,
                         size_t count);
size_t mbedtls_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes,
                           size_t capacity);
enum tlc_stack_step mbedtls_handshake(struct tlc_stack_connection *connection,
                                      struct tlc_stack_error *error);
enum tlc_stack_step mbedtls_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                 size_t capacity, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step mbedtls_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                  size_t count, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step mbedtls_close(struct tlc_stack_connection *connection,
                                  struct tlc_stack_error *error);
void mbedtls_connection_free(struct tlc_stack_connection *connection);

// mbedtls_evidence.c
bool mbedtls_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence);

#endif
