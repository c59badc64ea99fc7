// The ticket keys in use and what a rotation makes of them: plain data.
// It is private to the room.
#ifndef TLC_SERVER_KEY_RING_H
#define TLC_SERVER_KEY_RING_H

#include <stddef.h>

#include "server/server.h"

struct tlc_key_ring {
    struct tlc_ticket_key keys[TLC_TICKET_KEYS_MAX]; // the first encrypts, all decrypt
    size_t count;
};

// A key from the kernel's random numbers.
enum tlc_status tlc_ticket_key_make(struct tlc_ticket_key *key,
                                    struct tlc_error *error) TLC_CHECKED;
// A fresh key becomes the first; at most `keep` (below TLC_TICKET_KEYS_MAX) others stay behind it.
// Which others is what tells a rotation from a mistake (enum tlc_rotation). The ring stays as it
// was when there are no random numbers.
enum tlc_status tlc_key_ring_rotate(struct tlc_key_ring *ring, enum tlc_rotation how, unsigned keep,
                                    struct tlc_error *error) TLC_CHECKED;
void tlc_key_ring_clear(struct tlc_key_ring *ring);

#endif
