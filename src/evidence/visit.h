// One visit to a server, as a client that may have been there before: what it brings along, whether
// that was accepted, and what it takes away. Not verified: this is about tickets.
// Private to the room.
#ifndef TLC_EVIDENCE_VISIT_H
#define TLC_EVIDENCE_VISIT_H

#include <stdbool.h>

#include "stacks/loader.h"
#include "tls13/client.h"

enum { TLC_PASSES_MAX = 16, TLC_PASSES_ALL = TLC_PASSES_MAX };

// What a client comes back with: a TLS 1.3 ticket, or a session of TLS 1.2.
struct tlc_pass {
    uint16_t version; // 0: nothing
    struct tlc_tls13_ticket ticket;
    uint8_t *session; // the stack's own format; owned
    size_t session_bytes;
};

struct tlc_visit_options {
    const char *address, *server_name;     // server_name NULL: the host of the address
    const struct tlc_stack_plugin *plugin; // the client of TLS 1.2
    const uint16_t *groups;
    size_t group_count;
    uint16_t version;               // TLC_TLS13 or TLC_TLS12, nothing else is offered
    unsigned psk_modes;             // TLC_PSK_* bits of TLS 1.3
    const struct tlc_pass *offered; // NULL: a first visit
    size_t wanted; // leave once so many passes are there; TLC_PASSES_ALL: when no more come
    unsigned timeout_ms;
};

struct tlc_visit {
    bool resumed;
    int psk_mode; // -1: not resumed, 0 psk_ke, 1 psk_dhe_ke
    uint16_t group;
    unsigned tickets;    // TLS 1.3: seen; TLS 1.2: 1 when the handshake brought one
    uint32_t lifetime_s; // of the first ticket; 0: none, or it does not say
    size_t ticket_bytes; // of the first TLS 1.3 ticket
    struct tlc_pass passes[TLC_PASSES_MAX];
    size_t pass_count;
};

// A visit whose handshake does not complete is an error: TLC_REFUSED by the server, TLC_ENVIRONMENT
// when it cannot be reached. `visit` is cleared by the caller either way.
enum tlc_status tlc_visit_make(const struct tlc_visit_options *options, struct tlc_visit *visit,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_visit_clear(struct tlc_visit *visit);
// Moves the newest pass out of a visit; false when it brought none. The caller clears it.
bool tlc_visit_take(struct tlc_visit *visit, struct tlc_pass *pass);
void tlc_pass_clear(struct tlc_pass *pass);

#endif
