// One connection of a measuring client: TCP, TLS, and a request that is answered, with the time of
// each phase. Private to the room.
#ifndef TLC_CONNECT_VISIT_H
#define TLC_CONNECT_VISIT_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "evidence/wire.h"
#include "relay/namespace.h"
#include "stacks/loader.h"

enum tlc_phase {
    TLC_PHASE_TCP,          // the connection is established
    TLC_PHASE_SERVER_HELLO, // a ServerHello that is no HelloRetryRequest is here
    TLC_PHASE_FINISHED,     // the client's handshake is complete
    TLC_PHASE_FIRST_BYTE,   // of the answer to its request
    TLC_PHASES
};

// Where and how a client connects.
struct tlc_visit_target {
    struct sockaddr_in address;
    const struct tlc_namespace *namespace; // NULL: the process's own
    bool announced;                        // the relay tells when TCP would be established
    bool upgrade;                          // a request that changes the protocol comes first
    const struct tlc_stack *stack;
    struct tlc_stack_context *context;
    const uint8_t *session; // offered; NULL: a full handshake
    size_t session_bytes;
    // What must have been negotiated.
    uint16_t version;
    bool resumed, hello_retry_request;
};

enum tlc_visit_state {
    TLC_VISIT_CONNECTING,
    TLC_VISIT_WAITING, // for the relay's word
    TLC_VISIT_HANDSHAKING,
    TLC_VISIT_CHANGING,   // the protocol
    TLC_VISIT_REQUESTING, // waits for the first byte
    TLC_VISIT_DONE,
    TLC_VISIT_FAILED
};

struct tlc_visit {
    const struct tlc_visit_target *target;
    enum tlc_visit_state state;
    int fd;
    struct tlc_stack_connection *tls;
    uint64_t begun_ns;             // when it was due to begin: lateness counts
    uint64_t phase_ns[TLC_PHASES]; // since then
    struct tlc_wire wire;          // until the handshake was complete
    char failure[160];
    uint8_t in[TLC_RECORD_MAX], out[8192];
    size_t in_bytes, out_from, out_to;
    char head[1024]; // of the answer that changes the protocol
    size_t head_bytes;
};

// Begins a visit that was due at `due_ns`. The state is FAILED when it could not even begin.
void tlc_visit_begin(struct tlc_visit *visit, const struct tlc_visit_target *target,
                     uint64_t due_ns);
// The socket is ready, or just began: goes on until it must wait. Returns whether it is over.
bool tlc_visit_go_on(struct tlc_visit *visit);
void tlc_visit_fail(struct tlc_visit *visit, const char *reason);
// What was negotiated and how many bytes each flight had; NULL when memory runs out.
json_t *tlc_visit_evidence(const struct tlc_visit *visit);
// Resets the connection and frees what it holds.
void tlc_visit_end(struct tlc_visit *visit);

#endif
