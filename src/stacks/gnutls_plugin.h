// Private to the room.
// Shared by the files of the GnuTLS plug-in (3.8), whose functions begin with gtls_: the other
// prefix is the library's.
#ifndef TLC_STACKS_GNUTLS_PLUGIN_H
#define TLC_STACKS_GNUTLS_PLUGIN_H

#include <gnutls/gnutls.h>

#include "stacks/neutral.h"
#include "stacks/ticket_keys.h"
#include "stacks/transport.h"
#include "tlscost/stack.h"

// The certificates behind one server name.
struct gnutls_named_credentials {
    char *name;
    gnutls_certificate_credentials_t credentials;
};

struct tlc_stack_context {
    enum tlc_stack_role role;
    gnutls_priority_t priorities;
    gnutls_certificate_credentials_t credentials; // the default ones
    struct gnutls_named_credentials *named;
    size_t named_count;
    char **alpn;
    size_t alpn_count;
    gnutls_certificate_request_t request; // of servers
    bool verifies;
    enum tlc_ticket_mode ticket_mode;
    int tickets_per_handshake; // negative: the library's default
    unsigned lifetime_s;
    gnutls_datum_t own_key; // of tickets, when none is given
    struct tlc_ticket_keys tickets;
    bool has_ticket_keys;
};

struct tlc_stack_connection {
    struct tlc_stack_context *context;
    gnutls_session_t session;
    struct tlc_transport transport;
    char *server_name; // client: the name to verify
    char sent_name[256];
    char why[160]; // why the peer's certificate was not accepted
    int verified;
    bool finished, has_ticket_key, tickets_planned;
    unsigned tickets_to_send;
    size_t tickets, serialised; // tickets received; how many of them `state` has seen
    gnutls_datum_t state;       // newest session a client received
};

// gnutls.c
// Puts "what: the library's own words" into `error` (NULL is allowed); code 0: it gave none.
void gtls_explain(struct tlc_stack_error *error, const char *what, int code);

// gnutls_names.c
bool gtls_has_group(uint16_t code);
bool gtls_has_signature(uint16_t code);
bool gtls_has_cipher(uint16_t code);
uint16_t gtls_signature_code(gnutls_sign_algorithm_t scheme); // 0: none of the registry
uint16_t gtls_cipher_code(gnutls_session_t session);
// Versions, groups, schemes, suites and PSK modes as a priority string, and that parsed.
bool gtls_make_priorities(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                          struct tlc_stack_error *error);

// gnutls_context.c
struct tlc_stack_context *gtls_context_new(enum tlc_stack_role role,
                                           const struct tlc_stack_config *config,
                                           struct tlc_stack_error *error);
void gtls_context_free(struct tlc_stack_context *context);
gnutls_certificate_credentials_t gtls_credentials_of_name(const struct tlc_stack_context *context,
                                                          const char *name);

// gnutls_tickets.c
bool gtls_tickets_set_up(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                         struct tlc_stack_error *error);
// What a new connection needs of tickets and sessions.
int gtls_tickets_attach(struct tlc_stack_connection *connection);
// Whether the number of tickets asked for is not the library's own.
bool gtls_sends_tickets_itself(const struct tlc_stack_context *context);
// Sends the tickets that the library does not send itself, after a server's handshake.
int gtls_tickets_send(struct tlc_stack_connection *connection);
bool gtls_ticket_keys_replace(struct tlc_stack_context *context, const struct tlc_ticket_key *keys,
                              size_t count, struct tlc_stack_error *error);
size_t gtls_tickets_received(struct tlc_stack_connection *connection);
size_t gtls_session_export(struct tlc_stack_connection *connection, uint8_t *bytes,
                           size_t capacity);
void gtls_forget_session(struct tlc_stack_connection *connection);

// gnutls_connection.c
struct tlc_stack_connection *
gtls_connection_on_socket(struct tlc_stack_context *context, int fd,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error);
struct tlc_stack_connection *
gtls_connection_on_memory(struct tlc_stack_context *context,
                          const struct tlc_stack_connection_options *options,
                          struct tlc_stack_error *error);
bool gtls_memory_feed(struct tlc_stack_connection *connection, const uint8_t *bytes, size_t count);
size_t gtls_memory_take(struct tlc_stack_connection *connection, uint8_t *bytes, size_t capacity);
enum tlc_stack_step gtls_step_handshake(struct tlc_stack_connection *connection,
                                        struct tlc_stack_error *error);
enum tlc_stack_step gtls_step_read(struct tlc_stack_connection *connection, uint8_t *bytes,
                                   size_t capacity, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step gtls_step_write(struct tlc_stack_connection *connection, const uint8_t *bytes,
                                    size_t count, size_t *done, struct tlc_stack_error *error);
enum tlc_stack_step gtls_step_close(struct tlc_stack_connection *connection,
                                    struct tlc_stack_error *error);
void gtls_connection_free(struct tlc_stack_connection *connection);

// gtls_evidence.c
bool gtls_evidence(struct tlc_stack_connection *connection, struct tlc_stack_evidence *evidence);

#endif
