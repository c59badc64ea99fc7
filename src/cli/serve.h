// The options of `serve` on certificates, and on resumption: tickets, their keys, rotation.
// It is private to the room.
#ifndef TLC_CLI_SERVE_H
#define TLC_CLI_SERVE_H

#include "certs/certs.h"
#include "measure/trace.h"
#include "server/server.h"

enum { TLC_SERVED_CERTIFICATES = 32, TLC_SERVED_PROTOCOLS = 8 };

struct tlc_serve_asked {
    const char *certs, *cert, *sni; // --certs, --cert, --sni
    unsigned numbered;              // --names
};

// What is served: certificates, their server names and their PEM, and protocols.
struct tlc_served {
    const char *names[TLC_SERVED_CERTIFICATES + 1];
    struct tlc_certs_pair pairs[TLC_SERVED_CERTIFICATES];
    struct tlc_stack_certificate certificates[TLC_SERVED_CERTIFICATES];
    struct tlc_certs_numbered numbered;
    char (*numbered_hosts)[TLC_CERTS_HOST_BYTES];
    struct tlc_stack_certificate *all; // those above and the numbered ones; NULL: no more of them
    struct tlc_stack_alpn alpn[TLC_SERVED_PROTOCOLS];
    char **cert_words, **sni_words, **alpn_words;
    const char *hosts[TLC_SERVED_CERTIFICATES + 1];
    size_t count, host_count;
};

enum tlc_status tlc_served_read(const struct tlc_serve_asked *asked, struct tlc_served *served,
                                struct tlc_stack_config *config,
                                struct tlc_error *error) TLC_CHECKED;
// Thousands of PEM texts would count as the server's memory; its contexts have what they need.
void tlc_served_forget_numbered(struct tlc_served *served);
void tlc_served_free(struct tlc_served *served);

// --tickets N|off|stateful
enum tlc_status tlc_serve_tickets(const char *text, struct tlc_stack_config *config,
                                  struct tlc_error *error) TLC_CHECKED;
// --rotate TIME
enum tlc_status tlc_serve_rotate(const char *text, struct tlc_server_options *server,
                                 struct tlc_error *error) TLC_CHECKED;
// --ticket-lifetime TIME
enum tlc_status tlc_serve_ticket_lifetime(const char *text, uint32_t *seconds,
                                          struct tlc_error *error) TLC_CHECKED;
// --mistake abrupt|no-previous|trap|key-per-worker
enum tlc_status tlc_serve_mistake(const char *text, struct tlc_server_options *server,
                                  struct tlc_error *error) TLC_CHECKED;

// --trace, --trace-file, --burn-in
struct tlc_serve_trace {
    const char *mode, *file; // NULL: not asked for
    const char *burn_in;     // component of the tracing provider; NULL: the server burns itself
    char provider[1100];     // as a stack is told to load it
    struct tlc_trace *opened;
};
enum tlc_status tlc_serve_trace_mode(const char *text, struct tlc_serve_trace *trace,
                                     struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_serve_burn_in(const char *text, struct tlc_serve_trace *trace,
                                  struct tlc_error *error) TLC_CHECKED;
// Has the server's library load the tracing provider, when one of them was asked for.
enum tlc_status tlc_serve_trace(struct tlc_serve_trace *trace, struct tlc_server_options *server,
                                struct tlc_error *error) TLC_CHECKED;
// Adds the figures to the counters, when there is a file of them, and closes it.
void tlc_serve_trace_end(struct tlc_serve_trace *trace, json_t *counters);

#endif
