// The life of one connection, whatever loop carries it: connect, ClientHello, the server's flight,
// Finished, the tickets and echo that were asked for, the end. Knows no sockets: the loop tells
// what happened, and the answer is what the connection asks of its loop next.
#ifndef TLC_GENERATOR_CONNECTION_H
#define TLC_GENERATOR_CONNECTION_H

#include "generator/engine.h"
#include "generator/generator.h"
#include "generator/tally.h"

enum tlc_ask {
    TLC_ASK_SEND,     // tlc_load_connection_output has bytes; then tlc_load_connection_sent
    TLC_ASK_RECEIVE,  // bytes of the server are awaited
    TLC_ASK_SHUTDOWN, // send a FIN, then tlc_load_connection_shut
    TLC_ASK_CLOSE     // over: end the socket (by reset unless tlc_load_connection_orderly), then
                      // tlc_load_connection_closed
};

// What all connections of a loop share.
struct tlc_life {
    enum tlc_close close;
    enum tlc_tls13_stop stop;
    unsigned tickets_expected, tickets_expected_resumed;
    const uint8_t *echo; // echo_bytes of application data
    size_t echo_bytes;
    size_t split_at, split_every;
    uint64_t timeout_ns;
    const struct tlc_expectation *expect;
    struct tlc_tally *tally;
};

enum tlc_phase {
    TLC_PHASE_IDLE,
    TLC_PHASE_CONNECT,   // the ClientHello has not been sent in full
    TLC_PHASE_HANDSHAKE, // the server's flight is awaited
    TLC_PHASE_FINISH,    // output finishes the handshake
    TLC_PHASE_SETTLE,    // tickets or echo are awaited
    TLC_PHASE_GOODBYE,   // close_notify is to be sent
    TLC_PHASE_LINGER,    // our FIN is sent, the server's is awaited
    TLC_PHASE_ALERT,     // failed, an alert is to be sent
    TLC_PHASE_OVER
};

struct tlc_load_connection {
    const struct tlc_life *life;
    struct tlc_session *session;
    struct tlc_times times;
    uint64_t deadline_ns;
    size_t hello_sent; // bytes of the ClientHello handed to the kernel
    enum tlc_phase phase;
    bool connected, orderly, stopped, failed;
    bool refused; // stopped by the server, as it was expected to
    unsigned tickets_counted;
    char failure[TLC_FAILURE_BYTES]; // its kind, when `failed` or `refused`
};

// `intended_ns` is when the handshake should have started: latencies count from there.
enum tlc_ask tlc_load_connection_begin(struct tlc_load_connection *connection, uint64_t intended_ns,
                                       uint64_t now_ns);
const uint8_t *tlc_load_connection_output(struct tlc_load_connection *connection, size_t *count);
// `count` bytes were handed to the kernel: the connection is established, too. `now_ns` 0: it is
// not known when.
enum tlc_ask tlc_load_connection_sent(struct tlc_load_connection *connection, size_t count,
                                      uint64_t now_ns);
enum tlc_ask tlc_load_connection_input(struct tlc_load_connection *connection, const uint8_t *bytes,
                                       size_t count, uint64_t now_ns);
enum tlc_ask tlc_load_connection_ended(struct tlc_load_connection *connection); // the server's FIN
enum tlc_ask tlc_load_connection_broke(struct tlc_load_connection *connection, int code); // errno
enum tlc_ask tlc_load_connection_expired(struct tlc_load_connection *connection);
enum tlc_ask tlc_load_connection_shut(struct tlc_load_connection *connection);
// Whether the server must speak once the pending output is sent: its answer may be awaited at once.
bool tlc_load_connection_waits_after_output(const struct tlc_load_connection *connection);
// The socket was ended: the outcome is counted, the connection is idle.
void tlc_load_connection_closed(struct tlc_load_connection *connection);

// A completed handshake, kept while the connection already serves the next one: it counts once the
// kernel has taken the bytes that finish it.
struct tlc_kept_handshake {
    struct tlc_facts facts;
    struct tlc_times times;
    char alpn[64];
    uint8_t certificate_sha256[32];
};
// Instead of tlc_load_connection_closed: the outcome is kept, the connection is idle. False when
// the connection had no handshake to keep; its outcome is then counted.
bool tlc_load_connection_keep(struct tlc_load_connection *connection,
                              struct tlc_kept_handshake *kept);

static inline bool tlc_load_connection_idle(const struct tlc_load_connection *connection)
{
    return connection->phase == TLC_PHASE_IDLE;
}
// Both sides sent their FIN: no reset is needed.
static inline bool tlc_load_connection_orderly(const struct tlc_load_connection *connection)
{
    return connection->orderly;
}

#endif
