// Refuses, by name, what the stack cannot serve.
// It is private to the room.
#ifndef TLC_SERVER_SUPPORT_H
#define TLC_SERVER_SUPPORT_H

#include "server/server.h"

enum tlc_status tlc_server_check(const struct tlc_server_options *options,
                                 struct tlc_error *error) TLC_CHECKED;

#endif
