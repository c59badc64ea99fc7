// The TLS 1.3 key schedule (RFC 8446, 7.1) with its transcript hash (4.4.1). Pure: bytes in, bytes
// out.
//
// The application and resumption secrets are derived only when something needs them: a load client
// resets most connections before any application record arrives.
#ifndef TLC_TLS13_KEY_SCHEDULE_H
#define TLC_TLS13_KEY_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "tls13/hash.h"
#include "tls13/suite.h"

struct tlc_key_schedule {
    const struct tlc_suite *suite;
    struct tlc_hash transcript;
    uint8_t secret[TLC_HASH_MAX_BYTES]; // the newest of Early, Handshake and Master Secret
    struct tlc_hmac_key client_handshake, server_handshake; // traffic secrets
    uint8_t client_application[TLC_HASH_MAX_BYTES], server_application[TLC_HASH_MAX_BYTES];
};

// Early Secret; `psk` (hash-sized) may be NULL.
void tlc_schedule_start(struct tlc_key_schedule *schedule, const struct tlc_suite *suite,
                        const uint8_t *psk);
void tlc_schedule_absorb(struct tlc_key_schedule *schedule, const uint8_t *message, size_t count);
// Puts message_hash(ClientHello1) in place of the transcript (RFC 8446, 4.4.1).
void tlc_schedule_message_hash(struct tlc_key_schedule *schedule);
// Handshake Secret and its traffic secrets, over the transcript so far (through ServerHello).
// Without a key exchange (psk_ke) `shared` is NULL.
void tlc_schedule_handshake(struct tlc_key_schedule *schedule, const uint8_t *shared, size_t count);
// Master Secret and application traffic secrets; `digest` is the transcript through the server's
// Finished.
void tlc_schedule_application(struct tlc_key_schedule *schedule, const uint8_t *digest);
// resumption_master_secret; `digest` is the transcript through the client's Finished. Only after
// tlc_schedule_application.
void tlc_schedule_resumption(const struct tlc_key_schedule *schedule, const uint8_t *digest,
                             uint8_t *secret);

// verify_data of a Finished (4.4.4) under a traffic secret.
void tlc_finished_mac(const struct tlc_hmac_key *traffic_secret, const uint8_t *digest,
                      uint8_t *mac);
// Record protection keys of a traffic secret (7.3).
void tlc_traffic_keys(const struct tlc_hmac_key *traffic_secret, const struct tlc_suite *suite,
                      uint8_t *key, uint8_t *iv);
// The next application traffic secret (7.2), in place.
void tlc_update_secret(enum tlc_hash_kind hash, uint8_t *secret);
// PSK of a ticket (4.6.1).
void tlc_ticket_psk(enum tlc_hash_kind hash, const uint8_t *resumption_secret, const uint8_t *nonce,
                    size_t nonce_bytes, uint8_t *psk);
// PskBinderEntry of a resumption PSK (4.2.11.2); `digest` is the transcript through the truncated
// ClientHello.
void tlc_psk_binder(enum tlc_hash_kind hash, const uint8_t *psk, const uint8_t *digest,
                    uint8_t *binder);

#endif
