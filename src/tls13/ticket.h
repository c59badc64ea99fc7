// Tickets: those a client received and nobody took yet, and the one it offers.
#ifndef TLC_TLS13_TICKET_H
#define TLC_TLS13_TICKET_H

#include "tls13/buffer.h"
#include "tls13/client.h"
#include "tls13/hash.h"

struct tlc_ticket_offer {
    bool present;
    struct tlc_buffer identity; // kept for the second ClientHello
    uint8_t psk[TLC_HASH_MAX_BYTES];
    enum tlc_hash_kind hash;
    uint32_t age_add;
    uint64_t received_ms;
};

// False when the ticket cannot be used with any offer: wrong sizes or an unknown suite.
bool tlc_ticket_offer_take(struct tlc_ticket_offer *offer,
                           const struct tlc_tls13_ticket *ticket) TLC_CHECKED;
uint32_t tlc_ticket_obfuscated_age(const struct tlc_ticket_offer *offer, uint64_t now_ms);

struct tlc_ticket_node;
struct tlc_ticket_queue {
    struct tlc_ticket_node *first, *last;
    unsigned count;
};

#define TLC_MAX_QUEUED_TICKETS 16

// Queues a ticket; above TLC_MAX_QUEUED_TICKETS the oldest is dropped. False when memory runs out.
bool tlc_ticket_queue_put(struct tlc_ticket_queue *queue, const struct tlc_tls13_ticket *ticket,
                          const uint8_t *identity) TLC_CHECKED;
bool tlc_ticket_queue_take(struct tlc_ticket_queue *queue, struct tlc_tls13_ticket *ticket);
void tlc_ticket_queue_clear(struct tlc_ticket_queue *queue);

#endif
