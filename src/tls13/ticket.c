#include "tls13/ticket.h"

#include <stdlib.h>
#include <string.h>

#include "tls13/suite.h"

// A ticket with an identity of its real size: the public struct holds the largest.
struct tlc_ticket_node {
    struct tlc_ticket_node *next;
    uint8_t psk[TLC_HASH_MAX_BYTES];
    uint8_t psk_bytes;
    uint16_t cipher, identity_bytes;
    uint32_t lifetime_s, age_add;
    uint64_t received_ms;
    uint8_t identity[];
};

bool tlc_ticket_offer_take(struct tlc_ticket_offer *offer, const struct tlc_tls13_ticket *ticket)
{
    const struct tlc_suite *suite = tlc_suite_find(ticket->cipher);
    if (suite == NULL || ticket->psk_bytes != tlc_hash_bytes(suite->hash) ||
        ticket->identity_bytes == 0 || ticket->identity_bytes > sizeof(ticket->identity))
        return false;
    offer->identity.count = 0;
    if (!tlc_buffer_append(&offer->identity, ticket->identity, ticket->identity_bytes))
        return false;
    memcpy(offer->psk, ticket->psk, ticket->psk_bytes);
    offer->hash = suite->hash;
    offer->age_add = ticket->age_add;
    offer->received_ms = ticket->received_ms;
    offer->present = true;
    return true;
}

uint32_t tlc_ticket_obfuscated_age(const struct tlc_ticket_offer *offer, uint64_t now_ms)
{
    return (uint32_t)(now_ms - offer->received_ms) + offer->age_add; // RFC 8446, 4.2.11.1
}

bool tlc_tls13_ticket_fresh(const struct tlc_tls13_ticket *ticket, uint64_t now_ms)
{
    return now_ms >= ticket->received_ms &&
           now_ms - ticket->received_ms < UINT64_C(1000) * ticket->lifetime_s;
}

bool tlc_ticket_queue_put(struct tlc_ticket_queue *queue, const struct tlc_tls13_ticket *ticket,
                          const uint8_t *identity)
{
    struct tlc_ticket_node *node = malloc(sizeof(*node) + ticket->identity_bytes);
    if (node == NULL)
        return false;
    *node = (struct tlc_ticket_node){.psk_bytes = ticket->psk_bytes,
                                     .cipher = ticket->cipher,
                                     .identity_bytes = ticket->identity_bytes,
                                     .lifetime_s = ticket->lifetime_s,
                                     .age_add = ticket->age_add,
                                     .received_ms = ticket->received_ms};
    memcpy(node->psk, ticket->psk, ticket->psk_bytes);
    memcpy(node->identity, identity, ticket->identity_bytes);
    if (queue->count == TLC_MAX_QUEUED_TICKETS) {
        struct tlc_ticket_node *oldest = queue->first;
        queue->first = oldest->next;
        queue->count--;
        free(oldest);
    }
    if (queue->first == NULL)
        queue->first = node;
    else
        queue->last->next = node;
    queue->last = node;
    queue->count++;
    return true;
}

bool tlc_ticket_queue_take(struct tlc_ticket_queue *queue, struct tlc_tls13_ticket *ticket)
{
    struct tlc_ticket_node *node = queue->first;
    if (node == NULL)
        return false;
    queue->first = node->next;
    queue->count--;
    ticket->identity_bytes = node->identity_bytes;
    ticket->psk_bytes = node->psk_bytes;
    ticket->cipher = node->cipher;
    ticket->lifetime_s = node->lifetime_s;
    ticket->age_add = node->age_add;
    ticket->received_ms = node->received_ms;
    memcpy(ticket->psk, node->psk, node->psk_bytes);
    memcpy(ticket->identity, node->identity, node->identity_bytes);
    free(node);
    return true;
}

void tlc_ticket_queue_clear(struct tlc_ticket_queue *queue)
{
    while (queue->first != NULL) {
        struct tlc_ticket_node *next = queue->first->next;
        free(queue->first);
        queue->first = next;
    }
    queue->count = 0;
}
