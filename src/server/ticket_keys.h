// One ticket key as text.
// It is private to the room.
#ifndef TLC_SERVER_TICKET_KEYS_H
#define TLC_SERVER_TICKET_KEYS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "tlscost/stack.h"

// 160 hexadecimal digits into a key; false when `hex` is anything else.
bool tlc_ticket_key_parse(const char *hex, size_t length, struct tlc_ticket_key *key);

#endif
