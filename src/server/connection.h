// The life of one connection: handshake, echo (or HTTP), close. Belongs to one worker.
// It is private to the room.
#ifndef TLC_SERVER_CONNECTION_H
#define TLC_SERVER_CONNECTION_H

#include "server/worker.h"

#define TLC_BUFFER_BYTES 16384 // the most plaintext one TLS record holds (RFC 8446, 5.1)

struct tlc_connection {
    struct tlc_link link; // first: links are cast back
    struct tlc_stack_connection *tls;
    struct tlc_connection *next; // in the worker's `again` list or pool
    uint64_t deadline_ms;        // of the handshake
    int fd;
    uint32_t watched; // events asked of epoll; 0: not in the set yet
    bool established, queued, stalled;
    bool http, last_answer;       // HTTP: the connection ends once the answer is out
    uint8_t *buffer;              // lent by the worker while data is under way
    size_t used;                  // HTTP: bytes of an unfinished request
    const uint8_t *out, *out_end; // to be written; the echo's lie in `buffer`
};

// Takes over a socket just accepted and starts the handshake.
void tlc_connection_begin(struct tlc_worker *worker, int fd);
void tlc_connection_event(struct tlc_worker *worker, struct tlc_connection *connection,
                          uint32_t events);
// Drives connections that still had bytes at hand when their turn ended.
void tlc_connection_run_again(struct tlc_worker *worker);
// Ends handshakes whose time is over.
void tlc_connection_expire(struct tlc_worker *worker);
// Ends all connections: established ones with close_notify, handshakes as failed.
void tlc_connection_end_all(struct tlc_worker *worker);
// Frees the pools; no connection may be open.
void tlc_connection_pools_free(struct tlc_worker *worker);

#endif
