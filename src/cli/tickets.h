// The audit of tickets as text for the terminal.
// It is private to the room.
#ifndef TLC_CLI_TICKETS_H
#define TLC_CLI_TICKETS_H

#include <jansson.h>

void tlc_tickets_print(const json_t *audit);

#endif
