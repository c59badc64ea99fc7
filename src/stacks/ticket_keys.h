// Private to the room.
// The ticket keys of a serving context: read on every ticket, replaced while serving.
#ifndef TLC_STACKS_TICKET_KEYS_H
#define TLC_STACKS_TICKET_KEYS_H

#include <pthread.h>
#include <stddef.h>

#include "tlscost/stack.h"

struct tlc_ticket_keys {
    pthread_rwlock_t lock;
    struct tlc_ticket_key *keys; // the first encrypts
    size_t count;
};

void tlc_ticket_keys_init(struct tlc_ticket_keys *set);
void tlc_ticket_keys_clear(struct tlc_ticket_keys *set);
// False with `error` (may be NULL) set when there are none or memory runs out; the old ones stay.
bool tlc_ticket_keys_replace(struct tlc_ticket_keys *set, const struct tlc_ticket_key *keys,
                             size_t count, struct tlc_stack_error *error);
// The same in a context that serves: refused when it was made without explicit keys.
bool tlc_ticket_keys_renew(struct tlc_ticket_keys *set, bool is_explicit,
                           const struct tlc_ticket_key *keys, size_t count,
                           struct tlc_stack_error *error);
// Copies the key at `index`; false past the end.
bool tlc_ticket_keys_at(struct tlc_ticket_keys *set, size_t index, struct tlc_ticket_key *key);
// Copies the key for a ticket out of the set: the first for a new ticket (NULL), else the one of
// this name (16 bytes). Returns its index, -1 for none.
ptrdiff_t tlc_ticket_keys_find(struct tlc_ticket_keys *set, const uint8_t *name,
                               struct tlc_ticket_key *key);

#endif
