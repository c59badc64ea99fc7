// The client's state and its steps, shared by the files of this room.
#ifndef TLC_TLS13_HANDSHAKE_H
#define TLC_TLS13_HANDSHAKE_H

#include "tls13/aead.h"
#include "tls13/buffer.h"
#include "tls13/client.h"
#include "tls13/config.h"
#include "tls13/fault.h"
#include "tls13/key_schedule.h"
#include "tls13/key_share.h"
#include "tls13/messages.h"
#include "tls13/ticket.h"

#define TLC_RANDOM_BYTES        32
#define TLC_RECORD_HEADER_BYTES 5
#define TLC_MAX_PLAINTEXT       16384          // RFC 8446, 5.1
#define TLC_MAX_CIPHERTEXT      (16384 + 256)  // RFC 8446, 5.2
#define TLC_MAX_MESSAGE         (128u * 1024u) // ours: far above any real chain
#define TLC_MAX_KEPT_DATA       (64u * 1024u)

enum tlc_record_type { // RFC 8446, 5.1
    TLC_RECORD_CCS = 20,
    TLC_RECORD_ALERT = 21,
    TLC_RECORD_HANDSHAKE = 22,
    TLC_RECORD_DATA = 23
};

enum tlc_phase { // what is awaited from the server
    TLC_PHASE_SERVER_HELLO,
    TLC_PHASE_ENCRYPTED_EXTENSIONS,
    TLC_PHASE_CERTIFICATE_OR_REQUEST,
    TLC_PHASE_CERTIFICATE,
    TLC_PHASE_CERTIFICATE_VERIFY,
    TLC_PHASE_FINISHED,
    TLC_PHASE_CONNECTED
};

enum tlc_keys { TLC_KEYS_NONE, TLC_KEYS_HANDSHAKE, TLC_KEYS_APPLICATION };

// What a handshake begins with anew.
struct tlc_handshake {
    enum tlc_tls13_state state;
    enum tlc_phase phase;
    enum tlc_keys read_keys, write_keys;
    uint8_t random[TLC_RANDOM_BYTES], session_id[TLC_RANDOM_BYTES];
    const struct tlc_group *group; // of the key share in the newest ClientHello
    size_t group_index;
    size_t hello_bytes;            // ClientHello1 message in `out`, behind its record header
    const struct tlc_suite *suite; // NULL until the server chose
    bool verify_signature, certificate_requested, hello_seen, peer_closed, closed;
    bool application_secrets; // derived already
    bool resumption_secret_known;
    uint8_t finished_digest[TLC_HASH_MAX_BYTES]; // transcript through the server's Finished
    uint8_t client_digest[TLC_HASH_MAX_BYTES];   // and through the client's
    uint8_t resumption_secret[TLC_HASH_MAX_BYTES];
    unsigned updates; // KeyUpdates without application data in between
    struct tlc_fault fault;
    char failure[128];
};

struct tlc_tls13_client {
    const struct tlc_tls13_config *config;
    const struct tlc_tls13_name *name; // NULL: as the configuration says
    struct tlc_handshake now;
    struct tlc_tls13_evidence evidence;
    struct tlc_buffer in;       // an incomplete record
    struct tlc_buffer messages; // handshake bytes, decrypted, not yet a whole message
    struct tlc_buffer out;      // records to send; bytes before `sent` are gone already
    size_t sent;
    struct tlc_buffer data; // application data kept
    uint64_t data_bytes;
    struct tlc_key_schedule schedule;
    struct tlc_aead read, write;
    struct tlc_key_pair pair; // honest
    struct tlc_ticket_offer offer;
    struct tlc_ticket_queue tickets;
    uint64_t now_ms;
};

// Every step returns false after tlc_client_fault, which takes the client to FAILED.
bool tlc_client_fault(struct tlc_tls13_client *client, enum tlc_alert alert, const char *kind,
                      const char *text);
bool tlc_client_out_of_memory(struct tlc_tls13_client *client);
bool tlc_client_crypto_failed(struct tlc_tls13_client *client);

// record.c
// Takes one whole record from the wire.
bool tlc_record_take(struct tlc_tls13_client *client, const uint8_t *record,
                     size_t count) TLC_CHECKED;
// Appends bytes as records of a type to the pending output, under the present write keys.
bool tlc_record_put(struct tlc_tls13_client *client, enum tlc_record_type type,
                    const uint8_t *bytes, size_t count) TLC_CHECKED;
bool tlc_read_keys_set(struct tlc_tls13_client *client, enum tlc_keys keys) TLC_CHECKED;
bool tlc_write_keys_set(struct tlc_tls13_client *client, enum tlc_keys keys) TLC_CHECKED;

// client_hello.c
// Builds the ClientHello record into the pending output; `cookie` may be empty.
bool tlc_client_hello_put(struct tlc_tls13_client *client, struct tlc_reader cookie) TLC_CHECKED;

// handshake.c
// Takes one whole handshake message with its header. `last` says that no byte of handshake data
// follows it in the records read so far.
bool tlc_handshake_message(struct tlc_tls13_client *client, const uint8_t *message, size_t count,
                           bool last) TLC_CHECKED;
// Makes the key share for the group at an index of the configuration's list.
bool tlc_handshake_choose_group(struct tlc_tls13_client *client, size_t index) TLC_CHECKED;

// post_handshake.c
bool tlc_post_handshake_message(struct tlc_tls13_client *client, uint8_t type,
                                struct tlc_reader body, bool last) TLC_CHECKED;
bool tlc_application_secrets(struct tlc_tls13_client *client) TLC_CHECKED;

#endif
