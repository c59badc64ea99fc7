// Counts the bytes of a handshake on the wire by flight, from record headers.
// Pure: the client's bytes come in any split, the server's as whole records.
#ifndef TLC_EVIDENCE_WIRE_H
#define TLC_EVIDENCE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// RFC 8446, 5.1 and 5.2: a record is a header of 5 bytes and at most 2^14 + 256 bytes; TLS 1.2
// allows 2^14 + 2048 (RFC 5246, 6.2.3).
enum { TLC_RECORD_HEADER = 5, TLC_RECORD_MAX = TLC_RECORD_HEADER + (1 << 14) + 2048 };

struct tlc_wire {
    // Bytes on the wire, record headers included.
    size_t client_hello; // both of them after a HelloRetryRequest
    size_t hello_retry_request;
    size_t server_flight;   // ServerHello to Finished; in TLS 1.2 to ServerHelloDone
    size_t client_flight;   // what the client sent behind its ClientHello to complete the handshake
    size_t server_finished; // TLS 1.2: ChangeCipherSpec and Finished, behind the client's
    size_t tickets;         // NewSessionTicket messages
    bool server_hello;      // one that is no HelloRetryRequest was seen
    // Where the streams are.
    bool retried, client_answered, server_cipher_changed;
    uint8_t head[TLC_RECORD_HEADER + 1];
    size_t head_bytes, left;
};

void tlc_wire_client(struct tlc_wire *wire, const uint8_t *bytes, size_t count);
void tlc_wire_server(struct tlc_wire *wire, const uint8_t *record, size_t count);
// The size of the record that begins at `bytes`, 0 when the header is not whole yet. False when it
// is no TLS record.
bool tlc_wire_record_size(const uint8_t *bytes, size_t count, size_t *size);
// Alert description of a plaintext fatal alert record; -1 when it is none.
int tlc_wire_alert(const uint8_t *record, size_t count);

#endif
