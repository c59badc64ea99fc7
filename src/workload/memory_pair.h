// A client and a server of any stacks joined in one process: contexts made once, then one handshake
// after the other with the time of each side told apart; private to the room.
#ifndef TLC_WORKLOAD_MEMORY_PAIR_H
#define TLC_WORKLOAD_MEMORY_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "evidence/wire.h"
#include "plan/plan.h"
#include "stacks/loader.h"

// Bytes that one side has sent and the other has not taken in yet.
struct tlc_memory_bytes {
    uint8_t *bytes;
    size_t count, capacity;
};

// A ClientHello, to be replayed, and the size of what the server answered to it at first.
struct tlc_memory_recording {
    uint8_t *hello;
    size_t hello_bytes, flight_bytes;
};

struct tlc_memory_side {
    const char *name; // "client", "server"
    const struct tlc_stack_plugin *plugin;
    const struct tlc_stack *stack;
    struct tlc_stack_context *context;
    struct tlc_stack_connection *connection; // of the handshake under way
    bool done;
    struct tlc_memory_bytes out;
};

struct tlc_memory_pair {
    const struct tlc_arm *arm;
    struct tlc_memory_side client, server;
    uint8_t *session; // the newest that a client received and has not used up
    size_t session_bytes, session_capacity;
    struct tlc_wire *wire;                  // counts the bytes of a handshake; NULL: nobody asks
    struct tlc_memory_recording *recording; // takes the first bytes of each side; NULL: the same
};

// Wall time of one handshake. Reading the thread's CPU clock at each change of sides is a system
// call, which can cost more than the step it measures; the monotonic clock is read without one.
// The slice as a whole is measured in CPU time (memory_slice.h).
struct tlc_memory_times {
    uint64_t client_ns, server_ns;
    unsigned client_reads, server_reads; // readings of the clock inside these times
};

struct tlc_memory_outcome {
    struct tlc_stack_evidence seen; // by the server
    bool resumed_by_client;         // a session was offered
    size_t tickets;                 // that the client received
    char failure[256];              // why it failed; empty: it did not
};

// Contexts for both sides with the arm's settings; certificates from `folder`, which
// tlc_arm_certificates has filled. The arm is borrowed.
enum tlc_status tlc_memory_pair_open(const struct tlc_arm *arm, const char *folder,
                                     struct tlc_memory_pair *pair,
                                     struct tlc_error *error) TLC_CHECKED;
void tlc_memory_pair_close(struct tlc_memory_pair *pair);

// A handshake to its end, tickets taken in. With `resume` it offers the session at hand, and is a
// full one when there is none. Afterwards both connections are still open. False: it failed, and
// the outcome says why.
bool tlc_memory_handshake(struct tlc_memory_pair *pair, bool resume, struct tlc_memory_times *times,
                          struct tlc_memory_outcome *outcome);
// The server alone, to its first flight, by a recorded ClientHello; the connection is ended. False
// with `failure` when it does not answer as it did when it was recorded.
bool tlc_memory_replay(struct tlc_memory_pair *pair, const struct tlc_memory_recording *recording,
                       struct tlc_memory_times *times, char *failure, size_t bytes);
// Ends both connections.
void tlc_memory_end(struct tlc_memory_pair *pair, struct tlc_memory_times *times);

// Steps for those who drive one side alone. Each returns false with `failure` set.
bool tlc_memory_client_open(struct tlc_memory_pair *pair, bool resume, char *failure, size_t bytes);
bool tlc_memory_server_open(struct tlc_memory_pair *pair, char *failure, size_t bytes);
// Feeds what the other side has sent, advances, and takes what this side sends.
bool tlc_memory_turn(struct tlc_memory_pair *pair, struct tlc_memory_side *side,
                     struct tlc_memory_bytes *in, char *failure, size_t bytes);
void tlc_memory_side_end(struct tlc_memory_side *side);

#endif
