// Private to the room.
// Reads group, HelloRetryRequest and the server's signature scheme from a server's plaintext
// handshake messages, for libraries that have no (or no honest) getter: after psk_ke or a TLS 1.2
// resumption several getters name the group of the first connection, while no key exchange took
// place (RFC 8446, 4.2.9). Pure; the bytes come in any split.
#ifndef TLC_STACKS_WATCH_H
#define TLC_STACKS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The fields of interest stand within the first bytes of their messages: behind 2 + 32 + 33 + 3
// bytes a ServerHello's key_share comes after at most supported_versions and pre_shared_key, and a
// ServerKeyExchange's scheme stands behind a point of at most 255 bytes.
#define TLC_WATCH_KEPT 512

struct tlc_hello {
    uint16_t version;          // of ServerHello; 0: none seen
    uint16_t group;            // of ServerHello's key_share or of ServerKeyExchange; 0: neither
    uint16_t server_signature; // of ServerKeyExchange (TLS 1.3 encrypts CertificateVerify); 0: none
    bool hello_retry_request;
    bool psk;         // ServerHello chose a pre-shared key (RFC 8446, 4.2.11)
    bool certificate; // TLS 1.2: a Certificate was sent; a resumption has none (RFC 5246, 7.3)
    bool ticket;      // TLS 1.2: a NewSessionTicket was sent in the handshake
    bool done;        // nothing of interest can follow
};

struct tlc_watch {
    struct tlc_hello hello;
    // Where the stream is.
    uint8_t head[5]; // of a record
    size_t head_bytes, record_left;
    uint8_t message[TLC_WATCH_KEPT]; // begins with the message's header of 4 bytes
    size_t message_bytes, message_size;
};

// Bytes on the wire from the server to the client; ignored once hello.done.
void tlc_watch_bytes(struct tlc_watch *watch, const uint8_t *bytes, size_t count);
// Whole messages with their headers of 4 bytes, for libraries that show messages.
void tlc_hello_read(struct tlc_hello *hello, const uint8_t *message, size_t count);
void tlc_hello_read_key_exchange(struct tlc_hello *hello, const uint8_t *message, size_t count);

#endif
