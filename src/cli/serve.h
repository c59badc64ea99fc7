// The options of `serve` on resumption: tickets, their keys, rotation.
// It is private to the room.
#ifndef TLC_CLI_SERVE_H
#define TLC_CLI_SERVE_H

#include "server/server.h"

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

#endif
