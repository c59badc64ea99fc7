// What follows the handshake: tickets (RFC 8446, 4.6.1) and key updates (4.6.3).
#include <string.h>

#include "tls13/handshake.h"

#define MAX_TICKET_LIFETIME_S (7u * 24 * 3600) // RFC 8446, 4.6.1
// Ours: a server that only updates keys keeps the client busy for nothing.
#define MAX_UPDATES_IN_ROW 32

bool tlc_application_secrets(struct tlc_tls13_client *client)
{
    if (client->now.application_secrets)
        return true;
    // The transcript stands behind the client's Finished; the digest of both is needed later.
    tlc_hash_snapshot(&client->schedule.transcript, client->now.client_digest);
    tlc_schedule_application(&client->schedule, client->now.finished_digest);
    client->now.application_secrets = true;
    return true;
}

static bool keep_ticket(struct tlc_tls13_client *client,
                        const struct tlc_new_session_ticket *message)
{
    enum tlc_hash_kind hash = client->now.suite->hash;
    struct tlc_tls13_ticket ticket;
    if (message->lifetime_s == 0 || message->identity.left > sizeof(ticket.identity))
        return true; // of no use, or too large to be offered
    if (!client->now.resumption_secret_known) {
        tlc_schedule_resumption(&client->schedule, client->now.client_digest,
                                client->now.resumption_secret);
        client->now.resumption_secret_known = true;
    }
    ticket.identity_bytes = (uint16_t)message->identity.left;
    ticket.psk_bytes = (uint8_t)tlc_hash_bytes(hash);
    ticket.cipher = client->now.suite->code;
    ticket.lifetime_s =
        message->lifetime_s < MAX_TICKET_LIFETIME_S ? message->lifetime_s : MAX_TICKET_LIFETIME_S;
    ticket.age_add = message->age_add;
    ticket.received_ms = client->now_ms;
    tlc_ticket_psk(hash, client->now.resumption_secret, message->nonce.at, message->nonce.left,
                   ticket.psk);
    return tlc_ticket_queue_put(&client->tickets, &ticket, message->identity.at) ||
           tlc_client_out_of_memory(client);
}

static bool take_ticket(struct tlc_tls13_client *client, struct tlc_reader body)
{
    struct tlc_new_session_ticket message;
    struct tlc_fault fault;
    if (!tlc_parse_new_session_ticket(body, &message, &fault))
        return tlc_client_fault(client, fault.alert, fault.kind, fault.text);
    client->evidence.tickets++;
    return client->config->count_tickets_only || keep_ticket(client, &message);
}

static bool answer_update(struct tlc_tls13_client *client)
{
    static const uint8_t update[] = {TLC_MESSAGE_KEY_UPDATE, 0, 0, 1, 0}; // update_not_requested
    if (client->now.write_keys != TLC_KEYS_APPLICATION &&
        !tlc_write_keys_set(client, TLC_KEYS_APPLICATION))
        return false;
    if (!tlc_record_put(client, TLC_RECORD_HANDSHAKE, update, sizeof(update)))
        return false;
    tlc_update_secret(client->now.suite->hash, client->schedule.client_application);
    return tlc_write_keys_set(client, TLC_KEYS_APPLICATION);
}

static bool take_update(struct tlc_tls13_client *client, struct tlc_reader body, bool last)
{
    uint8_t request = 0;
    if (!tlc_read_u8(&body, &request) || body.left != 0)
        return tlc_client_fault(client, TLC_ALERT_DECODE_ERROR, "decode",
                                "KeyUpdate: wrong length");
    if (request > 1)
        return tlc_client_fault(client, TLC_ALERT_ILLEGAL_PARAMETER, "decode",
                                "KeyUpdate: unknown request");
    if (!last || ++client->now.updates > MAX_UPDATES_IN_ROW)
        return tlc_client_fault(client, TLC_ALERT_UNEXPECTED_MESSAGE, "protocol",
                                last ? "KeyUpdate: too many without data"
                                     : "KeyUpdate: more data in its record");
    tlc_update_secret(client->now.suite->hash, client->schedule.server_application);
    if (!tlc_read_keys_set(client, TLC_KEYS_APPLICATION))
        return false;
    return request == 0 || client->now.closed || answer_update(client);
}

bool tlc_post_handshake_message(struct tlc_tls13_client *client, uint8_t type,
                                struct tlc_reader body, bool last)
{
    if (type == TLC_MESSAGE_NEW_SESSION_TICKET)
        return take_ticket(client, body);
    return take_update(client, body, last);
}
